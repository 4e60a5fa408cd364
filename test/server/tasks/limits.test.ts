// How many tasks run and are kept, and for how long.
import { ConfigurationError, McpServer, type ServerOptions } from "halyard";
import { Connection } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { cpuTime } from "../../support/cpu-time.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { capabilities, taskServer, type TaskFixture, Tasks, textOf, withTasks } from "../../support/tasks.ts";
import { type Answer, initializeRequest, metaKeys, newestModern, RawPeer } from "../../support/raw.ts";
import { until } from "../../support/turns.ts";

describeMatrix("limits of tasks", withTasks, (cell) => {
  async function begin(
    options: NonNullable<ServerOptions["tasks"]>,
  ): Promise<TaskFixture & { tasks: Tasks }> {
    const fixture = taskServer({ tasks: options });
    return { ...fixture, tasks: new Tasks(await open(cell, fixture.server, { capabilities })) };
  }

  test("tasks.maxRunning refuses one more, until one has ended [TASK25-LIMITS]", async () => {
    const { tasks, gate } = await begin({ maxRunning: 2 });
    const [one] = [await tasks.start("wait"), await tasks.start("wait")];
    await expect(tasks.start("quick")).rejects.toMatchObject({ code: -32600 });
    gate.resolve();
    await tasks.result(one.taskId);
    await until(async () => (await tasks.start("quick").catch(() => undefined)) !== undefined);
  });

  test("tasks.maxRunning counts a cancelled task whose handler continues: cancelling is no way past it [TASK25-LIMITS]", async () => {
    const { tasks, gate, waiting } = await begin({ maxRunning: 1 });
    const { taskId } = await tasks.start("wait");
    await until(() => waiting() === 1);
    await tasks.cancel(taskId);
    await expect(tasks.start("quick")).rejects.toMatchObject({ code: -32600 });
    gate.resolve();
    await until(async () => (await tasks.start("quick").catch(() => undefined)) !== undefined);
  });

  test("a task whose time is up is as one that never was, and its handler is notified [TASK25-LIMITS, TASKX-TTL, TASKX-UNKNOWN-GET]", async () => {
    const { tasks, aborted } = await begin({ ttlMs: 60 });
    const { taskId } = await tasks.start("wait");
    if (tasks.isCore) await expect(tasks.result(taskId)).rejects.toMatchObject({ code: -32602 });
    await until(() => aborted.length === 1);
    expect(aborted).toEqual(["The task has expired"]);
    await expect(tasks.get(taskId)).rejects.toMatchObject({ code: -32602, message: "Unknown task" });
    await expect(tasks.cancel(taskId)).rejects.toMatchObject({ code: -32602, message: "Unknown task" });
  });

  test("a store that is full refuses the next task, and takes one when another's time is up", async () => {
    stopClock();
    const { tasks } = await begin({ maxTasks: 2, ttlMs: 60_000 });
    await tasks.start("quick");
    await tasks.start("quick");
    await expect(tasks.start("quick")).rejects.toMatchObject({ code: -32600 });
    passSeconds(60);
    expect(await tasks.start("quick")).toMatchObject({ status: "working" });
  });

  test("a result that is too large for the store ends its task with an error, even in a full store", async () => {
    const { server, tasks } = await begin({ maxSize: 1024 });
    server.tool("large", { task: { pollIntervalMs: 10 } }, () => "x".repeat(2000));
    const { taskId } = await tasks.start("large");
    expect(await tasks.ended(taskId)).toMatchObject({
      status: "failed",
      statusMessage: "The server could not store the result",
    });
  });

  test("a tool's own times go before the server's", async () => {
    const { server, tasks } = await begin({ ttlMs: 5000 });
    server.tool("own", { task: { ttlMs: 1234, pollIntervalMs: 77 } }, () => "own");
    const times = tasks.isCore ? { ttl: 1234, pollInterval: 77 } : { ttlMs: 1234, pollIntervalMs: 77 };
    const { taskId } = await tasks.start("own");
    expect(await tasks.get(taskId)).toMatchObject(times);
    expect(await tasks.result(taskId)).toMatchObject(textOf("own"));
  });
});

describe("times and numbers that cannot work", () => {
  const wrongNumbers = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY];
  const wrong = [...wrongNumbers, 2 ** 31];

  test.each(["ttlMs", "maxTtlMs", "pollIntervalMs", "maxRunning", "maxTasks", "maxSizePerPrincipal"])(
    "tasks.%s is refused when it is set",
    (name) => {
      for (const value of name.endsWith("Ms") ? wrong : wrongNumbers) {
        const make = (): McpServer =>
          new McpServer({ name: "test", version: "1.0.0" }, { tasks: { [name]: value } });
        expect(make, String(value)).toThrow(ConfigurationError);
      }
    },
  );

  test.each(["ttlMs", "pollIntervalMs"])("task.%s of a tool is refused when it is registered", (name) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    for (const value of wrong) {
      const add = (): unknown => server.tool("work", { task: { [name]: value } }, () => "");
      expect(add, String(value)).toThrow(ConfigurationError);
    }
    for (const given of ["never", { support: "forbidden" }, { starts: "soon" }]) {
      expect(() => server.tool("work", { task: given as "optional" }, () => "")).toThrow(ConfigurationError);
    }
  });
});

describe("tasks in memory", () => {
  async function peerOf(server: McpServer, revision: string, subject: string): Promise<RawPeer> {
    const connection = new Connection({ transport: "memory", principal: { issuer: "i", subject } });
    const peer = new RawPeer(server, revision, connection);
    if (revision !== newestModern) await peer.say(initializeRequest(0, revision));
    return peer;
  }
  const _meta = { [metaKeys.clientCapabilities]: capabilities };

  test("are forgotten when their time is up, without being asked, and let the process end", async () => {
    const { server } = taskServer({ tasks: { maxTasks: 1, ttlMs: 1 } });
    const peer = await peerOf(server, newestModern, "a");
    const start = (): Promise<Answer> => peer.request("tools/call", { name: "quick", _meta });
    await start();
    await until(async () => (await start()).error === undefined);
  });

  test("are found without reading those of others: a list costs what it shows", async () => {
    const { server } = taskServer();
    server.tool("big", { task: { pollIntervalMs: 10 } }, () => "x".repeat(1_000_000));
    const [other, mine] = [
      await peerOf(server, "2025-11-25", "other"),
      await peerOf(server, "2025-11-25", "mine"),
    ];
    for (let index = 0; index < 15; index++) await other.request("tools/call", { name: "big", task: {} });
    await mine.request("tools/call", { name: "quick", task: {} });
    const cost = await cpuTime(async () => {
      for (let time = 0; time < 150; time++) {
        const { result } = await mine.request("tasks/list");
        expect(result?.["tasks"]).toHaveLength(1);
      }
    });
    // Reading 15 MB of JSON so often takes seconds.
    expect(cost).toBeLessThan(500);
  });

  test("of one caller without a principal leave room for the results of others", async () => {
    const { server } = taskServer({ tasks: { maxSize: 100_000 } });
    server.tool("big", { task: { pollIntervalMs: 10 } }, () => "x".repeat(10_000));
    const statuses = async (peer: RawPeer, count: number): Promise<unknown[]> => {
      const ended: unknown[] = [];
      for (let at = 0; at < count; at++) {
        const { result } = await peer.request("tools/call", { name: "big", _meta });
        const { taskId } = result as { taskId: string };
        const status = async (): Promise<unknown> =>
          (await peer.request("tasks/get", { taskId, _meta })).result?.["status"];
        await until(async () => (await status()) !== "working");
        ended.push(await status());
      }
      return ended;
    };
    const peerOfAddress = (caller: string): RawPeer =>
      new RawPeer(server, newestModern, new Connection({ transport: "memory", caller }));
    const greedy = await statuses(peerOfAddress("203.0.113.7"), 12);
    expect(greedy.filter((status) => status === "completed").length).toBeGreaterThan(3);
    expect(greedy.at(-1)).toBe("failed");
    expect(await statuses(peerOfAddress("198.51.100.9"), 1)).toEqual(["completed"]);
  });
});
