// Where the questions of a task of 2025-11-25 go over HTTP: where its result is awaited, else to the session, else they wait.
import type { JsonObject } from "halyard";
import { describe, expect, test } from "vitest";
import { accepted, capabilities, relatedTaskKey, taskServer, textOf } from "../../support/tasks.ts";
import { edges, serve, SessionClient, type Served } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

const anything = "application/json, text/event-stream";
const isQuestion = (message: JsonObject): boolean => message["method"] === "elicitation/create";
const named = { type: "object", properties: { name: { type: "string" } } } as const;
const open = (served: Served, headers = {}): Promise<SessionClient> =>
  SessionClient.open(served, { capabilities, headers });

async function start(client: SessionClient, name: string): Promise<string> {
  const { result } = (await client.request("tools/call", { name, task: {} })) as {
    result: { task: { taskId: string } };
  };
  return result.task.taskId;
}

async function statusOf(client: SessionClient, taskId: string): Promise<unknown> {
  return ((await client.request("tasks/get", { taskId }))["result"] as JsonObject)["status"];
}

describe.each(edges)("questions of a task · %s", (edge) => {
  test("wait until the client comes for the result, and go out on that stream [TASK25-INPUT-REQUIRED-RESULT, TASK25-INPUT-REQUIRED, TASK25-RELATED-META]", async () => {
    const client = await open(await serve(taskServer().server, {}, edge));
    const taskId = await start(client, "ask");
    await until(async () => (await statusOf(client, taskId)) === "input_required");
    const awaited = await client.start("tasks/result", { taskId }, "r");
    const question = await awaited.message(isQuestion);
    expect(question).toMatchObject({ params: { _meta: { [relatedTaskKey]: { taskId } } } });
    await client.answer(question, { result: accepted({ name: "Ada" }) });
    expect(await awaited.message(({ id }) => id === "r")).toMatchObject({ result: textOf("Hello, Ada") });
    await awaited.closed;
    expect(await statusOf(client, taskId)).toBe("completed");
  });

  test("go to the session's stream when the result is not awaited", async () => {
    const client = await open(await serve(taskServer().server, {}, edge));
    const stream = await client.get();
    const taskId = await start(client, "ask");
    await client.answer(await stream.message(isQuestion), { result: accepted({ name: "Ada" }) });
    expect(await client.request("tasks/result", { taskId })).toMatchObject({ result: textOf("Hello, Ada") });
    stream.cut();
  });

  test("go out, and are answered, in another session of the same caller that comes for the result", async () => {
    const authenticate = (): { issuer: string; subject: string } => ({
      issuer: "https://i.example",
      subject: "a",
    });
    const served = await serve(taskServer().server, { auth: authenticate }, edge);
    const [first, second] = [await open(served), await open(served)];
    const taskId = await start(first, "ask");
    await first.delete();
    const awaited = await second.start("tasks/result", { taskId }, "r");
    await second.answer(await awaited.message(isQuestion), { result: accepted({ name: "Ada" }) });
    expect(await awaited.message(({ id }) => id === "r")).toMatchObject({ result: textOf("Hello, Ada") });
  });
});

describe("a task whose client does not come", () => {
  test("fails its question when the time for it is up, or when it is cancelled, and one asked after that at once", async () => {
    const { server } = taskServer();
    const failures: string[] = [];
    server.tool("patient", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      const note = (error: Error): number => failures.push(error.message);
      await ctx.elicit("Name?", named, { timeoutMs: 30 }).catch(note);
      await ctx.elicit("Name?", named).catch(note);
      await ctx.elicit("Name?", named).catch(note);
      return "gave up";
    });
    const client = await open(await serve(server));
    const taskId = await start(client, "patient");
    await until(() => failures.length === 1);
    await client.request("tasks/cancel", { taskId });
    await until(() => failures.length === 3);
    expect(failures).toEqual([
      "elicitation/create: the client did not connect within 30 ms",
      "elicitation/create: the task was cancelled",
      "elicitation/create: the task was cancelled",
    ]);
  });

  test("withdraws a question that it has sent when the task is cancelled [TASK25-RELATED-META]", async () => {
    const client = await open(await serve(taskServer().server));
    const stream = await client.get();
    const taskId = await start(client, "ask");
    const question = await stream.message(isQuestion);
    await client.request("tasks/cancel", { taskId });
    const withdrawn = await stream.message(({ method }) => method === "notifications/cancelled");
    expect(withdrawn).toMatchObject({
      params: { requestId: question["id"], _meta: { [relatedTaskKey]: { taskId } } },
    });
    stream.cut();
  });

  test("continues when its client is gone, and is there for it when it is back", async () => {
    const { server, gate, aborted } = taskServer();
    const served = await serve(server);
    const client = await open(served);
    const reply = await client.start("tools/call", { name: "wait", task: {} }, 7);
    const { result } = (await reply.json()) as { result: { task: { taskId: string } } };
    reply.cut();
    const { taskId } = result.task;
    const impatient = new AbortController();
    const { signal } = impatient;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 8, method: "tasks/result", params: { taskId } });
    const headers = { ...client.headers(), "content-type": "application/json", accept: anything };
    const asking = fetch(client.url, {
      method: "POST",
      headers: headers as Record<string, string>,
      body,
      signal,
    });
    await until(() => served.stats().inFlight === 1);
    impatient.abort();
    await expect(asking).rejects.toThrow(/abort/);
    gate.resolve();
    expect(await client.request("tasks/result", { taskId })).toMatchObject({
      result: textOf("waited"),
    });
    expect(aborted).toEqual([]);
  });
});

describe("a server without sessions", () => {
  test("has tasks of 2025-11-25, cannot ask in them, and neither declares nor answers tasks/list [TASK25-LIST-UNSAFE]", async () => {
    const served = await serve(taskServer({ mode: "stateless" }).server);
    const client = new SessionClient(served.url, "");
    const stateless = { "mcp-session-id": undefined };
    const say = async (method: string, params: JsonObject): Promise<JsonObject> =>
      (await client.post({ jsonrpc: "2.0", id: 1, method, params }, stateless)).json();
    const hello = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } };
    const { result } = (await say("initialize", hello)) as { result: { capabilities: JsonObject } };
    expect(result.capabilities["tasks"]).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    expect(await say("tasks/list", {})).toMatchObject({ error: { code: -32601 } });
    const begun = (await say("tools/call", { name: "quick", task: {} })) as {
      result: { task: { taskId: string } };
    };
    const { taskId } = begun.result.task;
    expect(await say("tasks/result", { taskId })).toMatchObject({ result: textOf("quick") });
  });
});
