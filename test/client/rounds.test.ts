// Rounds of questions: the client answers them and sends its request again. And the error of 2025-11-25 that requires pages.
import { McpServer, UrlElicitationRequired } from "halyard";
import {
  connect,
  type ConnectOptions,
  InputCancelled,
  InputDeclined,
  InvalidResponse,
  type McpClient,
  type QuestionContext,
  RpcRejection,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { holdClocks } from "../support/clock.ts";
import { revisionsSince } from "../support/putting.ts";
import { Refuse, said, ScriptedServer, type Sent } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

const accept = { action: "accept" } as const;
const answer = { role: "assistant", content: { type: "text", text: "42" }, model: "m" } as const;
const form = {
  method: "elicitation/create",
  params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } },
};
const sampling = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 },
};
const rootsList = { method: "roots/list" };

async function start(
  options: ConnectOptions = {},
): Promise<{ readonly client: McpClient; readonly server: ScriptedServer }> {
  const server = new ScriptedServer({ capabilities: { tools: {}, prompts: {}, resources: {} } });
  const client = await connect(server, { onElicit: () => accept, onSample: () => answer, ...options });
  onTestFinished(() => client.close());
  return { client, server };
}

/** Asks this in the first rounds, one after the other, and then responds with `last`. */
function rounds(server: ScriptedServer, method: string, asked: readonly object[], last: object): void {
  let round = 0;
  server.on(method, () => {
    const result = asked[round++];
    return result ? { resultType: "input_required", ...result } : last;
  });
}

function withoutMeta({ params }: Sent): object {
  const { _meta, ...rest } = params ?? {};
  return rest;
}

describe("a modern client", () => {
  test("answers all questions at once, and repeats the request with the answers under their keys [MRTR-CLIENT-FULFIL, MRTR-CLIENT-RETRY-PARAMS, MRTR-CLIENT-NEW-ID, BASE-SUPPORT-CORE-MODERN]", async () => {
    const both = [deferred(), deferred()];
    const meet = async (mine: number): Promise<void> => {
      both[mine]?.resolve();
      await Promise.all(both.map(({ promise }) => promise));
    };
    const { server, client } = await start({
      onElicit: async () => (await meet(0), { ...accept, content: { ok: true } }),
      onSample: async () => (await meet(1), answer),
      roots: [{ uri: "file:///work" }],
    });
    const inputRequests = { "a key": form, __proto__x: sampling, "": rootsList };
    rounds(server, "tools/call", [{ inputRequests, requestState: "s" }], said("done"));
    const { content } = await client.callTool("book", { seat: "4A" });
    expect(content).toEqual([{ type: "text", text: "done" }]);
    const [first, second] = server.of("tools/call");
    expect(withoutMeta(second as Sent)).toEqual({
      ...withoutMeta(first as Sent),
      inputResponses: {
        "a key": { action: "accept", content: { ok: true } },
        __proto__x: answer,
        "": { roots: [{ uri: "file:///work" }] },
      },
      requestState: "s",
    });
    expect(second?.id).not.toBe(first?.id);
  });

  test.each([
    ["prompts/get", { messages: [] }, (client: McpClient) => client.getPrompt("p", { a: "b" })],
    ["resources/read", { contents: [] }, (client: McpClient) => client.readResource("note:///a")],
    ["tools/call", { content: [] }, (client: McpClient) => client.callTool("t", { a: 1 })],
  ])("answers questions to %s [MRTR-CLIENT-RETRY-PARAMS]", async (method, last, call) => {
    const { server, client } = await start();
    rounds(server, method, [{ inputRequests: { q: form } }], { ...last, ttlMs: 0, cacheScope: "private" });
    expect(await call(client)).toMatchObject(last);
    const [first, second] = server.of(method).map(withoutMeta);
    expect(second).toEqual({ ...first, inputResponses: { q: { action: "accept", content: {} } } });
  });

  test("echoes the state byte for byte, and only that of the latest round [MRTR-CLIENT-STATE-ECHO, MRTR-CLIENT-STATE-OPAQUE, MRTR-CLIENT-STATE-ABSENT, BASE-STATELESS-EXPLICIT-ID]", async () => {
    const { server, client } = await start();
    const states = ['{"a": 1,  "b":"\\u00e9"}', " \u2028\ud83d\udc4b\ttrailing ", "", "=?base64?x?="];
    const asked: object[] = states.map((requestState) => ({ inputRequests: { q: form }, requestState }));
    asked.push({ inputRequests: { q: form } }, { inputRequests: { q: form }, requestState: "last" });
    rounds(server, "tools/call", asked, said("done"));
    await client.callTool("book");
    const echoed = server.of("tools/call").map(({ params }) => params?.["requestState"]);
    expect(echoed).toEqual([undefined, ...states, undefined, "last"]);
    const hasState = server.of("tools/call").map(({ params }) => "requestState" in (params ?? {}));
    expect(hasState).toEqual([false, true, true, true, true, false, true]);
  });

  test("keeps the rounds of parallel calls apart [MRTR-CLIENT-ISOLATION]", async () => {
    const { server, client } = await start();
    server.on("tools/call", ({ params = {} }) => {
      const name = String(params["name"]);
      if (params["inputResponses"] === undefined)
        return { resultType: "input_required", inputRequests: { [name]: form }, requestState: name };
      return said(
        JSON.stringify([name, Object.keys(params["inputResponses"] as object), params["requestState"]]),
      );
    });
    const names = ["a", "b", "c"];
    const results = await Promise.all(names.map((name) => client.callTool(name)));
    expect(results.map(({ content }) => (content[0] as { text: string }).text)).toEqual(
      names.map((name) => JSON.stringify([name, [name], name])),
    );
    const plain = server.of("tools/call").filter(({ params }) => !params?.["inputResponses"]);
    expect(plain.every(({ params }) => params?.["requestState"] === undefined)).toBe(true);
  });

  test("sends a request that only got a state again after a wait that grows [MRTR-CLIENT-IMMEDIATE]", async () => {
    const { server, client } = await start({ limits: { maxRounds: 20 } });
    const asked = Array.from({ length: 8 }, (_, index) => ({ requestState: String(index) }));
    rounds(server, "tools/call", asked, said("done"));
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("later");
    const waits: number[] = [];
    for (let sent = 1; sent <= asked.length; sent++) {
      await turns();
      expect(server.of("tools/call")).toHaveLength(sent);
      let waitedMs = 0;
      for (; server.of("tools/call").length === sent; waitedMs += 50) {
        vi.advanceTimersByTime(50);
        await turns();
      }
      waits.push(waitedMs);
    }
    expect((await call).content).toEqual([{ type: "text", text: "done" }]);
    waits.forEach((waitMs, index) => {
      const longest = Math.min(10_000, 200 * 2 ** index);
      expect(waitMs).toBeGreaterThanOrEqual(longest / 2);
      expect(waitMs).toBeLessThanOrEqual(longest + 50);
    });
    expect(server.of("tools/call").every(({ params }) => params?.["inputResponses"] === undefined)).toBe(
      true,
    );
  });

  test.each([
    ["neither questions nor a state", {}],
    ["a state that is no text", { inputRequests: {}, requestState: 5 }],
    ["questions that are no object", { inputRequests: [form] }],
    ["a question that is no object", { inputRequests: { q: "Who?" } }],
    ["a question without a method", { inputRequests: { q: { params: {} } } }],
    ["a question whose params are no object", { inputRequests: { q: { ...form, params: 5 } } }],
    ["a question of an unknown kind", { inputRequests: { q: { method: "tools/call", params: {} } } }],
    ["a ping", { inputRequests: { q: { method: "ping" } } }],
    ["a kind that the client did not declare", { inputRequests: { q: rootsList } }],
  ])("rejects a round with %s, and does not send the request again", async (_, result) => {
    const { server, client } = await start();
    rounds(server, "tools/call", [result], said("done"));
    await expect(client.callTool("book")).rejects.toBeInstanceOf(InvalidResponse);
    expect(server.of("tools/call")).toHaveLength(1);
    expect((await client.callTool("book")).content).toEqual([{ type: "text", text: "done" }]);
  });

  test("answers no more rounds than maxRounds", async () => {
    const { server, client } = await start({ limits: { maxRounds: 3 } });
    server.on("tools/call", () => ({ resultType: "input_required", inputRequests: { q: form } }));
    await expect(client.callTool("book")).rejects.toThrow("limits.maxRounds");
    expect(server.of("tools/call")).toHaveLength(4);
  });

  test("answers no more questions of a round than maxQuestions", async () => {
    const onElicit = vi.fn(() => accept);
    const { server, client } = await start({ onElicit, limits: { maxQuestions: 3 } });
    const ask = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, key) => [key, form]));
    rounds(server, "tools/call", [{ inputRequests: ask(4) }, { inputRequests: ask(3) }], said("done"));
    await expect(client.callTool("book")).rejects.toThrow("limits.maxQuestions");
    expect(onElicit).not.toHaveBeenCalled();
    await client.callTool("book");
    expect(onElicit).toHaveBeenCalledTimes(3);
  });

  test("rejects with what a handler threw, and stops the other handlers", async () => {
    const stopped = deferred<unknown>();
    const thrown = new Error("No model today");
    const { server, client } = await start({
      onElicit: (_question: unknown, { signal }: QuestionContext) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener(
            "abort",
            () => (stopped.resolve(signal.reason), reject(new Error("stopped"))),
          );
        }),
      onSample: () => Promise.reject(thrown),
    });
    rounds(server, "tools/call", [{ inputRequests: { a: form, b: sampling } }], said("done"));
    await expect(client.callTool("book")).rejects.toBe(thrown);
    expect(await stopped.promise).toBe(thrown);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test("stops the handlers of a call that is aborted", async () => {
    const asked = deferred<AbortSignal>();
    const { server, client } = await start({
      onElicit: (_question: unknown, { signal }: QuestionContext) => (
        asked.resolve(signal),
        new Promise<never>(() => {})
      ),
    });
    rounds(server, "tools/call", [{ inputRequests: { a: form } }], said("done"));
    const abort = new AbortController();
    const call = client.callTool("book", {}, { signal: abort.signal });
    const signal = await asked.promise;
    const reason = new Error("Never mind");
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(signal.aborted).toBe(true);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test("forgets a handler that ignores its signal: the time of other calls runs again", async () => {
    const asked = deferred();
    const { server, client } = await start({
      onElicit: () => (asked.resolve(), new Promise<never>(() => {})),
    });
    rounds(server, "tools/call", [{ inputRequests: { a: form } }], said("done"));
    const abort = new AbortController();
    const call = client.callTool("book", {}, { signal: abort.signal });
    await asked.promise;
    abort.abort(new Error("Never mind"));
    await expect(call).rejects.toThrow("Never mind");
    holdClocks("setTimeout", "clearTimeout");
    server.on("prompts/get", () => undefined);
    const silent = client.getPrompt("silent", {}, { timeoutMs: 1000 }).catch((error: unknown) => error);
    await turns();
    vi.advanceTimersByTime(1100);
    expect(await silent).toMatchObject({ code: "TIMEOUT", limit: "timeoutMs" });
  });

  test("does not carry on a state that the caller gave, if the server gives none [MRTR-CLIENT-STATE-ABSENT]", async () => {
    const { server, client } = await start();
    rounds(server, "tools/call", [{ inputRequests: { a: form } }], said("done"));
    await client.request("tools/call", { name: "book", requestState: "old", inputResponses: { old: {} } });
    const [, second] = server.of("tools/call").map(withoutMeta);
    expect(second).toEqual({ name: "book", inputResponses: { a: { action: "accept", content: {} } } });
  });

  test("passes on what the user declines, and hands out questions if asked to", async () => {
    const { server, client } = await start({ onElicit: () => ({ action: "decline" }) });
    const asked = { inputRequests: { a: form } };
    rounds(server, "tools/call", [asked, asked], said("done"));
    expect(await client.callTool("book", {}, { inputRequired: "return" })).toMatchObject({
      resultType: "input_required",
      ...asked,
    });
    await client.callTool("book");
    const [, , last] = server.of("tools/call").map(withoutMeta);
    expect(last).toMatchObject({ inputResponses: { a: { action: "decline" } } });
  });
});

describe.each(revisionsSince("2025-06-18"))("a server of the same process on %s", (revision) => {
  test("asks everything in one call", async () => {
    const server = new McpServer({ name: "demo", version: "1.0.0" });
    server.tool("ask", {}, async (_, ctx) => {
      const { name } = await ctx.elicit("Who?", z.object({ name: z.string() }));
      const [{ text }, [root]] = await Promise.all([ctx.sample("How much?"), ctx.roots()]);
      return `${name} ${text} ${root?.uri}`;
    });
    const client = await connect(server, {
      revision,
      onElicit: () => ({ ...accept, content: { name: "Ada" } }),
      onSample: () => answer,
      roots: [{ uri: "file:///work" }],
    });
    onTestFinished(() => client.close());
    expect((await client.callTool("ask")).content).toEqual([{ type: "text", text: "Ada 42 file:///work" }]);
  });
});

describe.each(revisionsSince("2025-11-25"))("a page that the server requires on %s", (revision) => {
  test("is shown to the user, and the call succeeds after consent", async () => {
    const server = new McpServer({ name: "calendar", version: "1.0.0" });
    let isConnected = false;
    server.tool("today", {}, () => {
      if (isConnected) return "Nothing today";
      throw new UrlElicitationRequired([{ message: "Connect", url: new URL("https://a.example/x") }]);
    });
    const urls: string[] = [];
    const url = (question: { url: string }) => (urls.push(question.url), (isConnected = true), accept);
    const client = await connect(server, { revision, onElicit: { url } });
    onTestFinished(() => client.close());
    expect((await client.callTool("today")).content).toEqual([{ type: "text", text: "Nothing today" }]);
    expect(urls).toEqual(["https://a.example/x"]);
  });
});

describe("pages that 2025-11-25 requires by an error", () => {
  const page = (id: string) => ({
    mode: "url",
    elicitationId: id,
    url: `https://a.example/${id}`,
    message: id,
  });
  const complete = "notifications/elicitation/complete";

  async function open(
    data: unknown,
    options: ConnectOptions = {},
  ): Promise<{ client: McpClient; server: ScriptedServer; done: { is: boolean } }> {
    const server = new ScriptedServer({ revision: "2025-11-25", capabilities: { tools: {} } });
    const done = { is: false };
    server.on("tools/call", () => {
      if (done.is) return said("done");
      throw new Refuse(-32042, "Visit first", data);
    });
    const client = await connect(server, { revision: "2025-11-25", onElicit: () => accept, ...options });
    onTestFinished(() => client.close());
    return { client, server, done };
  }

  test("are asked at once, each on its own; then the call is sent again with a new id [MRTR-CLIENT-NEW-ID]", async () => {
    const asked: string[] = [];
    const { client, server, done } = await open(
      { elicitations: [page("e1"), page("e2")] },
      {
        onElicit: {
          url: async ({ elicitationId = "" }) => {
            asked.push(elicitationId);
            await until(() => asked.length === 2);
            done.is = true;
            return accept;
          },
        },
      },
    );
    expect((await client.callTool("today")).content).toEqual([{ type: "text", text: "done" }]);
    expect(asked.toSorted()).toEqual(["e1", "e2"]);
    const ids = server.of("tools/call").map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  test("if the server still refuses, the call waits until all are complete, whatever else is [ELIC-URL-COMPLETE-UNKNOWN]", async () => {
    const onElicit = vi.fn(() => accept);
    const { client, server, done } = await open({ elicitations: [page("e1"), page("e2")] }, { onElicit });
    const call = client.callTool("today");
    await until(() => server.of("tools/call").length === 2);
    for (const elicitationId of ["other", "e1", "e1", 5]) server.end.notify(complete, { elicitationId });
    server.end.notify(complete);
    await client.ping();
    await turns();
    expect(server.of("tools/call")).toHaveLength(2);
    done.is = true;
    server.end.notify(complete, { elicitationId: "e2" });
    expect((await call).content).toEqual([{ type: "text", text: "done" }]);
    expect(onElicit).toHaveBeenCalledTimes(2);
    expect(server.of("tools/call")).toHaveLength(3);
  });

  test("the call waits for them no longer than timeoutMs, and then tries once more", async () => {
    const { client, server } = await open({ elicitations: [page("e1")] }, { timeoutMs: 5000 });
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("today").catch((error: unknown) => error);
    await turns();
    vi.advanceTimersByTime(4900);
    await turns();
    expect(server.of("tools/call")).toHaveLength(2);
    vi.advanceTimersByTime(200);
    expect(await call).toBeInstanceOf(RpcRejection);
    expect(await call).toMatchObject({ code: -32042 });
    expect(server.of("tools/call")).toHaveLength(3);
  });

  test.each([
    ["decline", InputDeclined],
    ["cancel", InputCancelled],
  ] as const)("a user who chooses %s ends the call", async (action, error) => {
    const { client, server } = await open({ elicitations: [page("e1")] }, { onElicit: () => ({ action }) });
    await expect(client.callTool("today")).rejects.toBeInstanceOf(error);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test.each([
    ["without a handler for pages", { elicitations: [page("e1")] }, { onElicit: { form: () => accept } }],
    ["that are missing", undefined, {}],
    ["that are none", { elicitations: [] }, {}],
    ["that are forms", { elicitations: [{ ...page("e1"), mode: "form" }] }, {}],
    ["without an id", { elicitations: [{ ...page("e1"), elicitationId: undefined }] }, {}],
    ["that are too many", { elicitations: [page("e1"), page("e2")] }, { limits: { maxQuestions: 1 } }],
  ])("%s: the call rejects with the server's error", async (_, data, options) => {
    const { client, server } = await open(data, options);
    await expect(client.callTool("today")).rejects.toMatchObject({ code: -32042, message: "Visit first" });
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test('with inputRequired: "return" the call rejects with the error as the server sent it, and nobody is asked', async () => {
    let asked = 0;
    const heard: unknown[] = [];
    const data = { elicitations: [page("e1")] };
    const { client, server, done } = await open(data, {
      onElicit: () => (asked++, accept),
      onNotification: { [complete]: (params) => heard.push(params) },
    });
    const raw = client.callTool("today", {}, { inputRequired: "return" });
    await expect(raw).rejects.toMatchObject({
      name: "RpcRejection",
      code: -32042,
      message: "Visit first",
      data,
    });
    expect([asked, server.of("tools/call").length]).toEqual([0, 1]);
    // The user of the client visits the page and calls again.
    server.end.notify(complete, { elicitationId: "e1" });
    await until(() => heard.length === 1);
    done.is = true;
    expect((await client.callTool("today", {}, { inputRequired: "return" })).content).toEqual([
      { type: "text", text: "done" },
    ]);
  });

  test("aborting the call ends the wait", async () => {
    const { client, server } = await open({ elicitations: [page("e1")] });
    const abort = new AbortController();
    const call = client.callTool("today", {}, { signal: abort.signal });
    await until(() => server.of("tools/call").length === 2);
    await turns();
    const reason = new Error("Never mind");
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});

/** Lets everything that is ready, and what follows from it, run. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}
