// A server with ten Zod tools, some with output: what the types of Halyard cost the compiler.
import { McpServer, result, text, ToolError } from "halyard";
import { serveStdio } from "halyard/stdio";
import * as z from "zod";

const server = new McpServer({ name: "ten-tools", version: "1.0.0" });

server.tool("echo", { input: z.object({ message: z.string() }) }, ({ message }) => message);

server.tool(
  "add",
  { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
  ({ a, b }) => ({ sum: a + b }),
);

server.tool(
  "search",
  {
    title: "Search the notes",
    input: z.object({
      query: z.string().min(1),
      limit: z.number().int().max(100).default(10),
      tags: z.array(z.string()).optional(),
    }),
    output: z.object({ hits: z.array(z.object({ id: z.string(), score: z.number() })) }),
    annotations: { readOnlyHint: true },
  },
  ({ query, limit, tags = [] }) => ({ hits: [query, ...tags].slice(0, limit).map(toHit) }),
);

server.tool(
  "resize",
  { input: z.object({ size: z.discriminatedUnion("kind", [box(), scale()]) }) },
  ({ size }) => (size.kind === "box" ? `${size.width} by ${size.height}` : `times ${size.factor}`),
);

server.tool(
  "book",
  {
    input: z.object({
      seat: z.string(),
      passengers: z.array(z.object({ name: z.string(), age: z.number() })),
    }),
    requires: { elicitation: {} },
  },
  ({ seat, passengers }) => {
    if (passengers.length === 0) throw new ToolError("Name at least one passenger");
    return [text(`Booked ${seat}`), ...passengers.map(({ name, age }) => text(`${name}, ${age}`))];
  },
);

server.tool(
  "convert",
  { input: z.object({ celsius: z.number() }), output: z.object({ fahrenheit: z.number() }) },
  async ({ celsius }) => ({ fahrenheit: celsius * 1.8 + 32 }),
);

server.tool(
  "report",
  {
    input: z.object({ month: z.enum(["January", "February", "March"]) }),
    output: z.object({ rows: z.number() }),
  },
  ({ month }) => result({ content: `3 rows in ${month}`, structured: { rows: 3 } }),
);

server.tool("copy", { input: z.object({ files: z.record(z.string(), z.number()) }) }, ({ files }, ctx) => {
  for (const [index, name] of Object.keys(files).entries()) ctx.progress(index + 1, undefined, name);
  return "Copied";
});

server.tool("now", { output: z.object({ now: z.string() }) }, () => ({ now: new Date().toISOString() }));

server.tool(
  "rename",
  {
    input: z.object({ from: z.string(), to: z.string().nullable() }),
    annotations: { destructiveHint: true },
  },
  ({ from, to }) => (to === null ? `Removed ${from}` : `Renamed ${from} to ${to}`),
);

await serveStdio(server);

function box() {
  return z.object({ kind: z.literal("box"), width: z.number(), height: z.number() });
}

function scale() {
  return z.object({ kind: z.literal("scale"), factor: z.number() });
}

function toHit(id: string): { id: string; score: number } {
  return { id, score: 1 };
}
