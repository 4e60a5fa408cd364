// Tasks as clients know them that declare the extension: what only their form has.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import {
  accepted,
  capabilities,
  extensionForm,
  taskServer,
  Tasks,
  tasksId,
  textOf,
} from "../../support/tasks.ts";

const required = { code: -32021, data: { requiredCapabilities: { extensions: { [tasksId]: {} } } } };

describeMatrix("the extension for tasks", extensionForm, (cell) => {
  test("is declared by a server with such a tool, without the capability of older revisions [TASKX-DECLARE, TASKX-NO-LEGACY-ADVERTISE, TASKX-REMOVED, INIT-CAPS-TASKS-ONLY]", async () => {
    const client = await open(cell, taskServer().server);
    const { capabilities: offered } = await client.request("server/discover");
    expect(offered).toMatchObject({ extensions: { [tasksId]: {} } });
    expect(offered).not.toHaveProperty("tasks");
    const { tools } = (await client.request("tools/list")) as { tools: object[] };
    for (const tool of tools) expect(tool).not.toHaveProperty("execution");
  });

  test("is not there on a server without such a tool [TASKX-DECLARE]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("plain", {}, () => "plain");
    const client = await open(cell, server, { capabilities });
    expect(await client.request("server/discover")).not.toHaveProperty("capabilities.extensions");
    await expect(client.request("tasks/get", { taskId: "x" })).rejects.toMatchObject({ code: -32601 });
  });

  const undeclared = {
    nothing: {},
    "another extension": { extensions: { "com.example/other": {} } },
    "what older clients declare": { tasks: { requests: { tools: { call: {} } } } },
  };
  test.each(Object.entries(undeclared))(
    "is not used for a client that declares %s: it waits for its result, or gets an error that says what is missing [TASKX-UNDECLARED, TASKX-REQUIRED-32021, TASKX-LEGACY-CAP-NONDECLARING, TASKX-METHODS-UNDECLARED]",
    async (_, declared) => {
      const client = await open(cell, taskServer().server, { capabilities: declared });
      const result = await client.request("tools/call", { name: "later", task: {} });
      expect(result).toMatchObject({ resultType: "complete", ...textOf("later") });
      await expect(client.request("tools/call", { name: "must" })).rejects.toMatchObject(required);
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        await expect(client.request(method, { taskId: "x" })).rejects.toMatchObject(required);
      }
    },
  );

  test("is declared by each request for itself [TASKX-UNDECLARED, TASKX-METHODS-UNDECLARED]", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    const { taskId } = await tasks.start("quick");
    const bare = { _meta: { "io.modelcontextprotocol/clientCapabilities": {} } };
    await expect(tasks.client.request("tasks/get", { taskId, ...bare })).rejects.toMatchObject(required);
    expect(await tasks.client.request("tools/call", { name: "quick", ...bare })).toMatchObject(
      textOf("quick"),
    );
  });

  test("params.task means nothing: no tool is refused for it, and no ttl is wished with it [TASKX-REMOVED]", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    expect(await tasks.start("quick", {}, { task: { ttl: 5 } })).toMatchObject({ ttlMs: 3_600_000 });
    expect(await tasks.start("quick", {}, { task: "nonsense" })).toMatchObject({ status: "working" });
    expect(await tasks.start("plain", {}, { task: {} })).toMatchObject({
      resultType: "complete",
      ...textOf("plain"),
    });
  });

  test("tasks/result and tasks/list are unknown, declared or not [TASKX-REMOVED]", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    const { taskId } = await tasks.start("quick");
    for (const method of ["tasks/result", "tasks/list"]) {
      await expect(tasks.client.request(method, { taskId })).rejects.toMatchObject({ code: -32601 });
    }
  });

  test("arguments that do not fit make no task", async () => {
    const client = await open(cell, taskServer().server, { capabilities });
    expect(await client.request("tools/call", { name: "strict", arguments: {} })).toMatchObject({
      resultType: "complete",
      isError: true,
    });
  });

  test("a task has no request state and no related-task metadata, whatever it does [TASKX-NO-REQUESTSTATE]", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    const created = await tasks.start("ask");
    const asking = await tasks.until(created.taskId, "input_required");
    await tasks.answer(created.taskId, accepted({ name: "Ada" }));
    const ended = await tasks.ended(created.taskId);
    for (const view of [created, asking, ended]) {
      expect(JSON.stringify(view)).not.toMatch(/requestState|related-task/);
    }
  });

  test("a failed task, as nothing else, has an error, and no result [TASKX-FAILED-ERROR, TASKX-GET-STATUS]", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    const failed = await tasks.ended((await tasks.start("rpc-error")).taskId);
    expect(failed).toHaveProperty("error.code", -32602);
    expect(failed).not.toHaveProperty("result");
    const done = await tasks.ended((await tasks.start("quick")).taskId);
    expect(done).not.toHaveProperty("error");
    expect(done).not.toHaveProperty("inputRequests");
  });
});
