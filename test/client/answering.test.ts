// A client answers the questions of its server with the handlers of its user, the same on every revision.
import {
  type ClientEvent,
  chooseModel,
  connect,
  type ConnectOptions,
  type FormQuestion,
  InputDeclined,
  InvalidResponse,
  type QuestionContext,
  type UrlQuestion,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { openPut, putTo, revisionsSince } from "../support/putting.ts";
import { metaKeys, modernDates, newestModern } from "../support/revisions.ts";
import { said, ScriptedServer } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

const tasksId = "io.modelcontextprotocol/tasks";
const accept = { action: "accept" } as const;
const answer = { role: "assistant", content: { type: "text", text: "42" }, model: "m" } as const;
const roots = [{ uri: "file:///work", name: "Work" }];

const isModern = (revision: string): boolean => modernDates.includes(revision);
const hasModes = (revision: string): boolean => revision >= "2025-11-25";

/** What a client declares: in `initialize`, or in every request. */
async function declaredBy(revision: string, options: ConnectOptions): Promise<unknown[]> {
  const { server, client } = await openPut(revision, options);
  server.on("tools/call", () => said("ok"));
  await client.callTool("one");
  await client.callTool("two");
  const params = server.received.flatMap((sent) =>
    sent.id !== undefined && sent.params ? [sent.params] : [],
  );
  if (!isModern(revision)) return [params[0]?.["capabilities"]];
  return params.map((one) => (one["_meta"] as Record<string, unknown>)[metaKeys.clientCapabilities]);
}

describe.each(revisionsSince())("a client on %s", (revision) => {
  const extensions = isModern(revision) ? { extensions: { [tasksId]: {} } } : {};
  const hasForms = revision >= "2025-06-18";

  test("declares nothing without handlers [TASKX-DECLARE, TASK25-CAP, INIT-CAPS-TASKS-ONLY, INIT-CAPS-EXTENSIONS-NOT-LEGACY]", async () => {
    for (const declared of await declaredBy(revision, {})) expect(declared).toEqual({});
    for (const declared of await declaredBy(revision, { tasks: true })) expect(declared).toEqual(extensions);
  });

  test("declares what it has handlers for [ELIC-CAP-LEGACY, ELIC-CAP-MODERN, ELIC-CAP-ONE-MODE, SAMP-CAP-LEGACY, SAMP-CAP-MODERN, ROOTS-CAP-LEGACY, ROOTS-CAP-MODERN, INIT-CAPS-ELICITATION-SINCE]", async () => {
    const handlers = { onElicit: () => accept, onSample: () => answer, roots, tasks: true };
    const all = await declaredBy(revision, handlers);
    expect(all.length).toBeGreaterThan(isModern(revision) ? 1 : 0);
    for (const declared of all)
      expect(declared).toEqual({
        ...(hasForms && { elicitation: hasModes(revision) ? { form: {}, url: {} } : {} }),
        sampling: {},
        roots: isModern(revision) ? {} : { listChanged: true },
        ...extensions,
      });
  });

  test("declares only the modes, tools and context that it handles [ELIC-CAP-ONE-MODE, SAMP-TOOLS-CAP]", async () => {
    const url = () => accept;
    const onSample = { answer: () => answer, tools: true, context: true };
    const capabilities = { experimental: { mine: {} }, extensions: { "com.example/more": { a: 1 } } };
    const [declared] = await declaredBy(revision, { onElicit: { url }, onSample, tasks: true, capabilities });
    expect(declared).toEqual({
      ...(hasModes(revision) && { elicitation: { url: {} } }),
      sampling: hasModes(revision) ? { tools: {}, context: {} } : {},
      experimental: { mine: {} },
      extensions: { ...extensions.extensions, "com.example/more": { a: 1 } },
    });
  });

  test("refuses questions that it has no handler for [ROOTS-ERR, INIT-RESPECT-CAPS]", async () => {
    const { put } = await openPut(revision, {});
    for (const method of ["roots/list", "sampling/createMessage", "elicitation/create", "no/such"]) {
      const outcome = await put({ method, params: {} });
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(InvalidResponse) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32601 } });
      expect(outcome).toMatchObject({ error: { message: expect.stringContaining(method) as unknown } });
    }
  });

  test("hides from a legacy server what a handler threw, and rejects a modern call with it", async () => {
    const events: ClientEvent[] = [];
    const thrown = new Error("secret path /home/ada");
    const onSample = (): never => {
      throw thrown;
    };
    const question = sampling();
    const options = { onSample, observe: (event: ClientEvent) => void events.push(event) };
    const outcome = await putTo(revision, options, question);
    if (isModern(revision)) expect(outcome).toEqual({ error: thrown });
    else expect(outcome).toMatchObject({ error: { code: -32603 } });
    if (!isModern(revision)) expect(JSON.stringify(outcome)).not.toContain("secret");
    const { method } = question;
    expect(events).toContainEqual(
      expect.objectContaining({ type: "question", method, outcome: "error", error: thrown }),
    );
  });

  test("asks the model, and returns its answer [SAMP-MAXTOKENS, SAMP-MSG-ROLE, DEPR-STILL-WORK]", async () => {
    const onSample = vi.fn(() => answer);
    const question = sampling({ maxTokens: 7, systemPrompt: "Be brief", temperature: 0.1 });
    expect(await putTo(revision, { onSample }, question)).toMatchObject({ result: answer });
    expect(onSample).toHaveBeenCalledWith(
      expect.objectContaining({ ...question.params }),
      expect.objectContaining({ signal: expect.any(AbortSignal) as unknown }),
    );
  });

  test("reports a user who rejects sampling [SAMP-ERR-REJECTED]", async () => {
    const declined = new InputDeclined("Sampling");
    const onSample = () => Promise.reject(declined);
    const outcome = await putTo(revision, { onSample }, sampling());
    if (isModern(revision)) expect(outcome).toEqual({ error: declined });
    else expect(outcome).toMatchObject({ error: { code: -1 } });
  });

  test("does not pass on a wish for context unless it handles that", async () => {
    const onSample = vi.fn((_question: unknown) => answer);
    const question = sampling({ includeContext: "allServers" });
    await putTo(revision, { onSample }, question);
    await putTo(revision, { onSample: { answer: onSample, context: true } }, question);
    const seen = onSample.mock.calls.map(([one]) => (one as { includeContext?: string }).includeContext);
    expect(seen).toEqual([undefined, "allServers"]);
  });

  test("refuses sampling that is malformed, or uses tools that it did not declare [SAMP-TOOLS-CLIENT-ERROR, SAMP-MSG-ROLE]", async () => {
    const onSample = vi.fn(() => answer);
    const { put } = await openPut(revision, { onSample });
    const wrong = [
      sampling({ tools: [tool("add")] }),
      sampling({ toolChoice: { mode: "auto" } }),
      sampling({ maxTokens: "many" }),
      sampling({ messages: "hello" }),
      sampling({ messages: [{ role: "system", content: { type: "text", text: "x" } }] }),
    ];
    for (const question of wrong) {
      const outcome = await put(question);
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(InvalidResponse) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32602 } });
    }
    expect(onSample).not.toHaveBeenCalled();
  });

  test("does not send an answer of the model that the revision cannot carry", async () => {
    const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
    const wrong = [
      { ...answer, role: "system" },
      { ...answer, model: undefined },
      { ...answer, content: [] },
      { ...answer, content: [{ type: "tool_use", id: "1", name: "rm", input: {} }] },
      ...(revision < "2025-03-26" ? [{ ...answer, content: audio }] : []),
      ...(hasModes(revision) ? [] : [{ ...answer, content: [answer.content, answer.content] }]),
    ];
    for (const given of wrong) {
      const outcome = await putTo(revision, { onSample: () => given as never }, sampling());
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(TypeError) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32603 } });
    }
  });

  test("returns its roots, given as a list or by a function [ROOTS-URI-FILE, DEPR-STILL-WORK]", async () => {
    const question = { method: "roots/list" };
    expect(await putTo(revision, { roots }, question)).toMatchObject({ result: { roots } });
    expect(await putTo(revision, { roots: async () => roots }, question)).toMatchObject({
      result: { roots },
    });
  });

  test("never sends a root that is no absolute file URI, or leads upwards [ROOTS-URI-FILE, ROOTS-SEC-CLIENT]", async () => {
    for (const uri of ["https://example.com/", "/home", "file:///home/../etc", "file:///home/%2E%2e/etc"]) {
      await expect(connect(new ScriptedServer(), { roots: [{ uri }] })).rejects.toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining(uri) as unknown,
      });
      const outcome = await putTo(revision, { roots: () => [{ uri }] }, { method: "roots/list" });
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(TypeError) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32603 } });
    }
  });

  test("rootsChanged tells a legacy server, and no modern one [ROOTS-LISTCHANGED, ROOTS-LISTCHANGED-REMOVED]", async () => {
    const { client, server } = await openPut(revision, { roots });
    server.on("tools/call", () => said("ok"));
    await client.rootsChanged();
    await client.callTool("any");
    expect(server.of("notifications/roots/list_changed")).toHaveLength(isModern(revision) ? 0 : 1);
  });

  test.runIf(!isModern(revision))("answers at most maxQuestions at once", async () => {
    const gate = deferred();
    const onSample = async () => (await gate.promise, answer);
    const { put } = await openPut(revision, { onSample, limits: { maxQuestions: 2 } });
    const first = [put(sampling()), put(sampling())];
    expect(await put(sampling())).toMatchObject({
      error: { code: -32603, message: expect.stringContaining("2 questions") as unknown },
    });
    gate.resolve();
    for (const one of first) expect(await one).toMatchObject({ result: answer });
    expect(await put(sampling())).toMatchObject({ result: answer });
  });

  test("the time of a handler does not count as silence of the server", async () => {
    const asked = deferred();
    const gate = deferred();
    const onSample = async () => (asked.resolve(), await gate.promise, answer);
    const { server, client } = await openPut(revision, { onSample, timeoutMs: 1000 });
    server.on("tools/call", async ({ params }, end) => {
      if (isModern(revision) && params?.["inputResponses"] === undefined)
        return { resultType: "input_required", inputRequests: { q: sampling() } };
      if (!isModern(revision)) end.send({ jsonrpc: "2.0", id: "q", ...sampling() });
      while (!isModern(revision) && !server.received.some(({ id }) => id === "q")) await nextTurn();
      return said("42");
    });
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("ask");
    await asked.promise;
    vi.advanceTimersByTime(600_000);
    gate.resolve();
    expect((await call).content).toEqual([{ type: "text", text: "42" }]);
  });
});

describe.each(revisionsSince("2025-06-18"))("a form on %s", (revision) => {
  const full = hasModes(revision);
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", default: "Ada", minLength: 2, maxLength: 5 },
      age: { type: "integer", default: 36, minimum: 0, maximum: 150 },
      height: { type: "number", default: 1.6, minimum: 0.5 },
      isMember: { type: "boolean", default: true },
      colour: { type: "string", enum: ["red", "green"], enumNames: ["Red", "Green"], default: "green" },
      size: {
        type: "string",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
      },
      days: {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: { type: "string", enum: ["mon", "tue", "wed"] },
      },
      tags: {
        type: "array",
        items: {
          anyOf: [
            { const: "a", title: "A" },
            { const: "b", title: "B" },
          ],
        },
      },
      mail: { type: "string", format: "email" },
      page: { type: "string", format: "uri" },
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time" },
    },
    required: ["name"],
  };
  const form = { method: "elicitation/create", params: { message: "Who are you?", requestedSchema: schema } };
  const fill = (content?: object): ConnectOptions => ({
    onElicit: { form: () => ({ ...accept, ...(content && { content }) }) as never },
  });

  test("is a form without saying so, and the handler learns who asks [ELIC-MODE-DEFAULT]", async () => {
    const seen: [FormQuestion, QuestionContext][] = [];
    const onElicit = {
      form: (question: FormQuestion, context: QuestionContext) => (seen.push([question, context]), accept),
    };
    const { client, put } = await openPut(revision, { onElicit });
    await put(form);
    expect(seen).toEqual([
      [
        { mode: "form", message: "Who are you?", requestedSchema: schema, params: form.params },
        { signal: expect.any(AbortSignal) as unknown, server: expect.any(String) as unknown },
      ],
    ]);
    expect(client.state.name).toBe("ready");
  });

  test("gets the defaults of its schema for what is not filled in [ELIC-FORM-DEFAULTS]", async () => {
    const defaults = { name: "Ada", age: 36, height: 1.6, isMember: true, colour: "green" };
    expect(await putTo(revision, fill(), form)).toMatchObject({
      result: { action: "accept", content: defaults },
    });
    const content = { name: "Bob", isMember: false, size: "l" };
    expect(await putTo(revision, fill(content), form)).toMatchObject({
      result: { action: "accept", content: { ...defaults, ...content } },
    });
  });

  test("decline and cancel carry no content [ELIC-ACTIONS, ELIC-FORM-ACCEPT-CONTENT]", async () => {
    for (const action of ["decline", "cancel"] as const) {
      const onElicit = () => ({ action, content: { name: "Ada" } }) as never;
      const outcome = await putTo(revision, { onElicit }, form);
      expect(outcome).toMatchObject({ result: { action } });
      expect(outcome).not.toHaveProperty("result.content");
    }
  });

  test.each([
    { size: "s", days: ["mon", "tue"], tags: ["a"], mail: "a@b.example", page: "https://a.example/" },
    { day: "2026-02-28", at: "2026-02-28T10:00:00Z", colour: "red", age: 0, height: 0.5, name: "Jörg" },
    { name: "👋👋👋👋👋", beyond: "the schema" },
  ])(
    "accepts content that matches, such as %o [ELIC-FORM-ENUM-LEGACY, ELIC-FORM-ENUM-NEW, ELIC-FORM-STRING-FORMATS]",
    async (content) => {
      expect(await putTo(revision, fill(content), form)).toMatchObject({
        result: { action: "accept", content },
      });
    },
  );

  test.each([
    [{ name: "A" }, "name must have 2 to 5 characters"],
    [{ name: 5 }, "name must be a text"],
    [{ name: { first: "Ada" } }, "name must be a plain value"],
    [{ age: 1.5 }, "age must be an integer"],
    [{ age: 151 }, "age must be 0 to 150"],
    [{ height: "tall" }, "height must be a number"],
    [{ height: 0.1 }, "height must be at least 0.5"],
    [{ isMember: "yes" }, "isMember must be true or false"],
    [{ colour: "blue" }, "colour must be one of red, green"],
    [{ size: "Small" }, "size must be one of s, l"],
    [{ days: "mon" }, "days must be a list"],
    [{ days: [] }, "days must have 1 to 2 items"],
    [{ days: ["sun"] }, "days must have items of mon, tue, wed"],
    [{ tags: ["c"] }, "tags must have items of a, b"],
    [{ mail: "ada" }, "mail must be of the format email"],
    [{ page: "a page" }, "page must be of the format uri"],
    [{ day: "2026-13-01" }, "day must be of the format date"],
    [{ at: "noon" }, "at must be of the format date-time"],
    [{ beyond: { nested: true } }, "beyond must be a plain value"],
  ])(
    "does not send content that does not match, such as %o [ELIC-FORM-ACCEPT-CONTENT, ELIC-FORM-VALIDATE-CLIENT, ELIC-FORM-ENUM-LEGACY, ELIC-FORM-ENUM-NEW, ELIC-FORM-STRING-FORMATS]",
    async (content, problem) => {
      const events: ClientEvent[] = [];
      const observe = (event: ClientEvent): void => void events.push(event);
      const outcome = await putTo(revision, { ...fill(content), observe }, form);
      if (isModern(revision))
        expect(outcome).toMatchObject({ error: { message: expect.stringContaining(problem) as unknown } });
      else expect(outcome).toMatchObject({ error: { code: -32603 } });
      const message = expect.stringContaining(problem) as unknown;
      expect(events).toContainEqual(
        expect.objectContaining({ type: "question", error: expect.objectContaining({ message }) as unknown }),
      );
    },
  );

  test("demands what is required, also if every object inherits a member of that name", async () => {
    const properties = { toString: { type: "string" }, constructor: { type: "string", default: "x" } };
    const requestedSchema = { type: "object", properties, required: ["toString"] };
    const question = { method: "elicitation/create", params: { message: "?", requestedSchema } };
    expect(await putTo(revision, fill({}), question)).toHaveProperty("error");
    expect(await putTo(revision, fill({ toString: "y" }), question)).toMatchObject({
      result: { content: { toString: "y", constructor: "x" } },
    });
  });

  test("refuses forms that are none, without asking", async () => {
    const onElicit = vi.fn(() => accept);
    const { put } = await openPut(revision, { onElicit });
    const wrong = [
      { requestedSchema: schema },
      { message: "?" },
      { message: "?", requestedSchema: { type: "object" } },
      { message: "?", requestedSchema: { type: "object", properties: { a: 5 } } },
    ];
    for (const params of wrong) {
      const outcome = await put({ method: "elicitation/create", params });
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(InvalidResponse) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32602 } });
    }
    expect(onElicit).not.toHaveBeenCalled();
  });

  const oneType = "requestedSchema.properties.a.type must be one of string, number, integer, boolean, array";
  const texts = "must be a list of texts";
  const titled = "must be a list of choices with const and title, which are texts";

  test.each([
    [{}, oneType + ", not undefined"],
    [{ type: "object", properties: {} }, oneType + ', not "object"'],
    [{ type: ["string", "null"] }, oneType + ', not ["string","null"]'],
    [{ type: "toString" }, oneType + ', not "toString"'],
    [{ type: "string", title: { a: 1 } }, "requestedSchema.properties.a.title must be a text"],
    [{ type: "string", default: null }, "requestedSchema.properties.a.default must be a text, not null"],
    [{ type: "string", enum: "red" }, `requestedSchema.properties.a.enum ${texts}, not "red"`],
    [
      { type: "string", oneOf: [{ const: 1 }] },
      `requestedSchema.properties.a.oneOf ${titled}, not [an object]`,
    ],
    [{ type: "number", minimum: "1" }, 'requestedSchema.properties.a.minimum must be a number, not "1"'],
    [
      { type: "boolean", default: "yes" },
      'requestedSchema.properties.a.default must be true or false, not "yes"',
    ],
    [{ type: "array" }, "requestedSchema.properties.a.items must be an object with texts to choose from"],
    [{ type: "array", items: { type: "number" } }, "requestedSchema.properties.a.items must be an object"],
  ])("with the field %o is refused, so that a handler can trust the types", async (field, problem) => {
    const onElicit = vi.fn(() => accept);
    const { put } = await openPut(revision, { onElicit });
    const requestedSchema = { type: "object", properties: { a: field } };
    const outcome = await put({ method: "elicitation/create", params: { message: "?", requestedSchema } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining(problem) as unknown } });
    expect(onElicit).not.toHaveBeenCalled();
  });

  test.each([
    { type: "array", properties: {} },
    { type: "object", properties: {}, required: "a" },
    { type: "object", properties: {}, required: [1] },
  ])("that is %o is refused", async (requestedSchema) => {
    const onElicit = vi.fn(() => accept);
    const { put } = await openPut(revision, { onElicit });
    const outcome = await put({ method: "elicitation/create", params: { message: "?", requestedSchema } });
    expect(outcome).toHaveProperty("error");
    expect(onElicit).not.toHaveBeenCalled();
  });

  test("has the type of choices whose server left it out", async () => {
    const seen: FormQuestion["requestedSchema"][] = [];
    const keep = ({ requestedSchema }: FormQuestion) => (seen.push(requestedSchema), accept);
    const { put } = await openPut(revision, { onElicit: { form: keep } });
    const properties = { a: { enum: ["x"] }, b: { anyOf: [{ const: "y" }] } };
    await put({ method: "elicitation/create", params: { message: "?", requestedSchema: { properties } } });
    expect(seen).toEqual([
      {
        type: "object",
        properties: { a: { type: "string", enum: ["x"] }, b: { type: "string", oneOf: [{ const: "y" }] } },
      },
    ]);
  });

  test("an answer without an action is a mistake of the handler [ELIC-ACTIONS]", async () => {
    for (const given of [undefined, {}, { action: "maybe" }, { action: "accept", content: "x" }]) {
      const outcome = await putTo(revision, { onElicit: () => given as never }, form);
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(TypeError) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32603 } });
    }
  });

  test("in a mode that the client did not declare is refused [ELIC-MODE-UNDECLARED-ERR]", async () => {
    const page = { mode: "url", message: "Visit", url: "https://a.example/", elicitationId: "1" };
    const only = full ? { url: () => accept } : () => accept;
    const wrong = full ? form.params : page;
    for (const params of [wrong, { ...page, mode: "hologram" }]) {
      const outcome = await putTo(revision, { onElicit: only }, { method: "elicitation/create", params });
      if (isModern(revision)) expect(outcome).toEqual({ error: expect.any(InvalidResponse) as unknown });
      else expect(outcome).toMatchObject({ error: { code: -32602 } });
    }
  });
});

describe.each(revisionsSince("2025-11-25"))("on %s", (revision) => {
  test("a page goes to the handler whole, and is neither opened nor fetched [ELIC-URL-NO-PREFETCH, ELIC-URL-NO-AUTO-OPEN]", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    onTestFinished(() => fetched.mockRestore());
    const url = "https://xn--pple-43d.example:8443/connect?state=a%20b#part";
    const params = {
      mode: "url",
      message: "Connect",
      url,
      ...(!isModern(revision) && { elicitationId: "e1" }),
    };
    const seen: UrlQuestion[] = [];
    const onElicit = { url: (question: UrlQuestion) => (seen.push(question), accept) };
    await putTo(revision, { onElicit }, { method: "elicitation/create", params });
    const elicitationId = isModern(revision) ? undefined : "e1";
    expect(seen).toEqual([{ mode: "url", message: "Connect", url, elicitationId, params }]);
    expect(fetched).not.toHaveBeenCalled();
  });

  test("accepting a page carries no content [ELIC-URL-ACCEPT]", async () => {
    const params = { mode: "url", message: "Connect", url: "https://a.example/", elicitationId: "e1" };
    const onElicit = () => ({ ...accept, content: { token: "x" } });
    const outcome = await putTo(revision, { onElicit }, { method: "elicitation/create", params });
    expect(outcome).toMatchObject({ result: { action: "accept" } });
    expect(outcome).not.toHaveProperty("result.content");
  });

  test("a page without a URL is refused", async () => {
    const onElicit = vi.fn(() => accept);
    const params = { mode: "url", message: "Connect", url: "connect me", elicitationId: "e1" };
    expect(await putTo(revision, { onElicit }, { method: "elicitation/create", params })).toHaveProperty(
      "error",
    );
    expect(onElicit).not.toHaveBeenCalled();
  });

  const use = { type: "tool_use", id: "u1", name: "add", input: {} } as const;
  const result = { type: "tool_result", toolUseId: "u1", content: [] };
  const text = { type: "text", text: "?" };

  test.each([
    [{ mode: "required" }, answer, false],
    [{ mode: "required" }, { ...answer, content: [use] }, true],
    [{ mode: "none" }, { ...answer, content: [use] }, false],
    [{ mode: "none" }, answer, true],
    [{ mode: "auto" }, { ...answer, content: [use] }, true],
    [undefined, { ...answer, content: use }, true],
    [undefined, { ...answer, content: { ...use, name: "other" } }, false],
  ])("toolChoice %o decides about the answer %o [SAMP-TOOLCHOICE]", async (toolChoice, given, isSent) => {
    const question = sampling({ tools: [tool("add")], ...(toolChoice && { toolChoice }) });
    const onSample = { answer: () => given as never, tools: true };
    const outcome = await putTo(revision, { onSample }, question);
    expect(outcome).toHaveProperty(isSent ? "result" : "error");
    if (isSent) expect(outcome).toMatchObject({ result: given });
  });

  test.each([
    ["results that follow their uses", [user(text), assistant(use), user(result)], true],
    ["a use without its result", [user(text), assistant(use)], false],
    ["a use that something else follows", [assistant(use), user(text), user(result)], false],
    ["a result beside other content", [assistant(use), user(result, text)], false],
    ["a result of another use", [assistant(use), user({ ...result, toolUseId: "u2" })], false],
    ["a result without a use", [user(result)], false],
  ])(
    "checks %s [SAMP-ERR-TOOLRESULTS, SAMP-TOOL-BALANCE, SAMP-TOOLRESULT-ONLY]",
    async (_, messages, isAsked) => {
      const asked = vi.fn(() => answer);
      const question = sampling({ tools: [tool("add")], messages });
      const outcome = await putTo(revision, { onSample: { answer: asked, tools: true } }, question);
      expect(asked).toHaveBeenCalledTimes(Number(isAsked));
      if (!isAsked && !isModern(revision)) expect(outcome).toMatchObject({ error: { code: -32602 } });
    },
  );
});

test("a legacy server that no longer wants an answer aborts the handler, and gets none [CANCEL-RECEIVER]", async () => {
  for (const revision of revisionsSince().filter((date) => !isModern(date))) {
    const context = deferred<QuestionContext>();
    const onSample = (_: unknown, given: QuestionContext) => (
      context.resolve(given),
      new Promise<never>(() => {})
    );
    const { server, put } = await openPut(revision, { onSample: onSample as never });
    server.end.send({ jsonrpc: "2.0", id: "q", ...sampling() });
    const { signal } = await context.promise;
    server.end.notify("notifications/cancelled", { requestId: "q" });
    await until(() => signal.aborted);
    await put({ method: "ping" });
    expect(server.received.filter(({ id }) => id === "q")).toEqual([]);
  }
});

test("the answer to a question of a task says so, and the question is no task itself [TASK25-RELATED-META, TASK25-NOCAP-IGNORE]", async () => {
  const key = "io.modelcontextprotocol/related-task";
  const question = sampling({ _meta: { [key]: { taskId: "t1" } }, task: { ttl: 1000 } });
  expect(await putTo("2025-11-25", { onSample: () => answer }, question)).toMatchObject({
    result: { ...answer, _meta: { [key]: { taskId: "t1" } } },
  });
});

test("a modern server that sends a request gets no answer [BASE-CLIENT-NO-RESPONSES]", async () => {
  const { server, client } = await openPut(newestModern, { onSample: () => answer });
  server.on("tools/call", () => said("ok"));
  server.end.send({ jsonrpc: "2.0", id: "q", ...sampling() });
  await client.callTool("any");
  expect(server.received.filter(({ id }) => id === "q")).toEqual([]);
});

test.each([
  [[{ name: "tiny" }, { name: "sonnet" }, { name: "large" }], "sonnet-4"],
  [[{ name: "4" }], "large-4"],
  [[{}, { name: "" }, { name: "small" }], "small-4"],
  [[{ name: "Large" }], undefined],
  [undefined, undefined],
  ["large" as never, undefined],
  [[null as never, { name: 5 as never }], undefined],
])(
  "chooseModel takes the first of the hints %o that is part of a name [SAMP-HINTS-ORDER]",
  (hints, chosen) => {
    const models = ["large-4", "sonnet-4", "small-4"];
    expect(chooseModel(models, hints && { hints })).toBe(chosen);
    expect(chooseModel(models, undefined)).toBeUndefined();
  },
);

function sampling(params: object = {}): { method: string; params: object } {
  const messages = [{ role: "user", content: { type: "text", text: "How much?" } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens: 100, ...params } };
}

function tool(name: string): object {
  return { name, inputSchema: { type: "object" } };
}

function user(...content: readonly object[]): object {
  return { role: "user", content };
}

function assistant(...content: readonly object[]): object {
  return { role: "assistant", content };
}
