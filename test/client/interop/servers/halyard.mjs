// Our own server, as the others: for stdio, HTTP, memory and nodes of a cluster.
import { McpServer, ToolError } from "halyard";
import { serveStdio } from "halyard/stdio";
import * as z from "zod";
import { pixel, stylesLike, Waits, welcome } from "./facts.mjs";

/** Creates servers that share what happens at run time, as nodes of one application do. */
export function application() {
  const waits = new Waits();
  const servers = [];
  return (options = {}) => {
    const server = new McpServer(
      { name: "halyard", version: "1.0.0" },
      { instructions: "Greet first", pageSize: 4, ...options },
    );
    servers.push(server);
    addAnswers(server);
    addReports(server, waits);
    addQuestions(server);
    addChanges(server, servers);
    addCatalogue(server);
    return server;
  };
}

function addAnswers(server) {
  server.tool("greet", { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}`);
  const schemas = {
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
  };
  server.tool("add", schemas, ({ a, b }) => ({ sum: a + b }));
  server.tool("fail", {}, () => {
    throw new ToolError("It failed");
  });
  server.tool("picture", {}, () => ({ type: "image", data: pixel, mimeType: "image/png" }));
}

function addReports(server, waits) {
  server.tool("steps", {}, (_, ctx) => {
    for (const progress of [1, 2, 3]) ctx.progress(progress, 3, `Step ${progress}`);
    return "Done";
  });
  server.tool("log", {}, (_, ctx) => {
    ctx.log("warning", "The server logs", "interop");
    return "Logged";
  });
  server.tool("wait", {}, (_, { signal }) => waits.wait(signal));
  server.tool("waits", {}, () => waits.report());
  server.tool("job", { task: { pollIntervalMs: 20 } }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return "The job is done";
  });
  server.tool("drop", {}, async (_, ctx) => {
    if (ctx.session === undefined) return "Nothing to drop";
    ctx.closeStream();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return "After the drop";
  });
}

function addQuestions(server) {
  const form = z.object({ name: z.string(), mood: z.string().default("well") });
  server.tool("ask", {}, async (_, ctx) => {
    const { name, mood } = await ctx.elicit("Who are you?", form);
    return `${name} is ${mood}`;
  });
  server.tool("sample", {}, async (_, ctx) => (await ctx.sample("What rhymes with blue?")).text);
  server.tool("roots", {}, async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join());
}

function addChanges(server, servers) {
  server.tool("extra", {}, () => "Extra").disable();
  server.tool("offer", {}, () => {
    const change = server.tools.get("extra").enabled ? "disable" : "enable";
    for (const { tools } of servers) tools.get("extra")[change]();
    return "Offered";
  });
  server.tool("edit", {}, async () => {
    await server.resources.updated(welcome);
    return "Edited";
  });
}

function addCatalogue(server) {
  server.resource(welcome, { name: "welcome", mimeType: "text/plain" }, () => "Welcome");
  server.resourceTemplate("note:///{id}", { name: "note" }, ({ params }) => `Note ${params.id}`);
  const settings = { arguments: z.object({ style: z.string() }), complete: { style: stylesLike } };
  server.prompt("summarise", settings, ({ style }) => `Summarise, ${style}`);
}

if (process.argv[2] === "stdio") await serveStdio(application()());
