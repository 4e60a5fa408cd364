// observe: every question to a client as it goes out and as it ends, whichever way it goes.
import { type Context, inputRequired, McpServer, type ServerEvent } from "halyard";
import { type Respond, questionsIn, retryOf, type TestClient } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { ableClient, converse, spoken } from "../../support/answering.ts";
import { askingTool } from "../../support/asking-tool.ts";
import { call, makeServer, open, refusal, secret } from "../../support/catalogue.ts";
import { ofType } from "../../support/events.ts";
import { recordingLogger } from "../../support/log.ts";
import { type Cell, describeMatrix } from "../../support/matrix.ts";
import { edges, serve, SessionClient } from "../../support/sessions.ts";
import { accepted, capabilities, extensionForm, taskServer, Tasks, withTasks } from "../../support/tasks.ts";
import { until } from "../../support/turns.ts";

const roots = "roots/list";
const sampling = "sampling/createMessage";
const elicitation = "elicitation/create";
const lost = "The client can no longer be reached";
const late = "No answer within 40 ms";
const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

const answerAll: Respond = ({ method }) =>
  method === roots ? { roots: [{ uri: `file:///${secret}` }] } : spoken(secret);

/** What was told of each question: how it stands, what was asked, and why it failed. */
function told(events: readonly ServerEvent[]): unknown[] {
  return ofType(events, "ask").map(({ state, method, reason }) =>
    reason === undefined ? [state, method] : [state, method, reason],
  );
}

describeMatrix("observe of questions", {}, (cell) => {
  test("sees each go out and be answered once, whatever later rounds await again, and nothing of what they say", async () => {
    const { client, events } = await openTool(cell, async (ctx) => {
      await ctx.roots();
      await ctx.sample(secret);
      await ctx.roots({ key: "again" });
      return "done";
    });
    await converse(client, "tools/call", { name: "ask" }, answerAll);
    expect(told(events)).toEqual(
      [roots, sampling, roots].flatMap((method) => [
        ["asked", method],
        ["answered", method],
      ]),
    );
    for (const event of ofType(events, "ask")) {
      expect(event).toMatchObject({ transport: cell.transport, taskId: undefined });
      expect(typeof event.session).toBe(cell.era === "legacy" ? "string" : "undefined");
      const isTimed = event.state === "answered" && cell.era === "legacy";
      expect(typeof event.durationMs).toBe(isTimed ? "number" : "undefined");
    }
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("sees what a handler asks by returning it, in every round", async () => {
    const { client, events } = await openTool(cell, (ctx) => {
      const round = ctx.requestState<number>() ?? 0;
      if (round === 2) return "done";
      return inputRequired({ inputRequests: { where: { method: roots } }, requestState: round + 1 });
    });
    await converse(client, "tools/call", { name: "ask" }, answerAll);
    const round = [
      ["asked", roots],
      ["answered", roots],
    ];
    expect(told(events)).toEqual([...round, ...round]);
  });

  test("sees nothing of a question that cannot be asked", async () => {
    const { server, events } = makeServer();
    server.tool("ask", {}, async (_, ctx) => void (await ctx.sample("Anyone?")));
    const client = await open(cell, server, { capabilities: {} });
    expect((await refusal(call(client, "ask"))).code).toBe(-32021);
    expect(told(events)).toEqual([]);
  });

  test("may throw, and the question is asked and answered all the same", async () => {
    const observe = (): never => {
      throw new Error("observer");
    };
    const server = new McpServer({ name: "test", version: "1.0.0" }, { observe, logger: recordingLogger() });
    server.tool("ask", {}, async (_, ctx) => `${(await ctx.roots()).length} roots`);
    const client = await open(cell, server, { capabilities: ableClient });
    const { result } = await converse(client, "tools/call", { name: "ask" }, answerAll);
    expect(result).toMatchObject({ content: [{ text: "1 roots" }] });
  });
});

describeMatrix("observe of questions in rounds", { eras: ["modern"] }, (cell) => {
  test("sees that a client came back without an answer, and that it is asked again", async () => {
    const { client, events } = await openTool(cell, async (ctx) => {
      await Promise.all([ctx.roots(), ctx.sample("Well?")]);
      return "done";
    });
    const params = { name: "ask" };
    const first = await client.request("tools/call", params);
    const onlyRoots: Respond = (question) => (question.method === roots ? answerAll(question) : undefined);
    const second = await client.request("tools/call", { ...params, ...retryOf(first, onlyRoots) });
    expect(questionsIn(second).map(({ method }) => method)).toEqual([sampling]);
    await client.request("tools/call", { ...params, ...retryOf(second, answerAll) });
    expect(told(events)).toEqual([
      ["asked", roots],
      ["asked", sampling],
      ["answered", roots],
      ["failed", sampling, "The client retried without an answer"],
      ["asked", sampling],
      ["answered", sampling],
    ]);
  });

  test("sees nothing in answers to what was never asked", async () => {
    const { client, events } = await openTool(
      cell,
      async (ctx) => `${(await ctx.roots({ key: "k" })).length}`,
    );
    await client.request("tools/call", { name: "ask", inputResponses: { k: { roots: [] } } });
    expect(told(events)).toEqual([]);
  });
});

test("a request state is not made longer where there is no observer", async () => {
  const handler = async (_: unknown, ctx: Context): Promise<string> => `${(await ctx.roots()).length}`;
  const stateOf = async (observe?: () => void): Promise<string> => {
    const { ask } = await askingTool(handler, observe ? { server: { observe } } : {});
    return String((await ask())["requestState"]);
  };
  const [unobserved, observed] = [await stateOf(), await stateOf(() => {})];
  expect(observed.length - unobserved.length).toBeGreaterThan(roots.length);
});

describeMatrix("observe of requests to clients", { eras: ["legacy"] }, (cell) => {
  const endings: readonly [
    name: string,
    reason: string,
    end: (client: TestClient, id: unknown) => unknown,
  ][] = [
    [
      "the client's error, not in its words",
      "The client gave no result",
      (client, id) => client.send({ jsonrpc: "2.0", id, error: { code: -1, message: secret } }),
    ],
    [
      "the cancellation of the call that asked",
      "The call that asked was cancelled",
      (client) => client.notify("notifications/cancelled", { requestId: "c" }),
    ],
    ["the loss of the client", lost, (client) => client.close()],
    ["the end of the time for an answer", late, () => {}],
  ];

  // Over HTTP a client may resume, and is lost with its session.
  const rows = endings.filter(([, reason]) => cell.transport !== "http" || reason !== lost);
  test.each(rows)("sees %s", async (_, reason, end) => {
    const timeoutMs = reason === late ? 40 : 60_000;
    const { client, events } = await openTool(cell, (ctx) => ctx.ask(roots, {}, { timeoutMs }));
    client.send({ jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "ask" } });
    const asked = await client.waitFor((message) => "method" in message && message.method === roots);
    end(client, (asked as { id?: unknown }).id);
    await until(() => told(events).length === 2);
    expect(told(events)).toEqual([
      ["asked", roots],
      ["failed", roots, reason],
    ]);
    expect(ofType(events, "ask")[1]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(ofType(events, "ask"))).not.toContain(secret);
  });
});

describe.each(edges)("observe of push.request · %s", (edge) => {
  test("sees who is asked, and not what their token says", async () => {
    const { server, events } = makeServer();
    const principal = { issuer: "https://i.example", subject: "a" };
    const auth = (): object => ({ ...principal, claims: { secret } });
    const client = await SessionClient.open(await serve(server, { auth: auth as never }, edge));
    const stream = await client.get();
    onTestFinished(() => stream.cut());
    const asked = server.push.ping(client.id);
    await client.answer(await stream.message(({ method }) => method === "ping"), { result: {} });
    await asked;
    const peer = { transport: "http", session: client.id, principal };
    expect(ofType(events, "ask")).toEqual([
      expect.objectContaining({ state: "asked", method: "ping", ...peer }),
      expect.objectContaining({ state: "answered", method: "ping", ...peer }),
    ]);
  });

  test("sees the loss of the client with its session", async () => {
    const { server, events } = makeServer();
    const client = await SessionClient.open(await serve(server, {}, edge));
    await client.get();
    const asked = expect(server.push.request(client.id, roots)).rejects.toThrow(lost);
    await client.delete();
    await asked;
    expect(told(events)).toEqual([
      ["asked", roots],
      ["failed", roots, lost],
    ]);
  });

  test("sees nothing of what cannot be written as JSON, and nothing waits for its answer", async () => {
    const { server, events } = makeServer();
    const client = await SessionClient.open(await serve(server, {}, edge));
    const stream = await client.get();
    onTestFinished(() => stream.cut());
    await expect(server.push.request(client.id, roots, { big: 1n })).rejects.toThrow(TypeError);
    expect(await server.push.pendingAsks()).toBe(0);
    expect(told(events)).toEqual([]);
  });
});

describeMatrix("observe of the questions of a task", withTasks, (cell) => {
  test("sees each go out and be answered, with the task that it belongs to", async () => {
    const { tasks, events } = await openTasks(cell);
    const { taskId } = await tasks.start("ask");
    const awaited = tasks.isCore ? tasks.result(taskId) : undefined;
    await tasks.answer(taskId, accepted({ name: secret }));
    await tasks.ended(taskId);
    await awaited;
    const asked = ofType(events, "ask");
    expect(asked.map(({ state, method }) => [state, method])).toEqual([
      ["asked", elicitation],
      ["answered", elicitation],
    ]);
    for (const event of asked) expect(event).toMatchObject({ taskId, transport: cell.transport });
    expect(asked[1]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(asked)).not.toMatch(new RegExp(`${secret}|Your name`));
  });

  test("sees one fail whose task is cancelled, and none that is asked after that", async () => {
    const { tasks, events, server } = await openTasks(cell);
    let failures = 0;
    server.tool("stubborn", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      for (let time = 0; time < 2; time++) await ctx.elicit("Really?", named).catch(() => failures++);
      return "gave up";
    });
    const { taskId } = await tasks.start("stubborn");
    if (tasks.isCore) tasks.result(taskId).catch(() => {});
    await until(() => told(events).length === 1);
    await tasks.cancel(taskId);
    await until(() => failures === 2);
    expect(told(events)).toEqual([
      ["asked", elicitation],
      ["failed", elicitation, expect.stringMatching(/was cancelled$/)],
    ]);
  });
});

describeMatrix("observe of a question that its task did not wait for", extensionForm, (cell) => {
  test("sees it fail when the task ends, and the task keeps no question", async () => {
    const { tasks, events, server } = await openTasks(cell);
    server.tool("hasty", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      ctx.elicit("Really?", named).catch(() => {});
      return "done";
    });
    const { taskId } = await tasks.start("hasty");
    await tasks.ended(taskId);
    expect(told(events)).toEqual([
      ["asked", elicitation],
      ["failed", elicitation, "The call that asked has ended"],
    ]);
  });
});

interface Opened {
  readonly client: TestClient;
  readonly events: ServerEvent[];
}

/** A client of a tool `ask` that does what is given. */
async function openTool(cell: Cell, handler: (ctx: Context) => unknown): Promise<Opened> {
  const { server, events } = makeServer();
  server.tool("ask", {}, ((_: unknown, ctx: Context) => handler(ctx)) as () => string);
  return { client: await open(cell, server, { capabilities: ableClient }), events };
}

async function openTasks(cell: Cell): Promise<{ tasks: Tasks; server: McpServer; events: ServerEvent[] }> {
  const events: ServerEvent[] = [];
  const { server } = taskServer({ observe: (event) => void events.push(event) });
  return { tasks: new Tasks(await open(cell, server, { capabilities })), server, events };
}
