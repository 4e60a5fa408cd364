// How many tasks run and are kept, and for how long.
import { ConfigurationError, McpServer, MemoryTaskStore, type ServerOptions, type TaskRecord } from "halyard";
import { describe, expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { cpuTime } from "../../support/cpu-time.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { capabilities, taskServer, type TaskFixture, Tasks, textOf, withTasks } from "../../support/tasks.ts";
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

  test("tasks.maxRunning counts a cancelled task whose handler goes on: cancelling is no way past it [TASK25-LIMITS]", async () => {
    const { tasks, gate, waiting } = await begin({ maxRunning: 1 });
    const { taskId } = await tasks.start("wait");
    await until(() => waiting() === 1);
    await tasks.cancel(taskId);
    await expect(tasks.start("quick")).rejects.toMatchObject({ code: -32600 });
    gate.resolve();
    await until(async () => (await tasks.start("quick").catch(() => undefined)) !== undefined);
  });

  test("a task whose time is up is as one that never was, and its handler is told [TASK25-LIMITS, TASKX-TTL, TASKX-UNKNOWN-GET]", async () => {
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
    const { tasks } = await begin({ store: new MemoryTaskStore({ maxTasks: 2 }), ttlMs: 60_000 });
    await tasks.start("quick");
    await tasks.start("quick");
    await expect(tasks.start("quick")).rejects.toMatchObject({ code: -32600 });
    passSeconds(60);
    expect(await tasks.start("quick")).toMatchObject({ status: "working" });
  });

  test("a result that is too large for the store ends its task with an error, even in a full store", async () => {
    const { server, tasks } = await begin({ store: new MemoryTaskStore({ maxSize: 1024 }) });
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
  const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31];

  test.each(["ttlMs", "maxTtlMs", "pollIntervalMs", "maxRunning"])(
    "tasks.%s is refused when it is set",
    (name) => {
      for (const value of wrong) {
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

describe("MemoryTaskStore", () => {
  const recordOf = (id: string, more: Partial<TaskRecord> = {}): TaskRecord => {
    const now = new Date().toISOString();
    const fixed = { owner: "", tool: "t", form: "core", status: "working", pollIntervalMs: 1 } as const;
    return { id, ...fixed, createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, ...more };
  };

  test("maxSize holds for all tasks together, and what a change gives back can be used again", async () => {
    const store = new MemoryTaskStore({ maxSize: 4096 });
    const lastUpdatedAt = new Date().toISOString();
    const message = (length: number): { statusMessage: string; lastUpdatedAt: string } => ({
      statusMessage: "x".repeat(length),
      lastUpdatedAt,
    });
    expect(await store.create(recordOf("a"))).toBe(true);
    expect(await store.create(recordOf("b"))).toBe(true);
    await store.change("", "a", message(2500));
    await expect(store.change("", "b", message(2000))).rejects.toThrow(RangeError);
    expect(await store.create(recordOf("c"))).toBe(false);
    await store.change("", "a", message(1));
    expect(await store.create(recordOf("c"))).toBe(true);
    await store.change("", "b", message(1500));
  });

  test("forgets tasks when their time is up, without being asked, and lets the process end", async () => {
    const store = new MemoryTaskStore({ maxSize: 1024 });
    expect(await store.create(recordOf("a", { ttlMs: 1 }))).toBe(true);
    await until(() => store.create(recordOf("b")));
  });

  test("finds tasks without reading those of others: a list costs what it shows", async () => {
    const store = new MemoryTaskStore();
    const result = { content: [{ type: "text", text: "x".repeat(1_000_000) }] };
    for (let index = 0; index < 40; index++) {
      await store.create(recordOf(`big-${index}`, { owner: "other", result }));
    }
    await store.create(recordOf("mine"));
    const cost = await cpuTime(async () => {
      for (let time = 0; time < 50; time++) expect(await store.list("", { limit: 10 })).toHaveLength(1);
    });
    // Reading 40 MB of JSON fifty times takes seconds.
    expect(cost).toBeLessThan(500);
  });
});
