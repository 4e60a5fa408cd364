// Builds a Halyard server: an echo tool and as many filler tools as asked, all in Zod or all in plain JSON Schema.
import { McpServer } from "halyard";
import * as z from "zod";
import { INFO } from "../baselines/messages.js";
import { toolDefinitions } from "../baselines/tools.js";

const zodEcho = z.object({ text: z.string() });
const jsonEcho = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

const zodFiller = z.object({
  project: z.string().describe("Key of the project, for example WEB"),
  query: z.string().describe("Words that must all occur in it"),
  limit: z.int().min(1).max(100).optional().describe("How many at most"),
  state: z.enum(["open", "closed", "all"]).describe("Which ones"),
});

function addEcho(server, schema, isAsync) {
  const input = schema === "zod" ? zodEcho : jsonEcho;
  const echo = isAsync ? async ({ text }) => text : ({ text }) => text;
  server.tool("echo", { description: "Echoes the text", input }, echo);
}

function addFillers(server, schema, count) {
  for (const { name, description, inputSchema } of toolDefinitions(count)) {
    const input = schema === "zod" ? zodFiller : inputSchema;
    server.tool(name, { description, input }, ({ query }) => query);
  }
}

/** A server with `fillers` filler tools and, unless `echo` is false, the echo tool, whose handler may be an async one. */
export function halyardServer({ schema, fillers, echo = true, isAsync = false, options }) {
  const server = new McpServer(INFO, options);
  if (echo) addEcho(server, schema, isAsync);
  addFillers(server, schema, fillers);
  return server;
}
