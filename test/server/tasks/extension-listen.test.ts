// notifications/tasks: a listen request names tasks, and hears where they stand.
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { listen, paramsOf, stampedWith, startListening, subscriptionIdKey } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { accepted, capabilities, extensionForm, taskServer, Tasks, tasksId } from "../../support/tasks.ts";
import { deferred, until } from "../../support/turns.ts";

describeMatrix("a listen request for taskIds", extensionForm, (cell) => {
  test("is acknowledged with the tasks there are, and hears each change as tasks/get would say it [TASKX-NOTIF-SUBSCRIBE, TASKX-NOTIF-SHAPE, TASKX-NOTIF-NO-PROGRESS]", async () => {
    const { server } = taskServer();
    const gate = deferred();
    server.tool("steps", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      await gate.promise;
      ctx.progress(1, 2, "Half");
      ctx.log("error", "said in the log");
      const { name } = await ctx.elicit("Your name?", {
        type: "object",
        properties: { name: { type: "string" } },
      });
      return `Hello, ${String(name)}`;
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "debug" };
    const { taskId } = await tasks.start("steps", {}, { _meta: meta });
    const other = await tasks.start("quick");
    await tasks.ended(other.taskId);
    const honoured = await listen(tasks.client, { taskIds: [taskId, "unknown", taskId] }, "l");
    expect(honoured).toEqual({ taskIds: [taskId] });
    gate.resolve();
    const asking = await tasks.until(taskId, "input_required");
    await tasks.answer(taskId, accepted({ name: "Ada" }));
    const ended = await tasks.ended(taskId);
    const told = (): unknown[] =>
      tasks.client.notifications("notifications/tasks").map(({ params }) => params);
    await until(() => JSON.stringify(told()).includes('"completed"'));
    const stamp = { _meta: { [subscriptionIdKey]: "l" } };
    const seen = (view: typeof ended): object => ({ ...view, resultType: undefined, ...stamp });
    expect(told()).toContainEqual(seen(asking));
    expect(told().at(-1)).toEqual(seen(ended));
    const methods = stampedWith(tasks.client.received, "l").map(
      (message) => "method" in message && message.method,
    );
    expect(new Set(methods)).toEqual(
      new Set(["notifications/subscriptions/acknowledged", "notifications/tasks"]),
    );
    for (const method of ["notifications/progress", "notifications/message", "notifications/tasks/status"]) {
      expect(tasks.client.notifications(method)).toEqual([]);
    }
  });

  test("hears that the task was cancelled", async () => {
    const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
    const { taskId } = await tasks.start("wait");
    await listen(tasks.client, { taskIds: [taskId] }, "l");
    await tasks.cancel(taskId);
    const told = await tasks.client.waitFor(
      (message) => "method" in message && message.method === "notifications/tasks",
    );
    expect(paramsOf(told)).toMatchObject({ taskId, status: "cancelled" });
  });

  test("that names no task of its own gets the rest of its filter", async () => {
    const client = await open(cell, taskServer().server, { capabilities });
    expect(await listen(client, { taskIds: ["unknown"], toolsListChanged: true }, "l")).toEqual({
      toolsListChanged: true,
    });
  });

  test("of a client that did not declare the extension is refused, and of wrong parameters too [TASKX-NOTIF-UNDECLARED]", async () => {
    const { server } = taskServer();
    const bare = await open(cell, server);
    const error = { code: -32021, data: { requiredCapabilities: { extensions: { [tasksId]: {} } } } };
    await expect(
      bare.request("subscriptions/listen", { notifications: { taskIds: [] } }),
    ).rejects.toMatchObject(error);
    const client = await open(cell, server, { capabilities });
    for (const taskIds of [true, "x", [1]]) {
      startListening(client, { taskIds }, "wrong");
      const answer = await client.waitFor((message) => "id" in message && message.id === "wrong");
      expect(answer).toMatchObject({ error: { code: -32602 } });
      client.received.length = 0;
    }
  });
});
