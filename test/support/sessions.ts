// Legacy sessions and listen requests over real sockets, on each of the HTTP edges.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { JsonObject, RequestId, Servable } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, type HttpStats, nodeHandler, serveHttp } from "halyard/node";
import { onTestFinished } from "vitest";
import { EventReply, send } from "./event-reply.ts";
import { legacyDates, modernMeta, newestModern } from "./raw.ts";

export interface Served {
  readonly url: string;
  stats(): HttpStats;
  close(): Promise<void>;
}

export type Edge = "serveHttp" | "nodeHandler" | "fetchHandler";
export const edges: readonly Edge[] = ["serveHttp", "nodeHandler", "fetchHandler"];

/** The revisions whose clients have sessions over Streamable HTTP. */
export const sessionDates: readonly string[] = legacyDates.filter((date) => date >= "2025-03-26");

/** Each of these revisions on each edge. */
export const sessionCells: readonly { readonly revision: string; readonly edge: Edge }[] =
  sessionDates.flatMap((revision) => edges.map((edge) => ({ revision, edge })));

/** Serves on a free port until the test ends. */
export async function serve(
  server: Servable,
  options: HttpOptions = {},
  edge: Edge = "serveHttp",
): Promise<Served> {
  const served = await start(server, { graceMs: 1000, ...options }, edge);
  onTestFinished(() => served.close());
  return served;
}

/** Serves on a free port until it is closed. */
export async function start(server: Servable, options: HttpOptions, edge: Edge): Promise<Served> {
  return edge === "serveHttp" ? serveHttp(server, { ...options, port: 0 }) : mount(server, options, edge);
}

async function mount(server: Servable, options: HttpOptions, edge: Edge): Promise<Served> {
  const isFetch = edge === "fetchHandler";
  const handler = isFetch ? fetchHandler(server, options) : nodeHandler(server, options);
  const listener = isFetch
    ? getRequestListener(handler as ReturnType<typeof fetchHandler>)
    : (handler as ReturnType<typeof nodeHandler>);
  const http = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    http.close();
    await handler.close();
    http.closeAllConnections();
  };
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, stats: () => handler.stats(), close };
}

export interface SessionOptions {
  readonly revision?: string;
  readonly capabilities?: JsonObject;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

const anything = "application/json, text/event-stream";

/** A client that has initialized a session. */
export class SessionClient {
  readonly url: string;
  readonly id: string;
  readonly revision: string;
  readonly #headers: Readonly<Record<string, string>>;
  #nextId = 1;

  constructor(url: string, id: string, options: SessionOptions = {}) {
    this.url = url;
    this.id = id;
    this.revision = options.revision ?? "2025-11-25";
    this.#headers = options.headers ?? {};
  }

  static async open(served: { readonly url: string }, options: SessionOptions = {}): Promise<SessionClient> {
    const reply = await initialize(served.url, options);
    await reply.closed;
    const client = new SessionClient(served.url, String(reply.headers["mcp-session-id"]), options);
    await client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  /** The headers of every request, with changes; undefined leaves one out. */
  headers(changes: Readonly<Record<string, string | undefined>> = {}): Record<string, string | undefined> {
    return { "mcp-session-id": this.id, "mcp-protocol-version": this.revision, ...this.#headers, ...changes };
  }

  /** Posts a message; resolves with the head of the response. */
  post(message: unknown, changes: Readonly<Record<string, string | undefined>> = {}): Promise<EventReply> {
    const headers = this.headers({ "content-type": "application/json", accept: anything, ...changes });
    return send(this.url, { headers, body: JSON.stringify(message) });
  }

  /** Posts what needs no answer, and resolves with the status. */
  async say(message: unknown): Promise<number> {
    const reply = await this.post(message);
    await reply.closed;
    return reply.status;
  }

  /** Posts a request. */
  start(method: string, params: JsonObject = {}, id: RequestId = this.#nextId++): Promise<EventReply> {
    return this.post({ jsonrpc: "2.0", id, method, params });
  }

  /** Calls a method and resolves with the whole response message. */
  async request(
    method: string,
    params: JsonObject = {},
    id: RequestId = this.#nextId++,
  ): Promise<JsonObject> {
    const reply = await this.start(method, params, id);
    if (!reply.headers["content-type"]?.startsWith("text/event-stream")) return reply.json();
    return reply.message((message) => message["id"] === id && message["method"] === undefined);
  }

  call(name: string, args: JsonObject = {}): Promise<EventReply> {
    return this.start("tools/call", { name, arguments: args });
  }

  /** Opens a stream, or resumes one. */
  get(lastEventId?: string, changes: Readonly<Record<string, string | undefined>> = {}): Promise<EventReply> {
    const headers = this.headers({ accept: "text/event-stream", "last-event-id": lastEventId, ...changes });
    return send(this.url, { method: "GET", headers });
  }

  async delete(changes: Readonly<Record<string, string | undefined>> = {}): Promise<number> {
    const reply = await send(this.url, { method: "DELETE", headers: this.headers(changes) });
    await reply.closed;
    return reply.status;
  }

  /** Answers a question of the server. */
  answer(question: JsonObject, answer: JsonObject): Promise<number> {
    return this.say({ jsonrpc: "2.0", id: question["id"], ...answer });
  }
}

export function initialize(url: string, options: SessionOptions = {}): Promise<EventReply> {
  const params = {
    protocolVersion: options.revision ?? "2025-11-25",
    capabilities: options.capabilities ?? {},
    clientInfo: { name: "test-client", version: "1.0.0" },
  };
  const headers = { "content-type": "application/json", accept: anything, ...options.headers };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  return send(url, { headers, body });
}

export interface ModernOptions {
  readonly id?: RequestId;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meta?: JsonObject;
}

/** Sends a modern request. */
export function sendModern(
  url: string,
  method: string,
  params: JsonObject = {},
  { id = 1, headers = {}, meta = {} }: ModernOptions = {},
): Promise<EventReply> {
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  const mirrored = {
    "content-type": "application/json",
    accept: anything,
    "mcp-protocol-version": newestModern,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
    ...headers,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: modernMeta(meta) } });
  return send(url, { headers: mirrored, body });
}

/** Opens a listen stream and waits for its acknowledgement. */
export async function listenOver(
  url: string,
  notifications: JsonObject,
  options: ModernOptions = {},
): Promise<EventReply> {
  const reply = await sendModern(url, "subscriptions/listen", { notifications }, options);
  await reply.message((message) => message["method"] === "notifications/subscriptions/acknowledged");
  return reply;
}

/** The methods of messages, and the URI where they name one. */
/** The data of the log messages among these, in order. */
export function logDataOf(messages: readonly JsonObject[]): unknown[] {
  return messages
    .filter(({ method }) => method === "notifications/message")
    .map(({ params }) => (params as { data: unknown }).data);
}

export function methodsOf(messages: readonly JsonObject[]): string[] {
  return messages.map((message) => {
    const { uri } = (message["params"] ?? {}) as { uri?: string };
    const method = String(message["method"] ?? "response").replace("notifications/", "");
    return uri === undefined ? method : `${method} ${uri}`;
  });
}
