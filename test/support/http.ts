// The three ways into the HTTP endpoint, spoken to in the same words: a request in, a response out.
import { type ClientRequest, createServer, type IncomingMessage, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject, Servable } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, type HttpStats, nodeHandler, serveHttp } from "halyard/node";
import { describe, onTestFinished } from "vitest";
import { HttpReply } from "./http-reply.ts";
import { initializeRequest, newestModern } from "./raw.ts";
import { watchHttp } from "./schemas/watch-http.ts";

export type EdgeKind = "serveHttp" | "nodeHandler" | "fetchHandler";

/** A request, with nothing added to it but a length and, unless it is given, the host. */
export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Text is sent with its length; a list is sent in chunks, without. */
  readonly body?: string | readonly string[] | undefined;
  readonly signal?: AbortSignal;
}

export interface HttpEdge {
  readonly kind: EdgeKind;
  readonly port: number;
  send(request: RawRequest): Promise<HttpReply>;
  stats(): HttpStats;
  close(): Promise<void>;
}

type Opener = (server: Servable, options: HttpOptions) => Promise<HttpEdge>;

const openers: Record<EdgeKind, Opener> = {
  async serveHttp(server, options) {
    const http = await serveHttp(server, { port: 0, ...options });
    const send = (request: RawRequest): Promise<HttpReply> => sendTo(http.port, request);
    return { kind: "serveHttp", port: http.port, send, stats: http.stats, close: http.close };
  },
  async nodeHandler(server, options) {
    const handler = nodeHandler(server, options);
    const http = createServer((request, response) => void handler(request, response));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const close = async (): Promise<void> => {
      await handler.close();
      http.closeAllConnections();
      http.close();
    };
    const send = (request: RawRequest): Promise<HttpReply> => sendTo(port, request);
    return { kind: "nodeHandler", port, send, stats: handler.stats, close };
  },
  async fetchHandler(server, options) {
    const handler = fetchHandler(server, options);
    const send = async (request: RawRequest): Promise<HttpReply> => {
      const controller = new AbortController();
      request.signal?.addEventListener("abort", () => controller.abort());
      const response = await handler(toFetchRequest(request, controller.signal));
      const body = response.body ?? new Blob([]).stream();
      const headers = Object.fromEntries(response.headers);
      return watched(request, new HttpReply(response.status, headers, body, () => controller.abort()));
    };
    return { kind: "fetchHandler", port: 80, send, stats: handler.stats, close: handler.close };
  },
};

const edgeKinds = Object.keys(openers) as EdgeKind[];

/** An edge that is closed when the test ends. */
export async function openEdge(
  kind: EdgeKind,
  server: Servable,
  options: HttpOptions = {},
): Promise<HttpEdge> {
  const edge = await openers[kind](server, { graceMs: 50, ...options });
  onTestFinished(() => edge.close());
  return edge;
}

/** Describes the tests of `body` once for each edge. */
export function describeEdges(
  title: string,
  body: (open: (server: Servable, options?: HttpOptions) => Promise<HttpEdge>, kind: EdgeKind) => void,
  kinds: readonly EdgeKind[] = edgeKinds,
): void {
  describe.each(kinds)(`${title} · %s`, (kind) => {
    body((server, options) => openEdge(kind, server, options), kind);
  });
}

/** Sends a request to a port of this machine on a connection of its own. */
export async function sendTo(port: number, request: RawRequest, host = "127.0.0.1"): Promise<HttpReply> {
  const { method = "POST", path = "/mcp", body, signal } = request;
  const headers = defined(request.headers);
  const outgoing = httpRequest({ host, port, method, path, headers, agent: false, signal });
  return watched(request, await finish(outgoing, body));
}

/** The reply, whose messages are checked when the test ends. */
function watched({ path = "/mcp", headers = {}, body = "" }: RawRequest, reply: HttpReply): HttpReply {
  const text = typeof body === "string" ? body : body.join("");
  watchHttp({ path, headers, body: text }, reply);
  return reply;
}

/** Sends the body of a request that has been begun. */
export function finish(outgoing: ClientRequest, body: RawRequest["body"]): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    outgoing.on("response", (response: IncomingMessage) => {
      const given = response.headers as Record<string, string | undefined>;
      resolve(new HttpReply(response.statusCode ?? 0, given, response, () => outgoing.destroy()));
    });
    outgoing.on("error", reject);
    if (typeof body === "string") return outgoing.end(body);
    outgoing.on("socket", () => outgoing.flushHeaders());
    for (const chunk of body ?? []) outgoing.write(chunk);
    outgoing.end();
  });
}

function toFetchRequest(request: RawRequest, signal: AbortSignal): Request {
  const { method = "POST", path = "/mcp", body } = request;
  const streamed = Array.isArray(body) ? new Blob(body as string[]).stream() : (body as string | undefined);
  const length = typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {};
  const headers = { ...length, ...defined(request.headers) };
  const init = { method, headers, body: streamed ?? null, signal, duplex: "half" };
  return new Request(`http://localhost${path}`, init as RequestInit);
}

export function defined(headers: RawRequest["headers"] = {}): Record<string, string> {
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

type Headers = Readonly<Record<string, string | undefined>>;

const both = "application/json, text/event-stream";
const mirroredParams: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** A message as the body of a POST, with the headers that every revision asks for. */
export function post(message: unknown, headers: Headers = {}): RawRequest {
  return {
    body: typeof message === "string" ? message : JSON.stringify(message),
    headers: { "content-type": "application/json", accept: both, ...headers },
  };
}

/** A modern request with the headers that repeat what it says. */
export function modernPost(message: JsonObject, headers: Headers = {}): RawRequest {
  return post(message, { ...mirrored(message), ...headers });
}

/** The headers that repeat what a modern request says. */
export function mirrored(message: JsonObject): Record<string, string | undefined> {
  const method = String(message["method"]);
  const name = (message["params"] as JsonObject | undefined)?.[mirroredParams[method] ?? ""];
  return {
    "mcp-protocol-version": newestModern,
    "mcp-method": method,
    "mcp-name": typeof name === "string" ? headerValue(name) : undefined,
  };
}

/** A text as a header can carry it. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** The headers that a legacy client sends in its session. */
export interface Session {
  readonly id: string;
  readonly headers: Record<string, string>;
}

/** Begins a legacy session, as a client of that revision does. */
export async function openSession(
  edge: Pick<HttpEdge, "send">,
  revision: string,
  headers: Headers = {},
): Promise<Session> {
  const reply = await edge.send(post(initializeRequest(0, revision), headers));
  await reply.complete();
  const id = reply.headers["mcp-session-id"];
  if (id === undefined) throw new Error(`No session: ${reply.status} ${reply.text}`);
  const session = { id, headers: { "mcp-session-id": id, ...versionOf(revision) } };
  await edge.send(
    post({ jsonrpc: "2.0", method: "notifications/initialized" }, { ...headers, ...session.headers }),
  );
  return session;
}

/** The version header, for a revision that has it. */
export function versionOf(revision: string): Record<string, string> {
  return revision < "2025-06-18" ? {} : { "mcp-protocol-version": revision };
}

/** Opens the GET stream of a session. */
export function openGet(
  edge: Pick<HttpEdge, "send">,
  session: Session,
  headers: Headers = {},
): Promise<HttpReply> {
  return edge.send({
    method: "GET",
    headers: { accept: "text/event-stream", ...session.headers, ...headers },
  });
}
