// A tool that asks first, and becomes a task when its handler says so.
import { inputRequired } from "halyard";
import { type Respond, retryOf } from "halyard/testing";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import {
  accepted,
  capabilities,
  coreForm,
  extensionForm,
  taskServer,
  Tasks,
  textOf,
} from "../../support/tasks.ts";
import { join } from "../../support/backplane.ts";
import { tasksThat } from "../../support/task-backplane.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

function laterServer() {
  const fixture = taskServer();
  const started: boolean[] = [];
  fixture.server.tool("order", { task: { starts: "handler", pollIntervalMs: 10 } }, async (_, ctx) => {
    const { name } = await ctx.elicit("What?", named, { key: "what" });
    const size = await ctx.elicit("How big?", named, { key: "size" });
    started.push(...(await Promise.all([ctx.startTask(), ctx.startTask()])));
    const confirmed = await ctx.elicit("Sure?", named, { key: "what" });
    return `${String(size.name)} ${String(name)}, ${String(confirmed.name)}`;
  });
  return { ...fixture, started };
}

describeMatrix("ctx.startTask()", extensionForm, (cell) => {
  test("makes a task of the call after rounds of questions; later ones stand in the task [TASKX-MRTR-FIRST, TASKX-NO-REQUESTSTATE]", async () => {
    const { server, started } = laterServer();
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const call = { name: "order", arguments: {} };
    let answer = await tasks.client.request("tools/call", call);
    for (const [key, name] of [
      ["what", "pizza"],
      ["size", "large"],
    ] as const) {
      expect(answer).toMatchObject({ resultType: "input_required", inputRequests: { [key]: {} } });
      const inputResponses = { [key]: accepted({ name }) };
      answer = await tasks.client.request("tools/call", {
        ...call,
        inputResponses,
        requestState: answer["requestState"],
      });
    }
    expect(answer).toMatchObject({ resultType: "task", status: "working" });
    expect(answer).not.toHaveProperty("requestState");
    const taskId = String(answer["taskId"]);
    await tasks.answer(taskId, accepted({ name: "yes" }));
    expect(await tasks.result(taskId)).toMatchObject(textOf("large pizza, yes"));
    expect(started).toEqual([true, true]);
  });

  test("takes a question that is open along into the task [TASKX-NO-REQUESTSTATE]", async () => {
    const { server } = taskServer();
    server.tool("both", { task: { starts: "handler", pollIntervalMs: 10 } }, async (_, ctx) => {
      const [{ name }, isTask] = await Promise.all([ctx.elicit("What?", named), ctx.startTask()]);
      return `${String(name)} ${isTask}`;
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const answer = await tasks.client.request("tools/call", { name: "both", arguments: {} });
    expect(answer).toMatchObject({ resultType: "task" });
    const taskId = String(answer["taskId"]);
    await tasks.answer(taskId, accepted({ name: "pizza" }));
    expect(await tasks.result(taskId)).toMatchObject(textOf("pizza true"));
  });

  test("is not asked again what it knew before, when its handler runs again in the task", async () => {
    const { server } = taskServer();
    server.tool("mixed", { task: { starts: "handler", pollIntervalMs: 10 } }, async (_, ctx) => {
      const { name } = await ctx.elicit("What?", named, { key: "what" });
      await ctx.startTask();
      if (ctx.inputResponses?.["where"] === undefined)
        return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
      return `${String(name)}, ${String((await ctx.elicit("What?", named)).name)}`;
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const call = { name: "mixed", arguments: {} };
    const { requestState } = await tasks.client.request("tools/call", call);
    const inputResponses = { what: accepted({ name: "pizza" }) };
    const created = await tasks.client.request("tools/call", { ...call, inputResponses, requestState });
    const taskId = String(created["taskId"]);
    expect(await tasks.answer(taskId, { roots: [] })).toMatchObject({ method: "roots/list" });
    await tasks.answer(taskId, accepted({ name: "pasta" }));
    expect(await tasks.result(taskId)).toMatchObject(textOf("pizza, pasta"));
  });

  test("remembers what the client answers in the task to a question that was open before it", async () => {
    const { server } = taskServer();
    server.tool("open", { task: { starts: "handler", pollIntervalMs: 10 } }, async (_, ctx) => {
      const [{ name }] = await Promise.all([ctx.elicit("What?", named), ctx.startTask()]);
      if (ctx.inputResponses !== undefined) return String(name);
      return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId } = await tasks.start("open");
    await tasks.answer(taskId, accepted({ name: "pizza" }));
    expect(await tasks.answer(taskId, { roots: [] })).toMatchObject({ method: "roots/list" });
    expect(await tasks.result(taskId)).toMatchObject(textOf("pizza"));
  });

  test("keeps the answers of earlier rounds for a handler that asks only after it", async () => {
    const { server } = taskServer();
    server.tool("turns", { task: { starts: "handler", pollIntervalMs: 10 } }, async (_, ctx) => {
      const isAnswered = ctx.inputResponses?.["where"] !== undefined;
      if (isAnswered) await ctx.startTask();
      const { name } = await ctx.elicit("What?", named);
      return isAnswered
        ? String(name)
        : inputRequired({ inputRequests: { where: { method: "roots/list" } } });
    });
    const answer: Respond = ({ method }) =>
      method === "roots/list" ? { roots: [] } : accepted({ name: "pizza" });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const first = await tasks.client.request("tools/call", { name: "turns", arguments: {} });
    const second = await tasks.start("turns", {}, retryOf(first, answer));
    const { taskId } = await tasks.start("turns", {}, retryOf(second, answer));
    expect(await tasks.result(taskId)).toMatchObject(textOf("pizza"));
  });

  test("makes no task of a call whose handler did not wait for it and returned questions", async () => {
    const backplane = tasksThat({ create: (_, go) => nextTurn().then(go) });
    const { server } = taskServer({ backplane, tasks: { maxRunning: 1 } });
    await join(server);
    const problems: string[] = [];
    server.tool("careless", { task: { starts: "handler" } }, async (_, ctx) => {
      ctx.startTask().catch((error: Error) => problems.push(error.message));
      return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const answer = await tasks.client.request("tools/call", { name: "careless" });
    expect(answer).toMatchObject({ resultType: "input_required" });
    await until(() => problems.length === 1);
    // The one place for a task is free.
    const { taskId } = await tasks.start("quick");
    expect(await tasks.result(taskId)).toMatchObject(textOf("quick"));
  });

  test("is false for a client that knows no tasks, and the call continues", async () => {
    const { server } = taskServer();
    server.tool("maybe", { task: { starts: "handler" } }, async (_, ctx) => String(await ctx.startTask()));
    const client = await open(cell, server);
    expect(await client.request("tools/call", { name: "maybe" })).toMatchObject(textOf("false"));
  });

  test("throws in a tool that has no tasks, and a handler that never calls it answers the call", async () => {
    const { server } = taskServer();
    server.tool("never", { errors: "message" }, async (_, ctx) => String(await ctx.startTask()));
    server.tool("no-need", { task: { starts: "handler" } }, () => "no need");
    const client = await open(cell, server, { capabilities });
    expect(await client.request("tools/call", { name: "never" })).toMatchObject({
      isError: true,
      ...textOf(
        'ctx.startTask(): tool "never" never runs as a task: set task: { starts: "handler" } in its definition',
      ),
    });
    expect(await client.request("tools/call", { name: "no-need" })).toMatchObject({
      resultType: "complete",
      ...textOf("no need"),
    });
  });

  test.each(["at once", "when its client has them"])(
    "makes no task of a call that has ended with questions, tried %s",
    async (moment) => {
      const { server } = taskServer({ tasks: { maxRunning: 1 } });
      const problems: string[] = [];
      const answered = deferred<void>();
      if (moment === "at once") answered.resolve();
      server.tool("hasty", { task: { starts: "handler" } }, async (_, ctx) => {
        await ctx.elicit("What?", named).catch(() => {});
        await answered.promise;
        await ctx.startTask().catch((error: Error) => problems.push(error.message));
        return "hasty";
      });
      const tasks = new Tasks(await open(cell, server, { capabilities }));
      const answer = await tasks.client.request("tools/call", { name: "hasty" });
      expect(answer).toMatchObject({ resultType: "input_required" });
      answered.resolve();
      await until(() => problems.length === 1);
      // The one place for a task is free.
      const { taskId } = await tasks.start("quick");
      expect(await tasks.result(taskId)).toMatchObject(textOf("quick"));
    },
  );
});

describeMatrix("a tool whose handler starts its task, under 2025-11-25", coreForm, (cell) => {
  test("is a task from the start for a client that asked for one, and asks in it", async () => {
    const { server, started } = laterServer();
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId, status } = await tasks.start("order");
    expect(status).toBe("working");
    for (const name of ["pizza", "large", "yes"]) await tasks.answer(taskId, accepted({ name }));
    expect(await tasks.result(taskId)).toMatchObject(textOf("large pizza, yes"));
    expect(started).toEqual([true, true]);
  });
});
