// Tools that send something before their result: logs, progress, and a stream that closes and resumes.
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "halyard";

const pauseMs = 50;

export function addReportingTools(server: McpServer): void {
  server.tool(
    "test_tool_with_logging",
    { description: "Sends three log messages while it runs." },
    async (_, ctx) => {
      ctx.log("info", "Tool execution started");
      await sleep(pauseMs);
      ctx.log("info", "Tool processing data");
      await sleep(pauseMs);
      ctx.log("info", "Tool execution completed");
      return "Tool with logging executed successfully";
    },
  );

  server.tool(
    "test_tool_with_progress",
    { description: "Reports progress three times while it runs." },
    async (_, ctx) => {
      for (const done of [0, 50, 100]) {
        ctx.progress(done, 100, `Completed step ${done} of 100`);
        await sleep(pauseMs);
      }
      return "Tool with progress executed successfully";
    },
  );

  server.tool(
    "test_logging_tool",
    { description: "Logs to whoever asked for logs of this request." },
    (_, ctx) => {
      ctx.log("info", "A message for those who asked for one");
      return "Logged";
    },
  );

  server.tool(
    "test_reconnection",
    { description: "Closes its stream before it answers: the client comes back for the result." },
    async (_, ctx) => {
      await sleep(pauseMs);
      ctx.closeStream();
      await sleep(2 * pauseMs);
      return "Reconnection test completed successfully: the client came back for this result";
    },
  );
}
