// Tools that clients may call as tasks, with the names that the suite expects.
import { errorCodes, type McpServer, ProtocolError, ToolError } from "halyard";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";

const named = z.object({ name: z.string() });
const confirmed = z.object({ confirm: z.boolean() });

export function addTaskTools(server: McpServer): void {
  server.tool(
    "greet",
    { description: "Greets, at once.", input: z.object({ name: z.string() }) },
    ({ name }) => `Hello, ${name}!`,
  );

  server.tool(
    "slow_compute",
    {
      description: "Takes some seconds, and says how far it is.",
      input: z.object({ seconds: z.number().min(0).max(60).default(1), label: z.string().default("work") }),
      task: { pollIntervalMs: 100 },
    },
    async ({ seconds, label }, ctx) => {
      const steps = Math.max(1, Math.ceil(seconds * 10));
      for (let step = 1; step <= steps; step++) {
        await sleep((seconds * 1000) / steps, undefined, { signal: ctx.signal });
        ctx.progress(step, steps, `${label}: ${step} of ${steps}`);
      }
      return `${label}: done after ${seconds} s`;
    },
  );

  server.tool(
    "failing_job",
    { description: "Fails after a second.", task: { support: "required", pollIntervalMs: 100 } },
    async (_, ctx) => {
      await sleep(1000, undefined, { signal: ctx.signal });
      throw new ToolError("The job failed");
    },
  );

  server.tool(
    "protocol_error_job",
    { description: "Ends with an error of the protocol.", task: { pollIntervalMs: 100 } },
    async () => {
      await sleep(100);
      throw new ProtocolError(errorCodes.internal, "The job ended with an error of the protocol");
    },
  );

  server.tool(
    "confirm_delete",
    {
      description: "Asks before it deletes.",
      input: z.object({ filename: z.string() }),
      task: { pollIntervalMs: 100 },
    },
    async ({ filename }, ctx) => {
      const { confirm } = await ctx.elicit(`Delete ${filename}?`, confirmed, { key: "confirm" });
      return confirm ? `Deleted ${filename}` : `Kept ${filename}`;
    },
  );

  server.tool(
    "multi_input",
    { description: "Asks two questions at once.", task: { pollIntervalMs: 100 } },
    async (_, ctx) => {
      const [first, second] = await Promise.all([
        ctx.elicit("The first name?", named, { key: "first" }),
        ctx.elicit("The second name?", named, { key: "second" }),
      ]);
      return `${first.name} and ${second.name}`;
    },
  );

  server.tool(
    "test_tool_with_task",
    {
      description: "Asks for a name first, and goes on as a task.",
      task: { starts: "handler", pollIntervalMs: 100 },
    },
    async (_, ctx) => {
      const { name } = await ctx.elicit("What is your name?", named, { key: "user_name" });
      await ctx.startTask();
      await sleep(200, undefined, { signal: ctx.signal });
      return `Hello, ${name}!`;
    },
  );
}
