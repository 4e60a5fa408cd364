// Tasks as clients of 2025-11-25 know them: what only their form has.
import { McpServer, type ServerOptions, UrlElicitationRequired } from "halyard";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import {
  capabilities,
  coreForm,
  relatedTaskKey,
  type TaskFixture,
  taskServer,
  Tasks,
  type TaskView,
  textOf,
} from "../../support/tasks.ts";

describeMatrix("tasks of 2025-11-25", coreForm, (cell) => {
  async function begin(options: ServerOptions = {}): Promise<TaskFixture & { tasks: Tasks }> {
    const fixture = taskServer(options);
    return { ...fixture, tasks: new Tasks(await open(cell, fixture.server, { capabilities })) };
  }

  test("are declared, and each tool says whether it may be called so [TASK25-CAP, INIT-CAPS-TASKS-ONLY]", async () => {
    const { server } = taskServer();
    const client = await open(cell, server, { handshake: false });
    expect(await client.open()).toMatchObject({
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    });
    const { tools } = (await client.request("tools/list")) as {
      tools: { name: string; execution?: object }[];
    };
    const support = Object.fromEntries(tools.map(({ name, execution }) => [name, execution]));
    expect(support).toMatchObject({
      plain: undefined,
      quick: { taskSupport: "optional" },
      must: { taskSupport: "required" },
    });
  });

  test("are not declared by a server whose tools have none, which ignores that one is wanted [TASK25-NOCAP-IGNORE]", async () => {
    const without = new McpServer({ name: "test", version: "1.0.0" });
    without.tool("plain", {}, () => "plain");
    const client = await open(cell, without, { handshake: false });
    expect(await client.open()).not.toHaveProperty("capabilities.tasks");
    expect(await client.request("tools/call", { name: "plain", task: { ttl: 1 } })).toMatchObject(
      textOf("plain"),
    );
    await expect(client.request("tasks/get", { taskId: "x" })).rejects.toMatchObject({ code: -32601 });
  });

  test("are refused for a tool that cannot be one, and a tool that must be one is refused without [TASK25-TOOL-FORBIDDEN-ERR, TASK25-TOOL-REQUIRED-ERR]", async () => {
    const { tasks } = await begin();
    await expect(tasks.start("plain")).rejects.toMatchObject({ code: -32601 });
    await expect(tasks.client.request("tools/call", { name: "must" })).rejects.toMatchObject({
      code: -32601,
    });
    const { taskId } = await tasks.start("must");
    expect(await tasks.result(taskId)).toMatchObject(textOf("must"));
  });

  test("are only for calls that ask for one: others wait for their result", async () => {
    const { tasks } = await begin();
    expect(await tasks.client.request("tools/call", { name: "quick" })).toEqual(textOf("quick"));
    await expect(tasks.start("quick", {}, { task: true })).rejects.toMatchObject({ code: -32602 });
  });

  test("tasks/result waits for the end, and is exactly the result, marked as the task's [TASK25-RESULT-BLOCK, TASK25-RESULT-TERMINAL, TASK25-RELATED-META]", async () => {
    const { tasks, gate } = await begin();
    const { taskId } = await tasks.start("wait");
    let isAnswered = false;
    const waiting = tasks.result(taskId).then((result) => ((isAnswered = true), result));
    await tasks.client.request("ping");
    await tasks.get(taskId);
    expect(isAnswered).toBe(false);
    gate.resolve();
    const expected = { ...textOf("waited"), _meta: { [relatedTaskKey]: { taskId } } };
    expect(await waiting).toEqual(expected);
    expect(await tasks.result(taskId)).toEqual(expected);
  });

  test("tasks/result of a task that is cancelled meanwhile, or whose result is no longer wanted, ends [TASK25-RESULT-BLOCK]", async () => {
    const { tasks } = await begin();
    const { taskId } = await tasks.start("wait");
    const rejected = expect(tasks.result(taskId)).rejects.toMatchObject({
      code: -32600,
      message: "The task has no result: it is cancelled",
    });
    tasks.client.send({ jsonrpc: "2.0", id: "unwanted", method: "tasks/result", params: { taskId } });
    tasks.client.notify("notifications/cancelled", { requestId: "unwanted" });
    await tasks.client.request("ping");
    await tasks.cancel(taskId);
    await rejected;
    expect(tasks.client.received.filter((message) => "id" in message && message.id === "unwanted")).toEqual(
      [],
    );
  });

  test("the parameter decides, whatever the metadata says of another task; other replies carry none [TASK25-PARAM-TRUTH, TASK25-RELATED-META-NOT]", async () => {
    const { tasks } = await begin();
    const [one, other] = [await tasks.start("quick"), await tasks.start("later")];
    const _meta = { [relatedTaskKey]: { taskId: other.taskId } };
    const asked = { taskId: one.taskId, _meta };
    expect(await tasks.client.request("tasks/result", asked)).toMatchObject({
      ...textOf("quick"),
      _meta: { [relatedTaskKey]: { taskId: one.taskId } },
    });
    const seen = await tasks.client.request("tasks/get", asked);
    expect(seen).toMatchObject({ taskId: one.taskId });
    expect(seen).not.toHaveProperty("_meta");
  });

  test("the wished ttl is kept within what the server allows, and told as it is [TASK25-TTL-OVERRIDE, TASK25-TTL-REPORT]", async () => {
    const { tasks } = await begin({ tasks: { ttlMs: 5000, maxTtlMs: 60_000 } });
    const ttlOf = async (ttl: unknown): Promise<unknown> => {
      const { taskId, ttl: told } = await tasks.start("quick", {}, { task: { ttl } });
      expect((await tasks.get(taskId))["ttl"]).toBe(told);
      return told;
    };
    expect(await ttlOf(30_000)).toBe(30_000);
    expect(await ttlOf(10 ** 12)).toBe(60_000);
    expect(await ttlOf(2500.5)).toBe(2501);
    for (const odd of [undefined, null, 0, -1, "long"]) expect(await ttlOf(odd)).toBe(5000);
  });

  test("arguments that do not fit are the result of a task, as they would be of the call [TASK25-CREATE-RESULT, TASK25-RESULT-TERMINAL]", async () => {
    const { tasks } = await begin();
    const inline = await tasks.client.request("tools/call", { name: "strict", arguments: { name: 1 } });
    expect(inline).toMatchObject({ isError: true });
    const { taskId } = await tasks.start("strict", { name: 1 });
    expect(await tasks.ended(taskId)).toMatchObject({ status: "failed" });
    const { _meta, ...result } = await tasks.result(taskId);
    expect(result).toEqual(inline);
  });

  test("each change of status is told with the whole task, and no metadata [TASK25-STATUS-NOTIF, TASK25-RELATED-META-NOT, TASK25-TRANSITIONS]", async () => {
    const { tasks } = await begin();
    const { taskId } = await tasks.start("ask");
    await tasks.answer(taskId, { action: "accept", content: { name: "Ada" } });
    await tasks.result(taskId);
    const method = "notifications/tasks/status";
    await tasks.client.waitFor(
      (message) =>
        "method" in message && message.method === method && message.params?.["status"] === "completed",
    );
    const told = tasks.client.notifications(method).map(({ params }) => params as TaskView);
    expect(told.map(({ status }) => status).filter((status, at, all) => status !== all[at - 1])).toEqual([
      "input_required",
      "working",
      "completed",
    ]);
    expect(told.at(-1)).toEqual(await tasks.get(taskId));
    for (const each of told) expect(each).not.toHaveProperty("_meta");
  });

  test("a question of a task says whose it is [TASK25-RELATED-META]", async () => {
    const { tasks } = await begin();
    const { taskId } = await tasks.start("ask");
    const question = await tasks.answer(taskId, { action: "decline" });
    expect(question).toMatchObject({ params: { _meta: { [relatedTaskKey]: { taskId } } } });
    expect(JSON.stringify(await tasks.result(taskId))).toMatch(/declin/i);
  });

  test("a page that the user has to visit first is the error of the task, as it would be of the call [TASK25-RESULT-TERMINAL]", async () => {
    const { server, tasks } = await begin();
    server.tool("visit", { task: "optional" }, () => {
      throw new UrlElicitationRequired([{ message: "Sign in", url: new URL("https://example.com/") }]);
    });
    const { taskId } = await tasks.start("visit");
    expect(await tasks.ended(taskId)).toMatchObject({ status: "failed" });
    await expect(tasks.result(taskId)).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", url: "https://example.com/" }] },
    });
  });

  test("the extension means nothing here: a call that asks for no task gets none [TASKX-NOT-LEGACY]", async () => {
    const { tasks } = await begin();
    expect(await tasks.client.request("tools/call", { name: "later" })).toEqual(textOf("later"));
    await expect(tasks.client.request("tasks/update", { taskId: "x" })).rejects.toMatchObject({
      code: -32601,
    });
  });
});
