// Asks the user before it deletes a file.
import { McpServer, ToolError } from "halyard";
import { serveHttp } from "halyard/node";
import * as z from "zod";

const files = new Map([
  ["notes.txt", "Bread, olives, lemons"],
  ["old.txt", "Nobody has read this for years"],
]);

const server = new McpServer({ name: "files", version: "1.0.0" });

server.tool("list_files", { annotations: { readOnlyHint: true } }, () => [...files.keys()].join("\n"));

server.tool(
  "delete_file",
  {
    description: "Deletes a file for good, if the user agrees.",
    input: z.object({ name: z.string() }),
    annotations: { destructiveHint: true },
  },
  async ({ name }, ctx) => {
    const text = files.get(name);
    if (text === undefined) throw new ToolError(`There is no file ${name}`);
    const form = z.object({ confirm: z.boolean().describe("Delete it for good") });
    // If the user declines, the call ends here, and the model receives a result that says so.
    const { confirm } = await ctx.elicit(`Delete ${name}? It begins: ${text}`, form, { key: "confirm" });
    if (!confirm) return `Kept ${name}`;
    files.delete(name);
    return `Deleted ${name}`;
  },
);

const { url } = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
console.log(`Serving on ${url}`);
