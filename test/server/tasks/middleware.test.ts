// Middleware and output schemas stand before what a task comes to, as before any result.
import type { CallToolResult } from "halyard";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { accepted, capabilities, taskServer, Tasks, textOf, withTasks } from "../../support/tasks.ts";

describeMatrix("a task", withTasks, (cell) => {
  test("comes to what middleware makes of its result, wherever the result is read", async () => {
    const { server } = taskServer();
    const seen: unknown[] = [];
    server.use("tools/call", async (request, _, next) => {
      const given = await next();
      seen.push([request.params.name, given.content]);
      const content = given.content.map((block) =>
        block.type === "text" ? { ...block, text: block.text.replace("Ada", "***") } : block,
      );
      return { ...given, content } as CallToolResult;
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId } = await tasks.start("ask");
    await tasks.answer(taskId, accepted({ name: "Ada" }));
    expect(await tasks.result(taskId)).toMatchObject(textOf("Hello, ***"));
    expect(JSON.stringify(await tasks.get(taskId))).not.toContain("Ada");
    expect(seen).toEqual([["ask", [{ type: "text", text: "Hello, Ada" }]]]);
  });

  test("fails with what middleware throws after its handler, and is never begun when it throws before", async () => {
    const { server, waiting } = taskServer();
    server.use("tools/call", async (request, _, next) => {
      if (request.params.name === "wait") throw new Error("not allowed");
      await next();
      throw new Error("not shown");
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    await expect(tasks.start("wait")).rejects.toMatchObject({ code: -32603 });
    expect(waiting()).toBe(0);
    const { taskId } = await tasks.start("quick");
    expect(await tasks.ended(taskId)).toMatchObject({ status: "failed" });
    await expect(tasks.result(taskId)).rejects.toMatchObject({ code: -32603 });
  });

  test("has its output checked: what fits is structured, what does not is an error with an id", async () => {
    const { server, log } = taskServer();
    const output = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;
    server.tool("sum", { task: { pollIntervalMs: 10 }, output }, async () => ({ sum: 3 }));
    server.tool("wrong", { task: { pollIntervalMs: 10 }, output }, async () => ({ sum: "3" }));
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const sum = await tasks.start("sum");
    expect(await tasks.result(sum.taskId)).toMatchObject({ structuredContent: { sum: 3 } });
    const wrong = await tasks.start("wrong");
    expect(await tasks.ended(wrong.taskId)).toMatchObject({ status: "failed" });
    await expect(tasks.result(wrong.taskId)).rejects.toMatchObject({
      code: -32603,
      data: { errorId: expect.any(String) as unknown },
    });
    expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  test("has what middleware gave to its handler, after its request is over", async () => {
    const { server, gate } = taskServer();
    const extended = server.use<{ user: string }>((_, __, next) => next({ user: "ada" }));
    extended.tool("who", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      await gate.promise;
      return `${ctx.user} over ${ctx.transport}`;
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId } = await tasks.start("who");
    gate.resolve();
    expect(await tasks.result(taskId)).toMatchObject(textOf(`ada over ${cell.transport}`));
  });
});
