// Tasks in the engine: the server announces a change after it is stored, and a slow or failing engine delays only its tasks.
import { type Backplane, inputRequired, type JsonObject } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { newestModern } from "../../support/raw.ts";
import { join } from "../../support/backplane.ts";
import { type StoredTask, tasksThat } from "../../support/task-backplane.ts";
import { capabilities, taskServer, type TaskFixture, Tasks, textOf, withTasks } from "../../support/tasks.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

const task = { pollIntervalMs: 10 } as const;

describeMatrix("an engine", withTasks, (cell) => {
  async function begin(backplane: Backplane): Promise<TaskFixture & { tasks: Tasks }> {
    const fixture = taskServer({ backplane });
    await join(fixture.server);
    return { ...fixture, tasks: new Tasks(await open(cell, fixture.server, { capabilities })) };
  }

  test("that keeps a task late holds its reply back, and the work too [TASKX-DURABLE]", async () => {
    const gate = deferred();
    const asked = deferred();
    const backplane = tasksThat({
      create: (_, go) => {
        asked.resolve();
        return gate.promise.then(go);
      },
    });
    const { tasks, waiting } = await begin(backplane);
    let isAnswered = false;
    const started = tasks.start("wait").then((created) => ((isAnswered = true), created));
    await asked.promise;
    await settled(tasks.client);
    expect([isAnswered, waiting()]).toEqual([false, 0]);
    gate.resolve();
    const { taskId } = await started;
    expect(await tasks.get(taskId)).toMatchObject({ status: "working" });
  });

  test("that cannot keep a task fails the call, and the work never begins", async () => {
    let isDown = true;
    const backplane = tasksThat({
      create: (_, go) => (isDown ? Promise.reject(new Error("hunter2")) : go()),
    });
    const { tasks, log, waiting } = await begin(backplane);
    const error = await tasks.start("wait").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: -32603 });
    expect(String(error)).not.toContain("hunter2");
    expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(waiting()).toBe(0);
    isDown = false;
    expect(await tasks.start("quick")).toMatchObject({ status: "working" });
  });

  test("that fails while the task works loses its progress and nothing else", async () => {
    const backplane = tasksThat({
      change: (stored, go) => (stored.status === "working" ? Promise.reject(new Error("down")) : go()),
    });
    const { server, tasks, log } = await begin(backplane);
    server.tool("report", { task }, async (_, ctx) => {
      ctx.progress(1);
      return "reported";
    });
    const { taskId } = await tasks.start("report");
    expect(await tasks.result(taskId)).toMatchObject(textOf("reported"));
    expect(log.map(({ message }) => message)).toContain("Could not store a change of a task");
  });

  test("that cannot be read is -32603 for the one request [TASK25-UNKNOWN]", async () => {
    const { tasks } = await begin(tasksThat({ read: () => Promise.reject(new Error("down")) }));
    const { taskId } = await tasks.start("quick");
    await expect(tasks.get(taskId)).rejects.toMatchObject({ code: -32603 });
    await expect(tasks.client.request("tools/list")).resolves.toBeDefined();
  });

  test("that is slow gets the last of many changes, not each, and the end last", async () => {
    const changes: StoredTask[] = [];
    const done = deferred();
    const backplane = tasksThat({
      change: async (stored, go) => {
        changes.push(stored);
        // The first one takes as long as all the work.
        await done.promise;
        return go();
      },
    });
    const { server, tasks } = await begin(backplane);
    server.tool("busy", { task }, async (_, ctx) => {
      for (let step = 1; step <= 1000; step++) {
        ctx.progress(step, 1000);
        if (step % 100 === 0) await nextTurn();
      }
      done.resolve();
      return "busy";
    });
    const { taskId } = await tasks.start("busy");
    expect(await tasks.result(taskId)).toMatchObject(textOf("busy"));
    expect(changes.length).toBeLessThanOrEqual(3);
    expect(changes.at(-1)).toMatchObject({ status: "completed", statusMessage: "1000 of 1000" });
  });

  test("that is slow never makes a task look alive after its end [TASK25-TRANSITIONS]", async () => {
    const held = deferred();
    const backplane = tasksThat({
      change: async (stored, go) => {
        const version = await go();
        if (stored.status === "working") await held.promise;
        return version;
      },
    });
    const { server, tasks } = await begin(backplane);
    server.tool("report", { task }, async (_, ctx) => {
      ctx.progress(1);
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      return "reported";
    });
    const { taskId } = await tasks.start("report");
    await until(async () => (await tasks.get(taskId)).statusMessage === "1");
    const told: unknown[] = [];
    const method = tasks.isCore ? "notifications/tasks/status" : "notifications/tasks";
    if (!tasks.isCore) {
      tasks.client.send({
        jsonrpc: "2.0",
        id: "l",
        method: "subscriptions/listen",
        ...tasks.client.withMeta({ notifications: { taskIds: [taskId] } }),
      });
      await tasks.client.waitFor((message) => "method" in message && message.method.endsWith("acknowledged"));
    }
    await tasks.cancel(taskId);
    held.resolve();
    await nextTurn();
    await tasks.get(taskId);
    told.push(...tasks.client.notifications(method).map(({ params }) => params?.["status"]));
    expect(told).toEqual(["cancelled"]);
  });

  test("is given one task for a call, however often its handler returns questions", async () => {
    const created: StoredTask[] = [];
    const backplane = tasksThat({ create: (stored, go) => (created.push(stored), go()) });
    const { server, tasks } = await begin(backplane);
    server.tool("explicit", { task }, (_, ctx) =>
      ctx.inputResponses === undefined
        ? inputRequired({ inputRequests: { where: { method: "roots/list" } } })
        : "asked",
    );
    const { taskId } = await tasks.start("explicit");
    await tasks.answer(taskId, { roots: [] });
    expect(await tasks.result(taskId)).toMatchObject(textOf("asked"));
    expect(created.map(({ id }) => id)).toEqual([taskId]);
  });
});

describe("a call that is over before its task is kept", () => {
  test("makes no task that anybody could find, and never begins its work", async () => {
    const gate = deferred();
    const records: StoredTask[] = [];
    const cancelled: StoredTask[] = [];
    const backplane = tasksThat({
      create: (stored, go) => (records.push(stored), gate.promise.then(go)),
      change: (stored, go) => (cancelled.push(stored), go()),
    });
    const { server, waiting } = taskServer({ backplane, tasks: { maxRunning: 1 } });
    await join(server);
    const client = await connect(server, { revision: newestModern, capabilities });
    onTestFinished(() => client.close());
    client.send({ jsonrpc: "2.0", id: 9, method: "tools/call", ...client.withMeta({ name: "wait" }) });
    await until(() => records.length === 1);
    client.notify("notifications/cancelled", { requestId: 9 });
    gate.resolve();
    await until(() => cancelled.length === 1);
    expect(cancelled).toMatchObject([{ id: records[0]?.id, status: "cancelled" }]);
    expect(waiting()).toBe(0);
    // The one place is free again.
    expect(await new Tasks(client).start("quick")).toMatchObject({ status: "working" });
  });
});

test("the store in memory takes its tasks through JSON, so that a handler's later changes do not reach them", async () => {
  const { server } = taskServer();
  const meta: Record<string, unknown> = { when: new Date(0) };
  server.tool("dated", { task }, () => ({ type: "text", text: "x", _meta: meta }));
  const client = await connect(server, { revision: newestModern, capabilities });
  onTestFinished(() => client.close());
  const tasks = new Tasks(client);
  const { taskId } = await tasks.start("dated");
  await tasks.ended(taskId);
  meta["when"] = "changed";
  const { content } = (await tasks.result(taskId)) as { content: JsonObject[] };
  expect(content[0]?.["_meta"]).toEqual({ when: "1970-01-01T00:00:00.000Z" });
});
