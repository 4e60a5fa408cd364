// The tools that fill a list: a description and four properties each, 500 to 600 bytes of JSON a tool. 200 of them stay
// below 128 KB: V8 keeps longer strings apart, and the tenfold cost of that would hide everything else.
import { INFO } from "./messages.js";

const inputSchema = {
  type: "object",
  properties: {
    project: { type: "string", description: "Key of the project, for example WEB" },
    query: { type: "string", description: "Words that must all occur in it" },
    limit: { type: "integer", minimum: 1, maximum: 100, description: "How many at most" },
    state: { type: "string", enum: ["open", "closed", "all"], description: "Which ones" },
  },
  required: ["project", "query", "state"],
};

/** `count` distinct tools in the shape `tools/list` sends. */
export function toolDefinitions(count) {
  return Array.from({ length: count }, (_, index) => ({
    name: `search_issues_${index}`,
    description: `Searches the issues of team ${index}; returns the newest matches first, with title and link.`,
    inputSchema,
  }));
}

/** The text of a ready-made `tools/list` result with `count` tools. */
export function listResult(count) {
  return JSON.stringify({
    tools: toolDefinitions(count),
    resultType: "complete",
    _meta: { "io.modelcontextprotocol/serverInfo": INFO },
  });
}
