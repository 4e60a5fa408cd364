// A task that is cancelled before its handler has begun.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { describeMatrix } from "../support/matrix.ts";

const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };

describeMatrix("tasks/cancel", { since: "2025-11-25", transports: ["memory"] }, ({ era, connect }) => {
  test("right after the reply keeps the handler from beginning [TASK25-CANCEL, TASK25-CANCEL-STOP, TASKX-CANCEL-ACK]", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    let begun = 0;
    server.tool("work", { task: "optional" }, () => `${++begun}`);
    const client = await connect(server, { capabilities });
    const wish = era === "legacy" ? { task: {} } : {};
    const created = await client.request("tools/call", { name: "work", ...wish });
    const { taskId } = (created["task"] ?? created) as { taskId: string };
    await client.request("tasks/cancel", { taskId });
    // Longer than the handler waits for the reply to be on its way.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await client.request("tasks/get", { taskId })).toMatchObject({ status: "cancelled" });
    expect(begun).toBe(0);
    expect(logger.entries).toEqual([]);
    await client.close();
  });
});
