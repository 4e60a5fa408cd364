// Tasks, in both forms of the protocol, over HTTP.
import { expect, test } from "vitest";
import { open } from "../support/catalogue.ts";
import { listen, paramsOf } from "../support/listen.ts";
import { type Cell, cells } from "../support/matrix.ts";
import {
  accepted,
  capabilities,
  type TaskFixture,
  taskServer,
  Tasks,
  textOf,
  withTasks,
} from "../support/tasks.ts";
import { until } from "../support/turns.ts";
import { contract, optionsOn } from "./columns.ts";

/** Each revision that knows tasks. */
const forms = cells({ ...withTasks, transports: ["http"] });

contract("tasks", (column) => {
  async function begin(cell: Cell): Promise<TaskFixture & { tasks: Tasks }> {
    const fixture = taskServer(optionsOn(column));
    return { ...fixture, tasks: new Tasks(await open(cell, fixture.server, { capabilities })) };
  }

  test.each(forms)("one is created, can be looked at, and its result read · $revision", async (cell) => {
    const { tasks, gate } = await begin(cell);
    const { taskId, status } = await tasks.start("wait");
    expect(status).toBe("working");
    expect(await tasks.get(taskId)).toMatchObject({ taskId, status: "working" });
    gate.resolve();
    expect(await tasks.ended(taskId)).toMatchObject({ status: "completed" });
    for (let round = 0; round < 2; round++) {
      expect(await tasks.result(taskId)).toMatchObject(textOf("waited"));
    }
  });

  test.each(forms)("one that fails ends with the error of its call · $revision", async (cell) => {
    const { tasks } = await begin(cell);
    const { taskId } = await tasks.start("rpc-error");
    expect(await tasks.ended(taskId)).toMatchObject({ status: "failed" });
    await expect(tasks.result(taskId)).rejects.toMatchObject({ code: -32602, data: { printer: 7 } });
  });

  test.each(forms)("one asks its client, and continues with the answer · $revision", async (cell) => {
    const { tasks, server } = await begin(cell);
    const { taskId } = await tasks.start("ask");
    await tasks.until(taskId, "input_required");
    // A client of the older form answers where it waits for the result.
    const result = tasks.result(taskId);
    await tasks.answer(taskId, accepted({ name: "Ada" }));
    expect(await result).toMatchObject(textOf("Hello, Ada"));
    expect(await server.push.pendingAsks()).toBe(0);
  });

  test.each(forms)("one is cancelled, and a late result changes nothing · $revision", async (cell) => {
    const { tasks, gate, aborted, waiting } = await begin(cell);
    const { taskId } = await tasks.start("wait");
    await until(() => waiting() === 1);
    await tasks.cancel(taskId);
    await until(() => aborted.length === 1);
    gate.resolve();
    await tasks.result((await tasks.start("quick")).taskId);
    expect(await tasks.get(taskId)).toMatchObject({ status: "cancelled" });
  });

  test.each(forms)("the client is notified of the end of one · $revision", async (cell) => {
    const { tasks, gate } = await begin(cell);
    const { taskId } = await tasks.start("wait");
    if (!tasks.isCore)
      expect(await listen(tasks.client, { taskIds: [taskId] }, "l")).toEqual({ taskIds: [taskId] });
    gate.resolve();
    const method = tasks.isCore ? "notifications/tasks/status" : "notifications/tasks";
    const told = await tasks.client.waitFor(
      (message) =>
        "method" in message && message.method === method && paramsOf(message)["status"] === "completed",
    );
    expect(paramsOf(told)).toMatchObject({ taskId, status: "completed" });
  });

  test("all of one client are listed, oldest first, and none of another", async () => {
    const cell = forms.find(({ era }) => era === "legacy");
    if (cell === undefined) throw new Error("No revision lists tasks");
    const { tasks, server } = await begin(cell);
    const started: string[] = [];
    for (const name of ["wait", "quick", "wait"]) started.push((await tasks.start(name)).taskId);
    const { tasks: listed } = (await tasks.client.request("tasks/list")) as { tasks: { taskId: string }[] };
    expect(listed.map(({ taskId }) => taskId)).toEqual(started);
    const other = new Tasks(await open(cell, server, { capabilities }));
    expect(await other.client.request("tasks/list")).toMatchObject({ tasks: [] });
  });
});
