// One definition of a tool, as a task for clients of 2025-11-25 and for those that know the extension.
import assert from "node:assert/strict";
import { inputRequired, type JsonObject } from "halyard";
import { expect, onTestFinished, test, vi } from "vitest";
import { open } from "../../support/catalogue.ts";
import { spoken } from "../../support/answering.ts";
import { settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import {
  accepted,
  capabilities,
  relatedTaskKey,
  taskServer,
  Tasks,
  textOf,
  withTasks,
} from "../../support/tasks.ts";
import { nextTurn, until } from "../../support/turns.ts";

describeMatrix("a tool called as a task", withTasks, (cell) => {
  const isCore = cell.era === "legacy";

  async function client(server: ReturnType<typeof taskServer>["server"]): Promise<Tasks> {
    return new Tasks(await open(cell, server, { capabilities }));
  }

  test("is answered at once with a task that works, in the words of its client [TASK25-CREATE-RESULT, TASK25-FIELDS, TASK25-START, TASK25-AUGMENT, TASKX-RESULTTYPE-TASK, TASKX-FIELDS]", async () => {
    const { server, gate } = taskServer();
    const tasks = await client(server);
    const call = { name: "wait", ...(isCore && { task: {} }) };
    const created = await tasks.client.request("tools/call", call);
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;
    const common = {
      taskId: expect.any(String) as unknown,
      status: "working",
      createdAt: iso,
      lastUpdatedAt: iso,
    };
    const expected = isCore
      ? { task: { ...common, ttl: 3_600_000, pollInterval: 10 } }
      : {
          resultType: "task",
          ...common,
          ttlMs: 3_600_000,
          pollIntervalMs: 10,
          _meta: expect.any(Object) as unknown,
        };
    expect(created).toEqual(expected);
    gate.resolve();
  });

  test("can be looked at as soon as its client knows of it, and until it has ended [TASKX-DURABLE, TASKX-GET-STATUS, TASKX-RESULTTYPE-COMPLETE]", async () => {
    const { server, gate } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("wait");
    const working = await tasks.get(taskId);
    expect(working).toMatchObject({ taskId, status: "working", ...(!isCore && { resultType: "complete" }) });
    expect(working).not.toHaveProperty("result");
    gate.resolve();
    expect(await tasks.ended(taskId)).toMatchObject({
      status: "completed",
      ...(!isCore && { result: textOf("waited") }),
    });
    expect(await tasks.result(taskId)).toMatchObject(textOf("waited"));
  });

  test.each(["quick", "later"])("that ends at once (%s) is a task all the same", async (name) => {
    const { server } = taskServer();
    const tasks = await client(server);
    const { taskId, status } = await tasks.start(name);
    expect(status).toBe("working");
    expect(await tasks.result(taskId)).toMatchObject(textOf(name));
  });

  test("that says it failed has failed for the older client, and is complete for the newer [TASK25-FAILED, TASKX-FAILED-ONLY-RPC]", async () => {
    const { server } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("tool-error");
    const ended = await tasks.ended(taskId);
    expect(ended.status).toBe(isCore ? "failed" : "completed");
    if (isCore) expect(ended.statusMessage).toBe("The printer is on fire");
    expect(await tasks.result(taskId)).toMatchObject({ isError: true, ...textOf("The printer is on fire") });
  });

  test("that ends with an error of the protocol keeps exactly that error [TASK25-RESULT-TERMINAL, TASK25-FAILED, TASKX-FAILED-ERROR, TASKX-GET-STATUS]", async () => {
    const { server } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("rpc-error");
    expect(await tasks.ended(taskId)).toMatchObject({
      status: "failed",
      statusMessage: "No such printer",
      ...(!isCore && { error: { code: -32602, message: "No such printer", data: { printer: 7 } } }),
    });
    await expect(tasks.result(taskId)).rejects.toMatchObject({
      code: -32602,
      message: "No such printer",
      data: { printer: 7 },
    });
  });

  test("that throws tells its client an error id, and the log the rest", async () => {
    const { server, log } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("crash");
    const result = (await tasks.result(taskId)) as { content: { text: string }[] };
    expect(result).toMatchObject({ isError: true });
    const [, errorId] = /error id (\w+)/.exec(result.content[0]?.text ?? "") ?? [];
    expect(JSON.stringify(await tasks.get(taskId))).not.toContain("hunter2");
    expect(log.filter(({ level }) => level === "error").map(({ details }) => details?.["errorId"])).toEqual([
      errorId,
    ]);
  });

  test("asks its client, stands at input_required until it has answered, and continues [TASK25-INPUT-REQUIRED, TASK25-TRANSITIONS, TASKX-GET-STATUS]", async () => {
    const { server } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("ask");
    await tasks.until(taskId, "input_required");
    const question = await tasks.answer(taskId, accepted({ name: "Ada" }));
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "Your name?" } });
    expect(await tasks.result(taskId)).toMatchObject(textOf("Hello, Ada"));
  });

  test("asks nothing a second time when its handler runs again for what it has returned", async () => {
    const { server } = taskServer();
    server.tool("mixed", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      const { text } = await ctx.sample("Say something");
      const roots = ctx.inputResponses?.["where"]?.["roots"];
      if (roots === undefined) return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
      const again = await ctx.sample("Say something");
      return [text, JSON.stringify(roots), again.text].join();
    });
    const tasks = await client(server);
    const { taskId } = await tasks.start("mixed");
    const asked: unknown[] = [];
    for (const answer of [spoken("Ahoy"), { roots: [] }, spoken("Again")]) {
      asked.push((await tasks.answer(taskId, answer))["method"]);
    }
    expect(asked).toEqual(["sampling/createMessage", "roots/list", "sampling/createMessage"]);
    expect(await tasks.result(taskId)).toMatchObject(textOf("Ahoy,[],Again"));
  });

  test("asks a question again whose words have changed when its handler runs again", async () => {
    const { server } = taskServer();
    server.tool("mixed", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      const roots = ctx.inputResponses?.["where"]?.["roots"];
      const { text } = await ctx.sample(roots === undefined ? "Before?" : "After?", { key: "k" });
      if (roots === undefined) return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
      return text;
    });
    const tasks = await client(server);
    const { taskId } = await tasks.start("mixed");
    const asked: unknown[] = [];
    for (const answer of [spoken("Before"), { roots: [] }, spoken("After")]) {
      asked.push((await tasks.answer(taskId, answer))["method"]);
    }
    expect(asked).toEqual(["sampling/createMessage", "roots/list", "sampling/createMessage"]);
    expect(await tasks.result(taskId)).toMatchObject(textOf("After"));
  });

  test("that ends with a question open has none left, and the older client is notified [TASK25-RELATED-META, TASKX-GET-STATUS]", async () => {
    const { server, gate } = taskServer();
    const failures: string[] = [];
    server.tool("impatient", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      ctx.roots().catch((error: Error) => failures.push(error.message));
      await gate.promise;
      return "done";
    });
    const tasks = await client(server);
    const { taskId } = await tasks.start("impatient");
    await tasks.until(taskId, "input_required");
    gate.resolve();
    expect(await tasks.ended(taskId)).not.toHaveProperty("inputRequests");
    expect(failures).toEqual(["roots/list: The call that asked has ended"]);
    const withdrawn = tasks.client.notifications("notifications/cancelled").map(({ params }) => params);
    const about = { _meta: { [relatedTaskKey]: { taskId } } };
    expect(withdrawn).toMatchObject(isCore ? [about] : []);
    expect(await server.push.pendingAsks()).toBe(0);
  });

  test("asks the model of its client", async () => {
    const { server } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("sample");
    const sampled = { role: "assistant", content: { type: "text", text: "Ahoy" }, model: "m" };
    expect(await tasks.answer(taskId, sampled)).toMatchObject({ method: "sampling/createMessage" });
    expect(JSON.stringify(await tasks.result(taskId))).toContain("Ahoy");
  });

  test("is told of its cancellation by its signal, and stays cancelled [TASK25-CANCEL, TASK25-CANCEL-STOP, TASK25-TRANSITIONS, TASKX-CANCEL-ACK]", async () => {
    const { server, gate, aborted, waiting } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("wait");
    await until(() => waiting() === 1);
    const cancelled = await tasks.cancel(taskId);
    if (isCore) expect(cancelled).toMatchObject({ taskId, status: "cancelled" });
    else expect(withoutMeta(cancelled)).toEqual({ resultType: "complete" });
    expect(aborted).toEqual(["The task was cancelled"]);
    gate.resolve();
    // The handler returns at once, and what follows upon it takes no more than promises.
    await nextTurn();
    await settled(tasks.client);
    expect(await tasks.get(taskId)).toMatchObject({ status: "cancelled" });
  });

  test("that is cancelled before its work begins never begins it [TASK25-CANCEL, TASK25-CANCEL-STOP, TASKX-CANCEL-ACK]", async () => {
    const { server, waiting, log } = taskServer();
    const tasks = await client(server);
    // The work begins by a timer, after the reply: here the cancellation comes between the two.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { taskId } = await tasks.start("wait");
    await tasks.cancel(taskId);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    expect(await tasks.ended(taskId)).toMatchObject({ status: "cancelled" });
    expect(waiting()).toBe(0);
    expect(log).toEqual([]);
  });

  test("that has ended is not cancelled: an error for the older client, and as good as done for the newer [TASK25-CANCEL-TERMINAL, TASKX-CANCEL-ACK]", async () => {
    const { server } = taskServer();
    const tasks = await client(server);
    const { taskId } = await tasks.start("quick");
    await tasks.ended(taskId);
    const cancelling = tasks.cancel(taskId);
    if (isCore) await expect(cancelling).rejects.toMatchObject({ code: -32602 });
    else expect(withoutMeta(await cancelling)).toEqual({ resultType: "complete" });
    expect(await tasks.get(taskId)).toMatchObject({ status: "completed" });
  });

  test("is not reached by notifications/cancelled once its client has the task [CANCEL-TASKS]", async () => {
    const { server, gate, aborted } = taskServer();
    const tasks = await client(server);
    const params = { name: "wait", ...(isCore && { task: {} }) };
    const created = await tasks.client.request("tools/call", params, { id: "the-call" });
    const { taskId } = (isCore ? created["task"] : created) as { taskId: string };
    tasks.client.notify("notifications/cancelled", { requestId: "the-call" });
    expect(await tasks.get(taskId)).toMatchObject({ status: "working" });
    expect(aborted).toEqual([]);
    gate.resolve();
    expect(await tasks.result(taskId)).toMatchObject(textOf("waited"));
  });

  test.each(["tasks/get", "tasks/cancel", "tasks/result", "tasks/update"])(
    "%s of a task that never was, or without an id, is -32602 where there is such a method [TASK25-UNKNOWN, TASKX-UNKNOWN-GET, TASKX-UNKNOWN-OTHER, TASKX-REMOVED]",
    async (method) => {
      const { server } = taskServer();
      const tasks = await client(server);
      const isKnown = method === "tasks/update" ? !isCore : method === "tasks/result" ? isCore : true;
      const code = isKnown ? -32602 : -32601;
      for (const taskId of ["nobody-knows", "", "__proto__"]) {
        await expect(tasks.client.request(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
          code,
        });
      }
      // Over HTTP a modern request has to repeat its id in a header, and has none to repeat.
      const unnamed = isKnown && !isCore && cell.transport === "http" ? -32020 : code;
      await expect(tasks.client.request(method, { taskId: 7 })).rejects.toMatchObject({ code: unnamed });
      await expect(tasks.client.request(method)).rejects.toMatchObject({ code: unnamed });
    },
  );

  test("says what it is at by its progress, and the older client hears the rest with its token until the end [PROG-TASK-TOKEN, TASK25-RELATED-META, TASKX-NOTIF-NO-PROGRESS]", async () => {
    const { server, gate } = taskServer();
    let report: (step: number) => void = () => {};
    server.tool("report", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      report = (step) => (ctx.progress(step, 3, `Step ${step}`), ctx.log("warning", { step }));
      report(1);
      await gate.promise;
      report(2);
      return "reported";
    });
    const tasks = await client(server);
    const { taskId } = await tasks.start("report", {}, { _meta: { progressToken: "p" } });
    await expect.poll(async () => (await tasks.get(taskId)).statusMessage).toBe("Step 1");
    gate.resolve();
    await tasks.ended(taskId);
    report(3);
    await tasks.get(taskId);
    const related = { [relatedTaskKey]: { taskId } };
    const told = (method: string): unknown[] =>
      tasks.client.notifications(method).map(({ params }) => params);
    const progress = [1, 2].map((step) => ({
      progressToken: "p",
      progress: step,
      total: 3,
      message: `Step ${step}`,
      _meta: related,
    }));
    expect(told("notifications/progress")).toEqual(isCore ? progress : []);
    const logged = [1, 2].map((step) => ({ level: "warning", data: { step }, _meta: related }));
    expect(told("notifications/message")).toEqual(isCore ? logged : []);
  });

  test("whose log cannot be written as JSON goes on, and the server's log says why", async () => {
    const { server, log } = taskServer();
    server.tool("odd", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      ctx.log("warning", 1n);
      return "went on";
    });
    const tasks = await client(server);
    const { taskId } = await tasks.start("odd");
    expect(await tasks.result(taskId)).toMatchObject(textOf("went on"));
    if (isCore) await expect.poll(() => log.map(({ level }) => level)).toContain("warn");
  });

  test("whose result cannot be kept has failed, and says so", async () => {
    const { server } = taskServer();
    server.tool("odd", { task: { pollIntervalMs: 10 } }, () => ({
      type: "text",
      text: "x",
      _meta: { n: { toJSON: () => assert.fail("not JSON") } },
    }));
    const tasks = await client(server);
    const { taskId } = await tasks.start("odd");
    expect(await tasks.ended(taskId)).toMatchObject({
      status: "failed",
      statusMessage: "The server could not store the result",
    });
    await expect(tasks.result(taskId)).rejects.toMatchObject({ code: -32603 });
  });

  test("has an id of 128 random bits that no other task has [TASK25-ID, TASK25-ID-ENTROPY, TASKX-ID-ENTROPY]", async () => {
    const { server } = taskServer();
    const tasks = await client(server);
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await tasks.start("quick")).taskId),
    );
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(Buffer.from(id, "base64url")).toHaveLength(16);
    const bits = Buffer.concat(ids.map((id) => Buffer.from(id, "base64url")));
    // Every byte of every id varies: none of the 128 bits is a constant.
    for (let at = 0; at < 16; at++) {
      expect(new Set(ids.map((_, index) => bits[index * 16 + at])).size).toBeGreaterThan(5);
    }
  });
});

function withoutMeta({ _meta, ...rest }: JsonObject): JsonObject {
  return rest;
}
