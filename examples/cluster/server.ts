// One node of several: its tools show which node serves a call, and that messages find their client from any of them.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { McpServer, type ServerEvent, ToolError } from "halyard";
import { serveHttp } from "halyard/node";
import * as z from "zod";
import { connectBackplane } from "../backplane.ts";

const { values } = parseArgs({
  options: {
    name: { type: "string", default: "alone" },
    port: { type: "string", default: "3000" },
    backplane: { type: "string", default: "redis://127.0.0.1:6379" },
  },
});
const { name } = values;
const { backplane, close } = await connectBackplane(values.backplane).catch(fail);
const server = new McpServer({ name: "cluster", version: "1.0.0" }, { backplane, observe });

let calls = 0;
server.tool("count", { description: "Counts the calls that this node has served." }, () => {
  calls++;
  return `Call ${calls} on node ${name}`;
});

let last = 0;
server.resource("tick:///last", { name: "last" }, () => `${last} on node ${name}`);
server.tool(
  "tick",
  {
    description: "Pushes numbers to the caller's session from now on, and updates tick:///last with each.",
    input: z.object({ times: z.int().min(1).max(10_000).default(60), everyMs: z.int().min(1).default(1000) }),
  },
  ({ times, everyMs }, ctx) => {
    void tick(ctx.session, times, everyMs);
    return `Node ${name} pushes ${times} numbers, one every ${everyMs} ms`;
  },
);

async function tick(session: string | undefined, times: number, everyMs: number): Promise<void> {
  for (last = 1; last <= times; last++) {
    await sleep(everyMs);
    await server.resources.updated("tick:///last");
    const params = { level: "info", logger: `node ${name}`, data: last };
    if (session !== undefined) await server.push.toSession(session, "notifications/message", params);
  }
}

server.tool(
  "work",
  {
    description: "Takes some seconds, and says how far it is.",
    input: z.object({ seconds: z.int().min(1).max(600).default(10) }),
  },
  async ({ seconds }, ctx) => {
    for (let second = 1; second <= seconds; second++) {
      await sleep(1000, undefined, { signal: ctx.signal });
      ctx.progress(second, seconds, `${second} of ${seconds} on node ${name}`);
    }
    return `Worked ${seconds} s on node ${name}`;
  },
);

server.tool("sail", { description: "Asks where to, and sails there." }, async (_, ctx) => {
  const { port } = await ctx.elicit("Where to?", z.object({ port: z.string() }));
  if (port === "") throw new ToolError("Nowhere is too far");
  return `Node ${name} sails to ${port}`;
});

/** Prints what happens on this node, a line each. */
function observe(event: ServerEvent): void {
  if (event.type === "request") console.log(`${event.method} ${event.name ?? ""} ${event.outcome}`);
  else if (event.type === "ask") console.log(`${event.method} ${event.state}`);
  else if (event.type === "node") console.log(`sees that ${event.node.slice(0, 6)} has ${event.state}`);
  else if (event.type === "engine") console.log(`engine ${event.state}`);
  else if (event.type === "handover")
    console.log(`takes a stream over from ${event.from?.slice(0, 6) ?? "another"}`);
  else if (event.type === "gap") console.log("tells clients to read everything again");
}

/** Prints one line instead of a stack. */
function fail(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

const http = await serveHttp(server, { port: Number(values.port), handleSignals: false }).catch(fail);
console.log(`Serving on ${http.url}`);

// The server still needs the engine while it closes, so the connection closes after it.
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, async () => {
    await http.close();
    await close();
    process.exit();
  });
}
