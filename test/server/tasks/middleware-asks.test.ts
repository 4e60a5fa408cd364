// Middleware that asks, around a call that becomes a task: before there is a task, and in it.
import { inputRequired, type McpServer } from "halyard";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import {
  accepted,
  capabilities,
  coreForm,
  taskServer,
  Tasks,
  textOf,
  withTasks,
} from "../../support/tasks.ts";

const where = inputRequired({ inputRequests: { where: { method: "roots/list" } } });
const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

/** Makes `where` the answer of each call that has not been answered it, before its handler runs. */
const gates: Readonly<Record<string, (server: McpServer) => void>> = {
  "at once": (server) => {
    server.use("tools/call", (_, ctx, next) => (ctx.inputResponses ? next() : (where as never)));
  },
  later: (server) => {
    server.use("tools/call", async (_, ctx, next) => (ctx.inputResponses ? next() : (where as never)));
  },
};

describeMatrix("a task", withTasks, (cell) => {
  test("comes to its result when middleware has asked after its handler", async () => {
    const { server } = taskServer();
    server.use("tools/call", async (_, ctx, next) => {
      const given = await next();
      return ctx.inputResponses ? given : (where as never);
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId } = await tasks.start("quick");
    expect(await tasks.answer(taskId, { roots: [] })).toMatchObject({ method: "roots/list" });
    expect(await tasks.result(taskId)).toMatchObject(textOf("quick"));
  });
});

describeMatrix("a task of 2025-11-25", coreForm, (cell) => {
  test.each(Object.keys(gates))(
    "is the reply to its call when middleware has asked before it, %s",
    async (gate) => {
      const { server } = taskServer();
      gates[gate]?.(server);
      const tasks = new Tasks(await open(cell, server, { capabilities }));
      const starting = tasks.start("quick");
      await tasks.answer("", { roots: [] });
      const { taskId, status } = await starting;
      expect(status).toBe("working");
      expect(await tasks.result(taskId)).toMatchObject(textOf("quick"));
    },
  );

  test("does not ask again what middleware knew before it, when its handler runs again", async () => {
    const { server } = taskServer();
    server.use("tools/call", async (_, ctx, next) => {
      await ctx.elicit("Who?", named);
      return next();
    });
    server.tool("explicit", { task: { pollIntervalMs: 10 } }, (_, ctx) =>
      ctx.inputResponses ? "done" : where,
    );
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const starting = tasks.start("explicit");
    await tasks.answer("", accepted({ name: "Ada" }));
    const { taskId } = await starting;
    expect(await tasks.answer(taskId, { roots: [] })).toMatchObject({ method: "roots/list" });
    expect(await tasks.result(taskId)).toMatchObject(textOf("done"));
  });
});
