// The server of the soak: Halyard over HTTP with every era, streams, sessions that end soon, and changes all the time.
import { setTimeout as sleep } from "node:timers/promises";
import { serveHttp } from "halyard/node";
import { answerParent } from "../child-commands.js";
import { halyardServer } from "./halyard.js";

const CHANGE_MS = 250;
const SLOW_MS = 100;
const FLOOD = { messages: 300, text: "x".repeat(10_000) }; // more than the buffers of a connection and a queue hold

const server = halyardServer({
  schema: "zod",
  fillers: 20,
  options: { logger: silent(), tasks: { ttlMs: 2000 } },
});
server.resourceTemplate("note:///{id}", { name: "note" }, () => "note");
server.tool("report", {}, (_, ctx) => {
  for (let step = 1; step <= 3; step++) ctx.progress(step, 3);
  return "reported";
});
server.tool("slow", { timeoutMs: 10_000, maxConcurrent: 10_000 }, async (_, ctx) => {
  await sleep(SLOW_MS, undefined, { signal: ctx.signal }).catch(() => {});
  return "slept";
});

server.tool("ask", {}, async (_, ctx) => {
  const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  return (await ctx.elicit("Who?", form, { key: "name" })).name;
});
server.tool("work", { task: "optional" }, async () => {
  await sleep(5);
  return "worked";
});

server.tool("flood", {}, async (_, { session }) => {
  for (let n = 0; n < FLOOD.messages; n++) {
    const params = { level: "info", data: `${n} ${FLOOD.text}` };
    await server.push.toSession(session, "notifications/message", params);
  }
  return "flooded";
});

// What is kept for clients that went away is kept for seconds, so that the end of the run can see it go.
const http = await serveHttp(server, {
  port: 0,
  legacySse: true,
  resumeWindowMs: 1000,
  limits: { idleMs: 15_000, keepMs: 3000, maxListensPerPrincipal: 20_000 },
  rateLimit: { perAddress: { perMinute: 10_000_000, concurrent: 100_000 } },
});

// Changes that merge: distinct messages would fill the queue of every session without a stream, for minutes, up to its limit.
let extra;
setInterval(() => {
  if (extra === undefined) extra = server.tool("extra", { description: "Comes and goes" }, () => "extra");
  else extra = void extra.remove();
  void server.resources.updated("note:///1");
}, CHANGE_MS);

/** A log would be the bottleneck: every malformed request is worth a line. */
function silent() {
  const ignore = () => {};
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (message, details) => console.error(message, details),
  };
}

/** What is open: by the endpoint's own account, and by the process's. */
function open() {
  const handles = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return { stats: http.stats(), handles };
}

const problems = [];
process.on("unhandledRejection", (error) => problems.push(String(error?.stack ?? error)));
process.on("uncaughtException", (error) => problems.push(String(error?.stack ?? error)));

answerParent({ open, problems: () => problems }, { port: http.port });
