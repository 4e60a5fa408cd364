// Tasks and rounds whose client is away, or never comes back: they need no client to finish.
import { type JsonObject, McpServer } from "halyard";
import { type TestClient, connect } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { stopClock, passSeconds } from "../support/clock.ts";
import { recordingLogger } from "../support/log.ts";
import { describeMatrix } from "../support/matrix.ts";
import { join } from "../support/backplane.ts";
import { tasksThat } from "../support/task-backplane.ts";
import { type Deferred, deferred, nextTurn, until } from "../support/turns.ts";

const capabilities = { sampling: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const ttlMs = 60_000;

interface Tasks {
  readonly server: McpServer;
  readonly gate: Deferred<void>;
  readonly runs: () => number;
}

/** `long` waits for the gate, `asking` for it and then for an answer. */
function taskServer(): Tasks {
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    { logger: recordingLogger(), tasks: { ttlMs } },
  );
  const gate = deferred();
  let runs = 0;
  server.tool("long", { task: "optional" }, async () => {
    runs++;
    await gate.promise;
    return "finished";
  });
  server.tool("asking", { task: { ttlMs: 60_000 } }, async (_, ctx) => {
    await gate.promise;
    return (await ctx.sample("Why?")).text;
  });
  return { server, gate, runs: () => runs };
}

/** Begins a task, whichever way the client's revision does. */
async function begin(client: TestClient, name: string): Promise<string> {
  const wish = client.era === "legacy" ? { task: {} } : {};
  const result = await client.request("tools/call", { name, ...wish });
  return taskIdOf(result);
}

function taskIdOf(result: JsonObject): string {
  return String(((result["task"] ?? result) as JsonObject)["taskId"]);
}

describeMatrix(
  "a task whose client is gone",
  { since: "2025-11-25", transports: ["memory", "stdio"] },
  (cell) => {
    test("finishes, is there to be read until its time is up, and not a moment longer [TASKX-TTL, TASK25-TTL-OVERRIDE]", async () => {
      stopClock();
      const { server, gate } = taskServer();
      const client = await cell.connect(server, { capabilities });
      const taskId = await begin(client, "long");
      await client.close();
      gate.resolve();
      const next = await cell.connect(server, { capabilities });
      await until(async () => (await next.request("tasks/get", { taskId }))["status"] === "completed");
      passSeconds((ttlMs - 1) / 1000);
      expect(await next.request("tasks/get", { taskId })).toMatchObject({ status: "completed" });
      passSeconds(1 / 1000);
      await expect(next.request("tasks/get", { taskId })).rejects.toMatchObject({ code: -32602 });
      await next.close();
    });
  },
);

describe("ctx.startTask() that a handler does not wait for", () => {
  test("counts the call out once: as many may run at once as before", async () => {
    const kept = deferred();
    const backplane = tasksThat({
      create: async (_, go) => {
        const version = await go();
        kept.resolve();
        return version;
      },
    });
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      { logger: recordingLogger(), limits: { maxInFlight: 1 }, backplane },
    );
    await join(server);
    const gate = deferred();
    server.tool("hasty", { task: { starts: "handler" } }, (_, ctx) => {
      void ctx.startTask();
      return "done";
    });
    server.tool("held", {}, () => gate.promise.then(() => "held"));
    const client = await connect(server, { revision: "2026-07-28", capabilities });
    await client.request("tools/call", { name: "hasty" });
    await kept.promise;
    // What follows upon it takes no more than promises.
    await nextTurn();
    const held = client.request("tools/call", { name: "held" });
    await expect(client.request("tools/call", { name: "held" })).rejects.toMatchObject({ code: -32600 });
    gate.resolve();
    await held;
    await client.close();
  });
});

describe("a task of 2025-11-25", () => {
  test("is asked in the session that awaits its result, when the one that began it is gone", async () => {
    const { server, gate } = taskServer();
    const first = await connect(server, { revision: "2025-11-25", capabilities });
    const taskId = await begin(first, "asking");
    await first.close();
    gate.resolve();
    const second = await connect(server, { revision: "2025-11-25", capabilities });
    const result = second.request("tasks/result", { taskId });
    const question = (await second.waitFor(
      (message) => "method" in message && message.method === "sampling/createMessage",
    )) as unknown as { id: string };
    const answer = { role: "assistant", model: "m", content: { type: "text", text: "Because" } };
    second.send({ jsonrpc: "2.0", id: question.id, result: answer });
    expect(await result).toMatchObject({ content: [{ text: "Because" }] });
    expect(await server.push.pendingAsks()).toBe(0);
    await second.close();
  });
});

describe("a modern round", () => {
  const keys = ["a secret of thirty-two bytes or more, for tests only"];
  const roundServer = (): McpServer => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.secureRequestState({ keys });
    server.tool("ask", {}, async (_, ctx) => {
      const first = await ctx.sample("Why?");
      const second = await ctx.sample("And why that?");
      return `${first.text} ${second.text}`;
    });
    return server;
  };

  test("needs nothing of the server that began it: each continues at another one [MRTR-NO-ASSUME-RETRY]", async () => {
    const params = { name: "ask", arguments: {} };
    let more: JsonObject = {};
    for (const text of ["Because", "of it"]) {
      const server = roundServer();
      const client = await connect(server, { revision: "2026-07-28", capabilities });
      const { resultType, inputRequests, requestState } = await client.request("tools/call", {
        ...params,
        ...more,
      });
      expect(resultType).toBe("input_required");
      expect(await server.push.pendingAsks()).toBe(0);
      await client.close();
      const answer = { role: "assistant", model: "m", content: { type: "text", text } };
      const keysOf = Object.keys(inputRequests as JsonObject);
      more = { requestState, inputResponses: Object.fromEntries(keysOf.map((key) => [key, answer])) };
    }
    const last = await connect(roundServer(), { revision: "2026-07-28", capabilities });
    expect(await last.request("tools/call", { ...params, ...more })).toMatchObject({
      content: [{ text: "Because of it" }],
    });
    await last.close();
  });
});
