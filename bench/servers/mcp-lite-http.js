// mcp-lite over HTTP: its fetch handler on Hono's Node bridge, with sessions in memory or without any.
import { serve } from "@hono/node-server";
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import * as z from "zod";
import { INFO } from "../baselines/messages.js";
import { answerParent } from "../child-commands.js";
import { echoInput, zodFillers } from "./fillers.js";

const { tools, mode } = JSON.parse(process.argv[2]);
const server = new McpServer({ ...INFO, schemaAdapter: (schema) => z.toJSONSchema(schema) });
const text = (value) => ({ content: [{ type: "text", text: value }] });

let changes = 0;

// It has no way to remove a tool, so every change adds one.
function change() {
  server.tool(`extra_${changes++}`, { handler: () => text("extra") });
}

if (tools === 0) {
  const description = "Echoes the text";
  server.tool("echo", { description, inputSchema: echoInput, handler: (input) => text(input.text) });
}
for (const { name, ...config } of zodFillers(tools)) {
  server.tool(name, { ...config, handler: ({ query }) => text(query) });
}

const sessionAdapter =
  mode === "session" ? new InMemorySessionAdapter({ maxEventBufferSize: 1024 }) : undefined;
const transport = new StreamableHttpTransport({ sessionAdapter });
const fetch = transport.bind(server);
serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => answerParent({ change }, { port }));
