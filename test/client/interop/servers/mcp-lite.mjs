// A server on mcp-lite, over HTTP with and without sessions.
import {
  InMemoryClientRequestAdapter,
  InMemorySessionAdapter,
  McpServer,
  StreamableHttpTransport,
} from "mcp-lite";
import * as z from "zod";
import { listenOn } from "./by-session.mjs";
import { form, pixel, sampling, textOf, welcome } from "./facts.mjs";

function create() {
  const schemaAdapter = (schema) => z.toJSONSchema(schema);
  const server = new McpServer({ name: "mcp-lite", version: "0.10.0", schemaAdapter });
  server.tool("greet", {
    inputSchema: z.object({ name: z.string() }),
    handler: ({ name }) => textOf(`Hello, ${name}`),
  });
  server.tool("add", {
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
    handler: ({ a, b }) => ({ ...textOf(String(a + b)), structuredContent: { sum: a + b } }),
  });
  server.tool("fail", { handler: () => ({ ...textOf("It failed"), isError: true }) });
  server.tool("picture", {
    handler: () => ({ content: [{ type: "image", data: pixel, mimeType: "image/png" }] }),
  });
  addConversation(server);
  server.resource(welcome, { name: "welcome", mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, type: "text", mimeType: "text/plain", text: "Welcome" }],
  }));
  server.resource("note:///{id}", { name: "note" }, ({ href }, { id }) => ({
    contents: [{ uri: href, type: "text", text: `Note ${id}` }],
  }));
  server.prompt("summarise", {
    arguments: z.object({ style: z.string() }),
    handler: ({ style }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Summarise, ${style}` } }],
    }),
  });
  return server;
}

function addConversation(server) {
  server.tool("steps", {
    async handler(_, ctx) {
      for (const progress of [1, 2, 3])
        await ctx.progress?.({ progress, total: 3, message: `Step ${progress}` });
      return textOf("Done");
    },
  });
  server.tool("ask", {
    async handler(_, ctx) {
      const { content } = await ctx.elicit({ message: "Who are you?", schema: form });
      return textOf(`${content.name} is ${content.mood}`);
    },
  });
  server.tool("sample", {
    async handler(_, ctx) {
      const { maxTokens, messages } = sampling;
      const { content } = await ctx.sample({ prompt: messages[0].content.text, maxTokens });
      return textOf(content.text);
    },
  });
  let offers = 0;
  server.tool("offer", {
    handler() {
      server.tool(`extra-${offers++}`, { handler: () => textOf("Extra") });
      return textOf("Offered");
    },
  });
}

const withSessions = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter(),
});

listenOn({
  "/sessions": withSessions.bind(create()),
  "/stateless": new StreamableHttpTransport().bind(create()),
});
