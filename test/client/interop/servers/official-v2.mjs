// A server on version 2 of the official SDK: modern, and legacy as its users wire it by hand.
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import {
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { bySession, listenOn } from "./by-session.mjs";
import { form, pageOf, pixel, sampling, stylesLike, textOf, Waits, welcome } from "./facts.mjs";

const waits = new Waits();
/** Whether the tool `extra` is offered; modern servers are made for each request. */
let isOffered = false;

/** Creates a server; `modern` announces changes where servers live for one request. */
function create(modern) {
  const server = new McpServer(
    { name: "official-v2", version: "2.0.0" },
    { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: "Greet first" },
  );
  addAnswers(server);
  addReports(server);
  addQuestions(server);
  addChanges(server, modern);
  addCatalogue(server);
  return server;
}

function addAnswers(server) {
  server.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, ({ name }) =>
    textOf(`Hello, ${name}`),
  );
  const schemas = {
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  };
  server.registerTool("add", schemas, ({ a, b }) => ({
    ...textOf(String(a + b)),
    structuredContent: { sum: a + b },
  }));
  server.registerTool("fail", {}, () => ({ ...textOf("It failed"), isError: true }));
  server.registerTool("picture", {}, () => ({
    content: [{ type: "image", data: pixel, mimeType: "image/png" }],
  }));
}

function addReports(server) {
  server.registerTool("steps", {}, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3])
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 3, message: `Step ${progress}` },
        });
    return textOf("Done");
  });
  server.registerTool("log", {}, async ({ mcpReq }) => {
    await mcpReq.log("warning", "The server logs", "interop");
    return textOf("Logged");
  });
  server.registerTool("wait", {}, ({ mcpReq }) => waits.wait(mcpReq.signal));
  server.registerTool("waits", {}, () => waits.report());
  server.registerTool("drop", {}, async ({ http }) => {
    if (!http?.closeSSE) return textOf("Nothing to drop");
    http.closeSSE();
    await sleep(50);
    return textOf("After the drop");
  });
}

/** Input rounds, which this SDK turns into requests where the client is a legacy one. */
function addQuestions(server) {
  server.registerTool("ask", {}, ({ mcpReq }) => {
    const content = acceptedContent(mcpReq.inputResponses, "who");
    if (content) return textOf(`${content.name} is ${content.mood}`);
    const who = inputRequired.elicit({ message: "Who are you?", requestedSchema: form });
    return inputRequired({ inputRequests: { who }, requestState: "asked" });
  });
  server.registerTool("sample", {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "rhyme");
    if (answer.kind === "sampling") return textOf(answer.result.content.text);
    return inputRequired({ inputRequests: { rhyme: inputRequired.createMessage(sampling) } });
  });
  server.registerTool("roots", {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "roots");
    if (answer.kind === "roots") return textOf(answer.roots.map(({ uri }) => uri).join());
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
}

function addChanges(server, modern) {
  const subscribed = new Set();
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  const extra = server.registerTool("extra", {}, () => textOf("Extra"));
  if (!isOffered) extra.disable();
  server.registerTool("offer", {}, () => {
    isOffered = !isOffered;
    if (isOffered) extra.enable();
    else extra.disable();
    modern?.notify.toolsChanged();
    return textOf("Offered");
  });
  server.registerTool("edit", {}, async () => {
    if (modern) modern.notify.resourceUpdated(welcome);
    else await server.server.sendResourceUpdated({ uri: welcome });
    return textOf("Edited");
  });
}

function addCatalogue(server) {
  server.registerResource("welcome", welcome, { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "Welcome" }],
  }));
  server.server.setRequestHandler("resources/list", ({ params }) => pageOf(params?.cursor));
  const template = new ResourceTemplate("note:///{id}", { list: undefined });
  server.registerResource("note", template, {}, ({ href }, { id }) => ({
    contents: [{ uri: href, text: `Note ${id}` }],
  }));
  const argsSchema = z.object({ style: completable(z.string(), stylesLike) });
  server.registerPrompt("summarise", { argsSchema }, ({ style }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Summarise, ${style}` } }],
  }));
}

async function open(options) {
  const transport = new WebStandardStreamableHTTPServerTransport(options);
  await create().connect(transport);
  return transport;
}

function listen() {
  const modern = createMcpHandler(() => create(modern));
  const strict = createMcpHandler(() => create(strict), { legacy: "reject", responseMode: "sse" });
  listenOn({
    "/modern": (request) => modern.fetch(request),
    "/strict": (request) => strict.fetch(request),
    "/sessions": bySession(open),
    "/resumable": bySession((options) =>
      open({ ...options, eventStore: new InMemoryEventStore(), retryInterval: 20 }),
    ),
  });
}

const serving = {
  stdio: () => serveStdio(() => create()),
  "legacy-stdio": () => create().connect(new StdioServerTransport()),
  http: listen,
};
await serving[process.argv[2]]();
