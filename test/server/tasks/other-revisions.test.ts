// The same tools for clients that know no tasks: they wait for the result, or get an error if the tool can only run as a task.
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { accepted, capabilities, taskServer, Tasks, textOf } from "../../support/tasks.ts";

describeMatrix("tools with tasks before 2025-11-25", { until: "2025-06-18" }, (cell) => {
  test("run inline, whatever the client says of tasks, and nothing is declared or listed of them [TASK25-NOCAP-IGNORE, INIT-CAPS-TASKS-ONLY]", async () => {
    const client = await open(cell, taskServer().server, { capabilities, handshake: false });
    expect(await client.open()).not.toHaveProperty("capabilities.tasks");
    expect(await client.request("tools/call", { name: "later", task: { ttl: 1 } })).toEqual(textOf("later"));
    expect(await client.request("tools/call", { name: "plain", task: {} })).toEqual(textOf("plain"));
    const { tools } = (await client.request("tools/list")) as { tools: object[] };
    for (const tool of tools) expect(tool).not.toHaveProperty("execution");
  });

  test("that must be tasks are refused, and no method of tasks is there", async () => {
    const client = await open(cell, taskServer().server, { capabilities });
    await expect(client.request("tools/call", { name: "must", task: {} })).rejects.toMatchObject({
      code: -32601,
    });
    for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"]) {
      await expect(client.request(method, { taskId: "x" })).rejects.toMatchObject({ code: -32601 });
    }
  });

  const canElicit = cell.revision >= "2025-06-18";
  test.runIf(canElicit)("ask their client while it waits", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    const answer = tasks.client.request("tools/call", { name: "ask" });
    await tasks.answer("", accepted({ name: "Ada" }));
    expect(await answer).toMatchObject(textOf("Hello, Ada"));
  });
});
