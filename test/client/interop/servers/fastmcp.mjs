// A server on FastMCP: on stdio, or over HTTP with or without sessions.
import { FastMCP } from "fastmcp";
import * as z from "zod";
import { form, pixel, sampling, stylesLike, textOf, Waits, welcome } from "./facts.mjs";

const waits = new Waits();

const server = new FastMCP({
  name: "fastmcp",
  version: "4.0.0",
  instructions: "Greet first",
  ping: { enabled: false },
  logger: { debug() {}, error() {}, info() {}, log() {}, warn() {} },
});

server.addTool({
  name: "greet",
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }) => `Hello, ${name}`,
});
server.addTool({
  name: "add",
  parameters: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({ ...textOf(String(a + b)), structuredContent: { sum: a + b } }),
});
server.addTool({ name: "fail", execute: async () => ({ ...textOf("It failed"), isError: true }) });
server.addTool({
  name: "picture",
  execute: async () => ({ content: [{ type: "image", data: pixel, mimeType: "image/png" }] }),
});
server.addTool({
  name: "steps",
  async execute(_, { reportProgress }) {
    for (const progress of [1, 2, 3])
      await reportProgress({ progress, total: 3, message: `Step ${progress}` });
    return "Done";
  },
});
server.addTool({
  name: "log",
  async execute(_, { log }) {
    log.warn("The server logs");
    return "Logged";
  },
});
server.addTool({ name: "wait", execute: (_, { signal }) => waits.wait(signal) });
server.addTool({ name: "waits", execute: async () => waits.report() });
server.addTool({
  name: "ask",
  async execute(_, { elicit }) {
    const { content } = await elicit({ message: "Who are you?", requestedSchema: form });
    return `${content.name} is ${content.mood}`;
  },
});

/** The session of the client that calls. */
const sessionOf = ({ sessionId }) =>
  server.sessions.find((session) => session.sessionId === sessionId) ?? server.sessions[0];

server.addTool({
  name: "sample",
  execute: async (_, context) => (await sessionOf(context).requestSampling(sampling)).content.text,
});
server.addTool({
  name: "roots",
  execute: async (_, context) =>
    sessionOf(context)
      .roots.map(({ uri }) => uri)
      .join(),
});

let isOffered = false;
server.addTool({
  name: "offer",
  async execute() {
    isOffered = !isOffered;
    if (isOffered) server.addTool({ name: "extra", execute: async () => "Extra" });
    else server.removeTool("extra");
    return "Offered";
  },
});
server.addTool({
  name: "edit",
  async execute() {
    // FastMCP takes calls up to a second before it counts their session, and tells only the sessions that it counts.
    while (server.sessions.length === 0) await new Promise((resolve) => void setTimeout(resolve, 10));
    await server.sendResourceUpdated(welcome);
    return "Edited";
  },
});

server.addResource({
  uri: welcome,
  name: "welcome",
  mimeType: "text/plain",
  load: async () => ({ text: "Welcome" }),
});
server.addResourceTemplate({
  uriTemplate: "note:///{id}",
  name: "note",
  arguments: [{ name: "id" }],
  load: async ({ id }) => ({ text: `Note ${id}` }),
});
server.addPrompt({
  name: "summarise",
  arguments: [{ name: "style", required: true, complete: async (typed) => ({ values: stylesLike(typed) }) }],
  load: async ({ style }) => `Summarise, ${style}`,
});

const [transport, stateless] = process.argv.slice(2);
await server.start(
  transport === "stdio"
    ? { transportType: "stdio" }
    : {
        transportType: "httpStream",
        httpStream: { port: 0, host: "127.0.0.1", stateless: stateless === "stateless" },
      },
);
