// The schemas of the tools that the peers register, in Zod as their documentation shows it.
import * as z from "zod";
import { toolDefinitions } from "../baselines/tools.js";

export const echoInput = z.object({ text: z.string() });

const fillerInput = z.object({
  project: z.string().describe("Key of the project, for example WEB"),
  query: z.string().describe("Words that must all occur in it"),
  limit: z.int().min(1).max(100).optional().describe("How many at most"),
  state: z.enum(["open", "closed", "all"]).describe("Which ones"),
});

/** The filler tools with a Zod schema each. */
export function zodFillers(count) {
  return toolDefinitions(count).map(({ name, description }) => ({
    name,
    description,
    inputSchema: fillerInput,
  }));
}

const text = (value) => ({ content: [{ type: "text", text: value }] });

/** Registers on an official server, v1 or v2, either the echo tool or as many filler tools as asked. */
export function registerTools(server, count) {
  if (count === 0) {
    const config = { description: "Echoes the text", inputSchema: echoInput };
    server.registerTool("echo", config, ({ text: words }) => text(words));
  }
  for (const { name, ...config } of zodFillers(count)) {
    server.registerTool(name, config, ({ query }) => text(query));
  }
}
