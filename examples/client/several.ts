// Several servers at once: their tools under one roof, and a dead server that keeps none of the others from working.
import { McpServer } from "halyard";
import { connectAll } from "halyard/client";

// A server of the same process; the others are a command and a URL.
const clock = new McpServer({ name: "clock", version: "1.0.0" });
clock.tool("year", {}, () => String(new Date().getFullYear()));

const servers = await connectAll(
  {
    clock,
    hello: { command: process.execPath, args: ["--import", "tsx", "examples/hello/server.ts"] },
    gone: "http://127.0.0.1:9/mcp",
  },
  { connectTimeoutMs: 5000, backoff: { firstMs: 50 } },
);

for (const [name, outcome] of servers.outcomes) {
  if (outcome.ok) console.log(`${name}: connected, ${outcome.client.revision}`);
  else console.log(`${name}: ${(outcome.error as Error).message}`);
}

const { tools } = await servers.tools();
console.log(`Tools: ${tools.map(({ name }) => name).join(", ")}`);

for (const [tool, args] of [
  ["clock_year", {}],
  ["hello_greet", { name: "Ada" }],
] as const) {
  const { content } = await servers.callTool(tool, args);
  console.log(tool, content);
}
await servers.close();
