// The official SDK v1 over HTTP: a new server and transport per request, or one of each per session.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { INFO } from "../baselines/messages.js";
import { answerParent } from "../child-commands.js";
import { registerTools } from "./fillers.js";
import { commands, sessionHandler } from "./official-sessions.js";

const { tools, mode } = JSON.parse(process.argv[2]);
const capabilities = { tools: { listChanged: true }, logging: {} };

async function open({ session, options }) {
  session.server = new McpServer(INFO, { capabilities });
  registerTools(session.server, tools);
  session.transport = new StreamableHTTPServerTransport(options);
  await session.server.connect(session.transport);
  return session;
}

async function handleAlone(req, res) {
  const options = { sessionIdGenerator: undefined, enableJsonResponse: true };
  const { transport, server } = await open({ session: {}, options });
  res.on("close", () => {
    void transport.close();
    void server.close();
  });
  await transport.handleRequest(req, res);
}

const handle = mode === "session" ? sessionHandler(open) : handleAlone;
const http = createServer((req, res) => void handle(req, res));
http.listen(0, "127.0.0.1", () => answerParent(commands, { port: http.address().port }));
