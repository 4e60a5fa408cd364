// The official SDK v2 over HTTP: `createMcpHandler` as its documentation shows it, or sessions wired by hand.
import { createServer } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { INFO } from "../baselines/messages.js";
import { answerParent } from "../child-commands.js";
import { registerTools } from "./fillers.js";
import { commands as sessionCommands, sessionHandler } from "./official-sessions.js";

const { tools, mode } = JSON.parse(process.argv[2]);
const ROOM = { maxSubscriptions: 20_000, keepAliveMs: 0 };
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
};

function makeServer() {
  const server = new McpServer(INFO, { capabilities });
  registerTools(server, tools);
  return server;
}

function registerNotes(server) {
  const template = new ResourceTemplate("note:///{id}", { list: undefined });
  server.registerResource("note", template, {}, (uri) => ({ contents: [{ uri: uri.href, text: "note" }] }));
  return server;
}

async function openSession({ session, options }) {
  session.server = makeServer();
  session.transport = new NodeStreamableHTTPServerTransport(options);
  await session.server.connect(session.transport);
  return session;
}

function withSessions() {
  return { handle: sessionHandler(openSession), commands: sessionCommands };
}

function withoutSessions() {
  const make = mode === "uris" ? () => registerNotes(makeServer()) : makeServer;
  const handler = createMcpHandler(make, ROOM);
  const update = async ({ count, uris }) => {
    for (let n = 0; n < count; n++) {
      handler.notify.resourceUpdated(`note:///${n % uris}`);
      await nextTurn();
    }
  };
  return {
    handle: toNodeHandler(handler),
    commands: { change: () => handler.notify.toolsChanged(), update },
  };
}

const { handle, commands } = mode === "session" ? withSessions() : withoutSessions();
const isHost = localhostHostValidation();
const isOrigin = localhostOriginValidation();
const http = createServer((req, res) => {
  if (isHost(req, res) && isOrigin(req, res)) void handle(req, res);
});
http.listen(0, "127.0.0.1", () => answerParent(commands, { port: http.address().port }));
