// observe: every task as it is created and as it ends, however it ends.
import { type ServerEvent, type ServerOptions } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { ofType } from "../../support/events.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { join } from "../../support/backplane.ts";
import { tasksThat } from "../../support/task-backplane.ts";
import { capabilities, taskServer, type TaskFixture, Tasks, withTasks } from "../../support/tasks.ts";
import { until } from "../../support/turns.ts";

type TaskEvent = Extract<ServerEvent, { readonly type: "task" }>;
type Status = NonNullable<TaskEvent["status"]>;

describeMatrix("observe of tasks", withTasks, (cell) => {
  interface Begun extends TaskFixture {
    readonly tasks: Tasks;
    /** What was told of tasks. */
    readonly told: () => TaskEvent[];
    /** Resolves when the end of a task is reported. */
    readonly ended: () => Promise<void>;
  }

  async function begin(options: ServerOptions = {}): Promise<Begun> {
    const events: ServerEvent[] = [];
    const fixture = taskServer({ ...options, observe: (event) => void events.push(event) });
    await join(fixture.server);
    const told = (): TaskEvent[] => ofType(events, "task");
    const ended = (): Promise<void> => until(() => told().some(({ state }) => state === "ended"));
    return { ...fixture, told, ended, tasks: new Tasks(await open(cell, fixture.server, { capabilities })) };
  }

  const lifeOf = (taskId: string, tool: string, status: Status): unknown[] => {
    const task = { type: "task", taskId, tool, transport: cell.transport };
    const ended = { state: "ended", status, durationMs: expect.any(Number) };
    return [
      expect.objectContaining({ ...task, state: "created" }),
      expect.objectContaining({ ...task, ...ended }),
    ];
  };

  const toolError: Status = cell.era === "legacy" ? "failed" : "completed";
  const outcomes: readonly [tool: string, status: Status][] = [
    ["quick", "completed"],
    ["later", "completed"],
    ["tool-error", toolError],
    ["rpc-error", "failed"],
    ["crash", toolError],
  ];
  test.each(outcomes)("sees that %s is created, and ends as %s", async (tool, status) => {
    const { tasks, told, ended } = await begin();
    const { taskId } = await tasks.start(tool);
    await ended();
    expect(told()).toEqual(lifeOf(taskId, tool, status));
    for (const { session } of told())
      expect(typeof session).toBe(cell.era === "legacy" ? "string" : "undefined");
    expect(JSON.stringify(told())).not.toMatch(/hunter2|printer/);
  });

  test("sees one end that is cancelled, and not again when its handler ends", async () => {
    const { tasks, told, gate, waiting } = await begin();
    const { taskId } = await tasks.start("wait");
    await until(() => waiting() === 1);
    expect(told()).toEqual(lifeOf(taskId, "wait", "cancelled").slice(0, 1));
    await tasks.cancel(taskId);
    gate.resolve();
    await tasks.client.request("tools/list");
    expect(told()).toEqual(lifeOf(taskId, "wait", "cancelled"));
  });

  test("sees one end whose time is up", async () => {
    const { tasks, told, ended, gate } = await begin({ tasks: { ttlMs: 40 } });
    const { taskId } = await tasks.start("wait");
    await ended();
    gate.resolve();
    await tasks.client.request("tools/list");
    expect(told()).toEqual(lifeOf(taskId, "wait", "expired"));
  });

  test.each(["result", "status"] as const)("sees one fail that a store keeps no %s of", async (member) => {
    const backplane = tasksThat({
      change: (stored, go) =>
        stored[member] === undefined ? go() : Promise.reject(new Error("The disk is full")),
    });
    const { tasks, told, ended } = await begin({ backplane });
    const { taskId } = await tasks.start("quick");
    await ended();
    expect(told()).toEqual(lifeOf(taskId, "quick", "failed"));
  });

  test("sees one end, where it runs, that another process has cancelled", async () => {
    const backplane = memoryBackplane();
    const [here, there] = [await begin({ backplane }), await begin({ backplane })];
    const { taskId } = await here.tasks.start("wait");
    await there.tasks.cancel(taskId);
    here.gate.resolve();
    await here.ended();
    expect(here.told()).toEqual(lifeOf(taskId, "wait", "cancelled"));
    expect(there.told()).toEqual([]);
  });

  test("sees nothing of a call that the store has no room for, nor of one that stays a call", async () => {
    const { tasks, told } = await begin({ tasks: { maxSize: 1 } });
    await expect(tasks.start("quick")).rejects.toMatchObject({ code: -32600 });
    await tasks.client.request("tools/call", { name: "plain" });
    expect(told()).toEqual([]);
  });

  test("may throw, and the task ends all the same", async () => {
    const { server } = taskServer({
      observe: () => {
        throw new Error("observer");
      },
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId } = await tasks.start("quick");
    expect(await tasks.result(taskId)).toMatchObject({ content: [{ text: "quick" }] });
  });
});
