// The tasks of 2025-11-25 with the one official client that knows them, and what the others get instead.
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "halyard";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/turns.ts";
import type { InteropClient } from "./clients.ts";
import { connected, rowsOf } from "./rows.ts";
import { ways } from "./ways.ts";

const rows = rowsOf(ways);
const sdkRows = rows.filter(({ name }) => name === "sdk 1");
const otherRows = rows.filter(({ name }) => name !== "sdk 1");

const relatedTask = "io.modelcontextprotocol/related-task";

type Tasks = NonNullable<InteropClient["tasks"]>;
type Message = Tasks extends { callToolStream(...args: never): AsyncGenerator<infer M> } ? M : never;

/** The tasks of a client that knows them. */
function tasksOf({ tasks }: InteropClient): Tasks {
  if (tasks === undefined) throw new Error("This client knows no tasks");
  return tasks;
}

/** Calls a tool as a task, and collects its notifications. */
async function follow(
  client: InteropClient,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Message[]> {
  const messages: Message[] = [];
  const params = { name, arguments: args };
  for await (const one of tasksOf(client).callToolStream(params, CallToolResultSchema, { task: {} })) {
    messages.push(one);
  }
  return messages;
}

describe.each(sdkRows)("$name over $way", (row) => {
  const { client, newlyAsked } = connected(row, "everything");
  const tasks = (): Tasks => tasksOf(client());

  /** Begins a task, and leaves it alone. */
  async function begin(name: string, args: Record<string, unknown>): Promise<string> {
    const params = { name, arguments: args };
    const stream = tasks().callToolStream(params, CallToolResultSchema, { task: { ttl: 60_000 } });
    const { value: first } = await stream.next();
    await stream.return();
    if (first?.type !== "taskCreated") throw new Error(`No task was created: ${JSON.stringify(first)}`);
    expect(first.task).toMatchObject({ status: "working", ttl: 60_000, pollInterval: 100 });
    return first.task.taskId;
  }

  test("callToolStream follows a task from its creation to its result, with progress as its status [TASK25-AUGMENT, TASK25-CREATE-RESULT, TASK25-FIELDS, TASK25-START, TASK25-RESULT-TERMINAL]", async () => {
    const messages = await follow(client(), "slow_compute", { seconds: 0.3, label: "sum" });
    expect(messages[0]).toMatchObject({ type: "taskCreated", task: { status: "working" } });
    expect(messages.at(-1)).toMatchObject({
      type: "result",
      result: { content: [{ type: "text", text: "sum: done after 0.3 s" }] },
    });
    const statuses = messages.flatMap((one) => (one.type === "taskStatus" ? [one.task] : []));
    expect(statuses.some(({ statusMessage }) => /^sum: \d of 3$/.test(statusMessage ?? ""))).toBe(true);
    expect(statuses.at(-1)?.status).toBe("completed");
  });

  test("a task is found by its id and in the list, and its result waits for its end [TASK25-LIST, TASK25-RESULT-BLOCK, TASK25-TTL-REPORT, TASK25-RELATED-META]", async () => {
    const taskId = await begin("slow_compute", { seconds: 0.2 });
    expect(await tasks().getTask(taskId)).toMatchObject({ taskId, status: "working", ttl: 60_000 });
    const { tasks: listed } = await tasks().listTasks();
    expect(listed.map((task) => task.taskId)).toContain(taskId);
    const result = await tasks().getTaskResult(taskId, CallToolResultSchema);
    expect(result).toMatchObject({
      content: [{ type: "text", text: "work: done after 0.2 s" }],
      _meta: { [relatedTask]: { taskId } },
    });
    expect(await tasks().getTask(taskId)).toMatchObject({ status: "completed" });
  });

  test("its questions reach the client, marked with the task, and the answers reach it [TASK25-INPUT-REQUIRED, TASK25-INPUT-REQUIRED-RESULT, TASK25-RELATED-META]", async () => {
    const messages = await follow(client(), "confirm_delete", { filename: "old.txt" });
    expect(messages.at(-1)).toMatchObject({
      type: "result",
      result: { content: [{ type: "text", text: "Deleted old.txt" }] },
    });
    const [created] = messages;
    const taskId = created?.type === "taskCreated" ? created.task.taskId : "";
    expect(newlyAsked()).toMatchObject([
      { params: { message: "Delete old.txt?", _meta: { [relatedTask]: { taskId } } } },
    ]);
    const two = await follow(client(), "multi_input");
    expect(two.at(-1)).toMatchObject({ result: { content: [{ type: "text", text: "Ada and Ada" }] } });
    expect(newlyAsked()).toHaveLength(2);
  });

  test("cancelTask ends it, and it can be cancelled only once [TASK25-CANCEL, TASK25-CANCEL-TERMINAL]", async () => {
    const taskId = await begin("slow_compute", { seconds: 60 });
    expect(await tasks().cancelTask(taskId)).toMatchObject({ taskId, status: "cancelled" });
    expect(await tasks().getTask(taskId)).toMatchObject({ status: "cancelled" });
    await expect(tasks().cancelTask(taskId)).rejects.toMatchObject({ code: -32602 });
  });

  test("a tool that fails, and one that must be a task, end as the client expects [TASK25-FAILED]", async () => {
    const messages = await follow(client(), "protocol_error_job");
    expect(messages.at(-1)).toMatchObject({ type: "error" });
    const statuses = messages.flatMap((one) => (one.type === "taskStatus" ? [one.task] : []));
    expect(statuses.at(-1)).toMatchObject({
      status: "failed",
      statusMessage: "The job ended with an error of the protocol",
    });
    // The client refuses by itself what its list says is for tasks only.
    await client().toolNames();
    await expect(client().call("failing_job")).rejects.toMatchObject({ code: -32600 });
  });

  test("an unknown task is refused, and changes of known ones are told [TASK25-UNKNOWN, TASK25-STATUS-NOTIF]", async () => {
    await expect(tasks().getTask("no-such-task")).rejects.toMatchObject({ code: -32602 });
    const taskId = await begin("slow_compute", { seconds: 0.1 });
    const told = expect.objectContaining({
      method: "notifications/tasks/status",
      params: expect.objectContaining({ taskId, status: "completed" }),
    });
    await eventually(() => expect(client().heard).toContainEqual(told));
  });
});

describe.each(sdkRows)("$name over $way", (row) => {
  const { client, newlyAsked } = connected(row, "asking");

  test("a task asks the user, the model and the client, one after the other and together, and is told of a refusal [TASK25-INPUT-REQUIRED, TASK25-RELATED-META, SAMP-DELIVERY-LEGACY, ROOTS-DELIVERY-LEGACY]", async () => {
    const messages = await follow(client(), "long_interview");
    expect(messages.at(-1)).toMatchObject({
      type: "result",
      result: { content: [{ type: "text", text: "Ada, once, shoe, 1 roots, decline" }] },
    });
    const [created] = messages;
    const taskId = created?.type === "taskCreated" ? created.task.taskId : "";
    const marks = newlyAsked().map(
      ({ params }) => (params?.["_meta"] as JsonObject | undefined)?.[relatedTask],
    );
    expect(marks).toEqual(Array.from({ length: 4 }, () => ({ taskId })));
  });

  test("cancelTask aborts the signal of the handler, and the stream of the call ends [TASK25-CANCEL, TASK25-CANCEL-STOP]", async () => {
    const tasks = tasksOf(client());
    const statuses: string[] = [];
    for await (const one of tasks.callToolStream({ name: "wait" }, CallToolResultSchema, { task: {} })) {
      if (!("task" in one)) continue;
      const { taskId, status } = one.task;
      statuses.push(status);
      // By the second look it has begun.
      if (status === "working" && statuses.length === 3) await tasks.cancelTask(taskId);
    }
    expect(statuses).toEqual(["working", "working", "working", "cancelled"]);
    expect(await client().call("how_it_ended")).toMatchObject({
      content: [{ text: expect.stringContaining("The task was cancelled") }],
    });
  });
});

describe.each(otherRows)("$name over $way", (row) => {
  const { client } = connected(row, "everything");

  test("a tool that may be a task is answered with its result [TASKX-UNDECLARED]", async () => {
    const { content } = await client().call("slow_compute", { seconds: 0.1 });
    expect(content).toEqual([{ type: "text", text: "work: done after 0.1 s" }]);
  });

  test("a tool that must be a task is refused [TASK25-TOOL-REQUIRED-ERR, TASKX-REQUIRED-32021]", async () => {
    const code = row.era === "modern" ? -32021 : -32601;
    await expect(client().call("failing_job")).rejects.toMatchObject({ code });
  });
});
