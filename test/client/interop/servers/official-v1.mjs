// A server on version 1 of the official SDK: on stdio, or over HTTP in every form that it has.
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListResourcesRequestSchema,
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { bySession, listenOn, withoutSessions } from "./by-session.mjs";
import { form, pageOf, pixel, sampling, stylesLike, textOf, Waits, welcome } from "./facts.mjs";

const waits = new Waits();

function create() {
  const taskStore = new InMemoryTaskStore();
  const server = new McpServer(
    { name: "official-v1", version: "1.0.0" },
    {
      capabilities: {
        logging: {},
        resources: { subscribe: true },
        tasks: { requests: { tools: { call: {} } }, cancel: {} },
      },
      instructions: "Greet first",
      taskStore,
    },
  );
  addAnswers(server);
  addReports(server);
  addQuestions(server);
  addChanges(server);
  addTask(server);
  addCatalogue(server);
  return server;
}

function addAnswers(server) {
  server.registerTool("greet", { inputSchema: { name: z.string() } }, ({ name }) => textOf(`Hello, ${name}`));
  const schemas = { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } };
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
  server.registerTool("steps", {}, async ({ sendNotification, _meta }) => {
    const progressToken = _meta?.progressToken;
    for (const progress of [1, 2, 3])
      if (progressToken !== undefined)
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress, total: 3, message: `Step ${progress}` },
        });
    return textOf("Done");
  });
  server.registerTool("log", {}, async ({ sendNotification }) => {
    const params = { level: "warning", logger: "interop", data: "The server logs" };
    await sendNotification({ method: "notifications/message", params });
    return textOf("Logged");
  });
  server.registerTool("wait", {}, ({ signal }) => waits.wait(signal));
  server.registerTool("waits", {}, () => waits.report());
  server.registerTool("drop", {}, async ({ closeSSEStream }) => {
    if (!closeSSEStream) return textOf("Nothing to drop");
    closeSSEStream();
    await sleep(50);
    return textOf("After the drop");
  });
}

function addQuestions(server) {
  server.registerTool("ask", {}, async ({ sendRequest }) => {
    const params = { mode: "form", message: "Who are you?", requestedSchema: form };
    const { content } = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
    return textOf(`${content.name} is ${content.mood}`);
  });
  server.registerTool("sample", {}, async ({ sendRequest }) => {
    const request = { method: "sampling/createMessage", params: sampling };
    return textOf((await sendRequest(request, CreateMessageResultSchema)).content.text);
  });
  server.registerTool("roots", {}, async ({ sendRequest }) => {
    const { roots } = await sendRequest({ method: "roots/list" }, ListRootsResultSchema);
    return textOf(roots.map(({ uri }) => uri).join());
  });
}

function addChanges(server) {
  const subscribed = new Set();
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  const extra = server.registerTool("extra", {}, () => textOf("Extra"));
  extra.disable();
  server.registerTool("offer", {}, () => {
    if (extra.enabled) extra.disable();
    else extra.enable();
    return textOf("Offered");
  });
  server.registerTool("edit", {}, async () => {
    if (subscribed.has(welcome)) await server.server.sendResourceUpdated({ uri: welcome });
    return textOf("Edited");
  });
}

function addTask(server) {
  const settings = { execution: { taskSupport: "required" } };
  server.experimental.tasks.registerToolTask("job", settings, {
    async createTask({ taskStore }) {
      const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 20 });
      setTimeout(() => taskStore.storeTaskResult(task.taskId, "completed", textOf("The job is done")), 50);
      return { task };
    },
    getTask: ({ taskStore, taskId }) => taskStore.getTask(taskId),
    getTaskResult: ({ taskStore, taskId }) => taskStore.getTaskResult(taskId),
  });
}

function addCatalogue(server) {
  server.registerResource("welcome", welcome, { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "Welcome" }],
  }));
  server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => pageOf(params?.cursor));
  const template = new ResourceTemplate("note:///{id}", { list: undefined });
  server.registerResource("note", template, {}, ({ href }, { id }) => ({
    contents: [{ uri: href, text: `Note ${id}` }],
  }));
  const argsSchema = { style: completable(z.string(), stylesLike) };
  server.registerPrompt("summarise", { argsSchema }, ({ style }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Summarise, ${style}` } }],
  }));
}

async function open(options) {
  const transport = new WebStandardStreamableHTTPServerTransport(options);
  await create().connect(transport);
  return transport;
}

/** The transport of 2024-11-05: one stream for each client, and a path to post to. */
function oldTransport() {
  const transports = new Map();
  return {
    "/sse": async (request, response) => {
      if (request.method !== "GET") return response.writeHead(404).end("Cannot POST /sse");
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      response.on("close", () => transports.delete(transport.sessionId));
      await create().connect(transport);
    },
    "/messages": (request, response) => {
      const id = new URL(request.url, "http://localhost").searchParams.get("sessionId");
      transports.get(id)?.handlePostMessage(request, response);
    },
  };
}

if (process.argv[2] === "stdio") await create().connect(new StdioServerTransport());
else
  listenOn({
    "/sessions": bySession(open),
    "/json": bySession((options) => open({ ...options, enableJsonResponse: true })),
    "/resumable": bySession((options) =>
      open({ ...options, eventStore: new InMemoryEventStore(), retryInterval: 20 }),
    ),
    "/stateless": withoutSessions(open),
    "/stateless-json": withoutSessions((options) => open({ ...options, enableJsonResponse: true })),
    raw: oldTransport(),
  });
