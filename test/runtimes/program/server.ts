// The server of the checks: a tool for each thing that a runtime could get wrong.
import { McpServer, ToolError } from "halyard";

const textInput = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
const sizeInput = { type: "object", properties: { size: { type: "integer" } }, required: ["size"] } as const;

export const noteUri = "note:///today";
/** What `noisy` prints to standard output, in every way that all runtimes have. */
export const noises = ["log", "info", "debug", "dir", "table", "group", "count", "stdout"] as const;

export function createServer(): McpServer {
  const server = new McpServer({ name: "runtimes", version: "1.0.0" });
  server.tool("echo", { input: textInput }, (args) => (args as { text: string }).text);
  server.tool("big", { input: sizeInput }, (args) => "x".repeat((args as { size: number }).size));
  server.tool("steps", {}, async (_, ctx) => {
    for (const step of [1, 2, 3]) {
      ctx.progress(step, 3, `Step ${step}`);
      await pause(5);
    }
    return "Three steps";
  });
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Which name?", {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    });
    return `Hello ${String(name)}`;
  });
  server.tool("report", { task: { support: "optional", pollIntervalMs: 100 } }, async () => {
    await pause(20);
    return "A report";
  });
  server.tool("wait", {}, async (_, ctx) => {
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    return "never sent";
  });
  server.tool("fail", {}, () => {
    throw new ToolError("It failed");
  });
  server.tool("whoami", {}, (_, ctx) => ctx.principal?.subject ?? "nobody");
  server.resource(noteUri, { name: "today" }, () => "Buy milk");
  addChanges(server);
  addProcessTools(server);
  return server;
}

function addChanges(server: McpServer): void {
  let added = 0;
  server.tool("add", {}, () => {
    server.tool(`added-${++added}`, {}, () => "");
    return "Added";
  });
  server.tool("touch", {}, async () => `Told ${await server.resources.updated(noteUri)}`);
}

/** Tools about the process of the server. */
function addProcessTools(server: McpServer): void {
  server.tool("pid", {}, () => String(process.pid));
  server.tool("die", {}, () => {
    process.kill(process.pid, "SIGKILL");
    return new Promise<string>(() => {});
  });
  server.tool("noisy", {}, () => {
    console.log("noise: log");
    console.info("noise: info");
    console.debug("noise: debug");
    console.dir("noise: dir");
    console.table([["noise: table"]]);
    console.group("noise: group");
    console.groupEnd();
    console.count("noise: count");
    process.stdout.write("noise: stdout\n");
    return "quiet";
  });
}

export function pause(timeMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, timeMs));
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5);
}
