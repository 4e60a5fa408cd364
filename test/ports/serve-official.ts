// The ports as the official SDKs serve them: sessions for legacy clients, and for version 2 its entry for modern ones.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { WebStandardStreamableHTTPServerTransport as TransportV1 } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  createMcpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport as TransportV2,
} from "@modelcontextprotocol/server";
import { createOfficialInventory } from "./v1/official.ts";
import { Notebook } from "./v2/notebook.ts";
import { createOfficialNotebook } from "./v2/official.ts";

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

export function serveOfficialInventory(): Promise<Served> {
  return serveFetch(
    bySession(async (sessionOptions) => {
      const transport = new TransportV1(sessionOptions);
      await createOfficialInventory().connect(transport);
      return transport;
    }),
  );
}

export function serveOfficialNotebook(): Promise<Served> {
  const subscribed = new Set<string>();
  const sessions: McpServer[] = [];
  const notebook = new Notebook(async (uri) => {
    modern.notify.resourceUpdated(uri);
    if (!subscribed.has(uri)) return;
    for (const session of sessions) await session.server.sendResourceUpdated({ uri });
  });
  const modern = createMcpHandler(() => createOfficialNotebook(notebook, subscribed));
  const legacy = bySession(async (sessionOptions) => {
    const transport = new TransportV2(sessionOptions);
    const server = createOfficialNotebook(notebook, subscribed);
    sessions.push(server);
    await server.connect(transport);
    return transport;
  });
  return serveFetch(async (request) => {
    const isModern = request.headers.get("mcp-protocol-version") === "2026-07-28";
    return isModern ? modern.fetch(request) : legacy(request);
  });
}

interface SessionTransport {
  handleRequest(request: Request): Promise<Response>;
}

interface SessionOptions {
  sessionIdGenerator(): string;
  onsessioninitialized(id: string): void;
}

/** Gives each session the transport that the official SDKs want for it. */
function bySession(
  open: (options: SessionOptions) => Promise<SessionTransport>,
): (request: Request) => Promise<Response> {
  const transports = new Map<string, SessionTransport>();
  return async (request) => {
    const known = transports.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return known.handleRequest(request);
    const transport = await open({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    return transport.handleRequest(request);
  };
}

async function serveFetch(fetch: (request: Request) => Promise<Response>): Promise<Served> {
  const listener = getRequestListener(fetch);
  const http = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      http.closeAllConnections();
      http.close();
    },
  };
}
