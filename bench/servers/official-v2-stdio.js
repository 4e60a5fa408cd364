// The official SDK v2 serving one Zod echo tool on stdio, as its documentation shows it.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
import { INFO } from "../baselines/messages.js";

serveStdio(() => {
  const server = new McpServer(INFO);
  const config = { description: "Echoes the text", inputSchema: z.object({ text: z.string() }) };
  server.registerTool("echo", config, ({ text }) => ({ content: [{ type: "text", text }] }));
  return server;
});
