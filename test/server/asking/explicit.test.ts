// The explicit form: a handler returns its questions and keeps its own state, for clients of every revision.
import { type Context, InputPending, inputRequired, type JsonObject, McpServer } from "halyard";
import { connect, questionsIn, retryOf } from "halyard/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { ableClient, answersBy, converse, spoken } from "../../support/answering.ts";
import { askingTool, echo, said } from "../../support/asking-tool.ts";
import { makeServer, open } from "../../support/catalogue.ts";
import { recordingLogger } from "../../support/log.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { newestLegacy, newestModern } from "../../support/raw.ts";

const text = z.object({ text: z.string() });
const form = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const elicit = (message: string): { method: "elicitation/create"; params: JsonObject } => ({
  method: "elicitation/create",
  params: { message, requestedSchema: form },
});
const prompt = [
  {
    role: "user",
    content: [
      { type: "text", text: "One" },
      { type: "text", text: "Two" },
    ],
  },
] as const;

const content = (answer: JsonObject | undefined): unknown =>
  (answer?.["content"] as JsonObject | undefined)?.["text"];

/** Three rounds: two questions together, one more, and then the answer. */
function survey(_: unknown, ctx: Context): unknown {
  const { inputResponses } = ctx;
  const state = ctx.requestState<{ step: number; name?: unknown; verse?: unknown }>();
  if (state === undefined) {
    const inputRequests = {
      name: elicit("Name?"),
      verse: { method: "sampling/createMessage", params: { messages: prompt, maxTokens: 9 } },
    } as const;
    return inputRequired({ inputRequests, requestState: { step: 1 } });
  }
  if (state.step === 1) {
    const [name, verse] = [content(inputResponses?.["name"]), content(inputResponses?.["verse"])];
    return inputRequired({
      inputRequests: { where: { method: "roots/list" } },
      requestState: { step: 2, name, verse },
    });
  }
  const roots = inputResponses?.["where"]?.["roots"] as { uri: string }[];
  return `${String(state.name)} ${String(state.verse)} ${roots[0]?.uri}`;
}

const answers = answersBy({
  "Name?": { text: "Ada" },
  "sampling/createMessage": spoken("Roses"),
  "roots/list": { roots: [{ uri: "file:///home" }] },
});

describeMatrix("inputRequired()", { since: "2025-06-18" }, (cell) => {
  test("asks a client of every revision, and the handler does not notice the difference [MRTR-REPEAT, ROOTS-DELIVERY-LEGACY, ROOTS-DELIVERY-MODERN, SAMP-DELIVERY-LEGACY, SAMP-DELIVERY-MODERN]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("survey", {}, survey as () => string);
    const client = await open(cell, server, { capabilities: ableClient });
    const { result, asked, rounds } = await converse(client, "tools/call", { name: "survey" }, answers);
    expect(said(result)).toBe("Ada Roses file:///home");
    expect(asked.map(({ method }) => method)).toEqual([
      "elicitation/create",
      "sampling/createMessage",
      "roots/list",
    ]);
    expect(rounds).toBe(cell.era === "modern" ? 2 : 0);
    const sampled = asked[1]?.params["messages"] as unknown[];
    // A message with several blocks is newer than the two older revisions.
    expect(sampled).toHaveLength(cell.revision < "2025-11-25" ? 2 : 1);
    expect(asked[0]?.params["mode"]).toBe(cell.revision < "2025-11-25" ? undefined : "form");
  });
});

describeMatrix("inputRequired() beside ctx.elicit", { since: "2025-06-18" }, (cell) => {
  test("a question whose words have changed when the handler runs again is asked again, and one that has not is not", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("ask", {}, async (_, ctx) => {
      const isFirst = ctx.inputResponses?.["where"] === undefined;
      const same = await ctx.elicit("Same?", text, { key: "same" });
      const changing = await ctx.elicit(isFirst ? "Before?" : "After?", text, { key: "changing" });
      if (isFirst) return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
      return `${same.text} ${changing.text}`;
    });
    const client = await open(cell, server, { capabilities: ableClient });
    const words = ["Same?", "Before?", "After?"];
    const { result, asked } = await converse(
      client,
      "tools/call",
      { name: "ask" },
      answersBy({
        ...Object.fromEntries(words.map((word) => [word, { text: word }])),
        "roots/list": { roots: [] },
      }),
    );
    expect(said(result)).toBe("Same? After?");
    const messages = asked.map(({ params, method }) => params["message"] ?? method);
    expect(messages).toEqual(["Same?", "Before?", "roots/list", "After?"]);
  });
});

test("inputRequired() of a kind that the client did not declare is -32021, and nothing is asked at all [MRTR-CAPS]", async () => {
  for (const revision of [newestModern, newestLegacy]) {
    const { ask, client } = await askingTool(survey, { revision, capabilities: { elicitation: {} } });
    await expect(ask()).rejects.toMatchObject({
      code: -32021,
      message: "sampling/createMessage: the client did not declare sampling",
    });
    expect(client.received.filter((message) => "method" in message)).toEqual([]);
  }
});

test("inputRequired() sends a sampling request with a limit even if the author names none, as every revision wants it", async () => {
  const params = { messages: [{ role: "user", content: { type: "text", text: "Hello" } }] } as const;
  for (const revision of [newestModern, newestLegacy]) {
    const { converse: talk } = await askingTool(
      (_, ctx) =>
        ctx.inputResponses === undefined
          ? inputRequired({ inputRequests: { s: { method: "sampling/createMessage", params } } })
          : "done",
      { revision },
    );
    const { asked } = await talk(answers);
    expect(asked).toMatchObject([{ params: { ...params, maxTokens: 1024 } }]);
  }
});

test.each(["2026-07-28", "2025-11-25", "2024-11-05"])(
  "inputRequired() may be returned by middleware, again and again, and the result is that of the revision: %s",
  async (revision) => {
    const { client } = await askingTool(survey, {
      revision,
      prepare: (server) => {
        server.tool("shape", { output: z.object({ sides: z.number() }) }, () => ({ sides: 3 }));
        server.use("tools/call", async (_, ctx, next) => {
          const rounds = ctx.requestState<number>() ?? 0;
          const requestState = rounds + 1;
          const inputRequests = { where: { method: "roots/list" } } as const;
          return rounds < 2 ? (inputRequired({ inputRequests, requestState }) as never) : next();
        });
      },
    });
    const { result, asked } = await converse(client, "tools/call", { name: "shape" }, answers);
    expect(asked.map(({ method }) => method)).toEqual(["roots/list", "roots/list"]);
    expect(result["content"]).toEqual([{ type: "text", text: '{"sides":3}' }]);
    expect(result["structuredContent"]).toEqual(revision === "2024-11-05" ? undefined : { sides: 3 });
  },
);

test("inputRequired() needs questions or a state [MRTR-AT-LEAST-ONE]", () => {
  expect(() => inputRequired({})).toThrow("requires inputRequests or requestState");
  expect(() => inputRequired({ inputRequests: {} })).toThrow("requires inputRequests or requestState");
});

test("a state alone is a result without questions, and the client comes back with it [MRTR-AT-LEAST-ONE, MRTR-RESULT-SHAPE]", async () => {
  const { ask } = await askingTool((_, ctx) =>
    ctx.requestState<number>() === 1 ? "later" : inputRequired({ requestState: 1 }),
  );
  const first = await ask();
  expect(Object.keys(first).toSorted()).toEqual(["_meta", "requestState", "resultType"]);
  expect(said(await ask({ requestState: first["requestState"] }))).toBe("later");
});

test("a state alone makes a legacy client wait, and the handler runs again by itself", async () => {
  const handler = (_: unknown, ctx: Context): unknown =>
    ctx.requestState<{ at: string }>()?.at ?? inputRequired({ requestState: { at: new Date(0) } });
  const { ask } = await askingTool(handler, { revision: newestLegacy });
  expect(said(await ask())).toBe("1970-01-01T00:00:00.000Z");
});

test("a state alone runs no handler again whose call was cancelled meanwhile", async () => {
  const outcomes: string[] = [];
  const { server } = makeServer({
    observe: (event) => event.type === "request" && outcomes.push(`${event.method} ${event.outcome}`),
  });
  let runs = 0;
  server.tool("later", {}, () => inputRequired({ requestState: ++runs }));
  const client = await connect(server, { revision: newestLegacy });
  onTestFinished(() => client.close());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  client.send({ jsonrpc: "2.0", id: "later", method: "tools/call", params: { name: "later" } });
  await vi.advanceTimersByTimeAsync(10);
  client.notify("notifications/cancelled", { requestId: "later" });
  await vi.advanceTimersByTimeAsync(5000);
  expect(runs).toBe(1);
  expect(outcomes).toEqual(["initialize ok", "tools/call cancelled"]);
});

describe.each([newestModern, newestLegacy])("inputRequired() · %s", (revision) => {
  test("is capped by limits.maxRounds", async () => {
    const handler = (): unknown => inputRequired({ inputRequests: { again: elicit("Again?") } });
    const { converse: talk } = await askingTool(handler, { revision, server: { limits: { maxRounds: 3 } } });
    let asked = 0;
    const error = await talk((question) => {
      asked++;
      return echo(question);
    }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("limits.maxRounds") as string,
    });
    expect(asked).toBe(3);
  });

  test("asks under the same key again, if the handler wants another answer", async () => {
    const handler = (_: unknown, ctx: Context): unknown => {
      const answer = content(ctx.inputResponses?.["k"]);
      return answer === "2" ? "enough" : inputRequired({ inputRequests: { k: elicit("More?") } });
    };
    const { converse: talk } = await askingTool(handler, { revision });
    let count = 0;
    const { result, asked } = await talk(() => ({ action: "accept", content: { text: String(++count) } }));
    expect(said(result)).toBe("enough");
    expect(asked).toHaveLength(2);
  });

  test.each(["__proto__", "constructor"])("takes a key like %s", async (key) => {
    const handler = (_: unknown, ctx: Context): unknown => {
      const given = ctx.inputResponses;
      if (given !== undefined && Object.hasOwn(given, key)) return String(content(given[key]));
      return inputRequired({ inputRequests: Object.fromEntries([[key, elicit("A")]]) });
    };
    const { converse: talk } = await askingTool(handler, { revision });
    expect(said((await talk(echo)).result)).toBe("a");
  });

  test("can stand before and after ctx.elicit, and each question is asked once", async () => {
    const handler = async (_: unknown, ctx: Context): Promise<unknown> => {
      const before = await ctx.elicit("A", text);
      const own = ctx.inputResponses?.["b"];
      if (own === undefined)
        return inputRequired({ inputRequests: { b: elicit("B") }, requestState: { kept: 7 } });
      const count = await ctx.once("count", () => 1);
      const after = await ctx.elicit("C", text);
      const last = await ctx.elicit("D", text);
      const { kept } = ctx.requestState<{ kept: number }>() ?? {};
      return [before.text, content(own), after.text, last.text, kept, count].join();
    };
    const { converse: talk } = await askingTool(handler, { revision });
    const { result, asked } = await talk(echo);
    expect(asked.map(({ params }) => params["message"])).toEqual(["A", "B", "C", "D"]);
    expect(said(result)).toBe("a,b,c,d,7,1");
  });

  test.each<[string, JsonObject, string]>([
    [
      "an unknown method",
      { method: "ping" },
      'must be elicitation/create or sampling/createMessage or roots/list, not "ping"',
    ],
    [
      "no message",
      { method: "elicitation/create", params: { requestedSchema: form } },
      "message must be a string",
    ],
    ["no schema", { method: "elicitation/create", params: { message: "A" } }, "requestedSchema is missing"],
    [
      "no URL",
      { method: "elicitation/create", params: { message: "A", mode: "url", url: "here" } },
      "url must be a URL",
    ],
    [
      "no messages",
      { method: "sampling/createMessage", params: { maxTokens: 1 } },
      "messages must be an array",
    ],
  ])(
    "refuses what is no question: %s [ELIC-MESSAGE, ELIC-URL-PARAMS, MRTR-VALUES]",
    async (_, request, problem) => {
      const handler = (): unknown => inputRequired({ inputRequests: { k: request as never } });
      const { ask, log } = await askingTool(handler, { revision });
      await expect(ask()).rejects.toMatchObject({ code: -32603 });
      expect(String(log.at(-1)?.details?.["error"])).toContain(problem);
    },
  );
});

test("middleware sees a round of the explicit form as InputPending", async () => {
  const seen: unknown[] = [];
  const { ask } = await askingTool(survey, {
    prepare: (server) =>
      server.use(async (_, __, next) => {
        try {
          return await next();
        } catch (error) {
          seen.push(error);
          throw error;
        }
      }),
  });
  const first = await ask();
  expect(seen).toEqual([expect.any(InputPending)]);
  expect(questionsIn(first).map(({ key }) => key)).toEqual(["name", "verse"]);
  expect(questionsIn(await ask(retryOf(first, answers)))).toMatchObject([
    { key: "where", method: "roots/list" },
  ]);
});

test("ctx.inputResponses has the answers to the handler's own questions, and not those of its awaits", async () => {
  const seen: unknown[] = [];
  const { converse: talk } = await askingTool(async (_, ctx) => {
    seen.push(ctx.inputResponses);
    await ctx.elicit("A", text, { key: "a" });
    const own = ctx.inputResponses?.["b"];
    if (own === undefined) return inputRequired({ inputRequests: { b: elicit("B") } });
    return (await ctx.elicit("C", text)).text;
  });
  await talk(echo);
  const b = { action: "accept", content: { text: "b" } };
  expect(seen).toEqual([undefined, {}, { b }, { b }]);
});
