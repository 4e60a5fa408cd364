// An HTTP server that a test programs: it answers each method as told, byte by byte if need be, and keeps what clients sent.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type ClientEvent, connect, type ConnectOptions, type McpClient } from "halyard/client";
import { onTestFinished } from "vitest";
import { metaKeys, newestLegacy, newestModern } from "./revisions.ts";
import type { Sent } from "./scripted-wire.ts";
import { until } from "./turns.ts";

/** One request of a client. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The message in the body. */
  readonly message: Sent;
  /** The connection that it came on. */
  readonly socket: Socket;
  readonly response: ServerResponse;
  /** Milliseconds since the process started. */
  readonly at: number;
  /** Answers with the result, as JSON. */
  result(result?: object): void;
  /** Answers with a status. */
  refuse(status: number, body?: string | object, headers?: Record<string, string>): void;
  /** Begins a stream of events, and returns the function that writes to it. */
  stream(headers?: Record<string, string>): (...texts: string[]) => void;
}

type Script = (asked: Asked) => unknown;

/** The text of an event. */
export function event(
  message: object | "",
  fields: { id?: string; retry?: number; type?: string } = {},
): string {
  const { id, retry, type } = fields;
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(type === undefined ? [] : [`event: ${type}`]),
    `data: ${message === "" ? "" : JSON.stringify(message)}`,
  ];
  return `${lines.join("\n")}\n\n`;
}

/** A response, and a log message, as a server sends them. */
export const responseTo = ({ message }: Asked, result: object = {}): object => ({
  jsonrpc: "2.0",
  id: message.id,
  result: { resultType: "complete", ...result },
});
export const logged = (data: unknown): object => ({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level: "info", data },
});

export class HttpScript {
  readonly asked: Asked[] = [];
  /** The session ids that were handed out. */
  readonly sessions: string[] = [];
  readonly #server: Server;
  readonly #scripts = new Map<string, Script>();
  /** The connections that are open at the moment. */
  readonly sockets = new Set<Socket>();

  private constructor(revision: string) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method = "", url: path = "", headers, socket } = request;
        const body = Buffer.concat(chunks).toString();
        this.#answer({ method, path, headers, body, socket, response });
      });
    });
    this.#server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    if (revision === newestModern) this.#speakModern();
    else this.#speakLegacy(revision);
  }

  /** A server of that revision, which is closed when the test ends. */
  static async open(revision: string = newestModern): Promise<HttpScript> {
    const script = new HttpScript(revision);
    await new Promise<void>((resolve) => script.#server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => script.close());
    return script;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Sets how a JSON-RPC method, or the HTTP method GET or DELETE, is answered. */
  on(what: string, script: Script): this {
    this.#scripts.set(what, script);
    return this;
  }

  /** The requests of that JSON-RPC or HTTP method, so far. */
  of(what: string): Asked[] {
    return this.asked.filter(({ method, message }) => (message.method ?? method) === what);
  }

  /** Resolves with the request of that number, once it has arrived. */
  async next(what: string, count = 1): Promise<Asked> {
    await until(() => this.of(what).length >= count);
    return this.of(what)[count - 1] as Asked;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #speakModern(): void {
    this.on("server/discover", ({ result }) =>
      result({
        supportedVersions: [newestModern],
        capabilities: { tools: {}, logging: {} },
        _meta: { [metaKeys.serverInfo]: { name: "scripted", version: "1.0.0" } },
        ttlMs: 0,
        cacheScope: "private",
      }),
    );
  }

  #speakLegacy(revision: string): void {
    this.on("initialize", ({ response, message }) => {
      const id = `session-${this.sessions.length + 1}`;
      this.sessions.push(id);
      const serverInfo = { name: "scripted", version: "1.0.0" };
      const result = { protocolVersion: revision, capabilities: { tools: {}, logging: {} }, serverInfo };
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": id });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    });
    this.on("logging/setLevel", ({ result }) => result());
    this.on("GET", ({ refuse }) => refuse(405));
    this.on("DELETE", ({ refuse }) => refuse(200));
  }

  #answer(given: Pick<Asked, "method" | "path" | "headers" | "body" | "socket" | "response">): void {
    const { body, response } = given;
    const message = (body === "" ? {} : JSON.parse(body)) as Sent;
    const asked: Asked = {
      ...given,
      message,
      at: performance.now(),
      result: (result = {}) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(responseTo(asked, result)));
      },
      refuse: (status, text = "", headers = {}) => {
        const isText = typeof text === "string";
        response.writeHead(status, { ...(isText ? {} : { "content-type": "application/json" }), ...headers });
        response.end(isText ? text : JSON.stringify(text));
      },
      stream: (headers = {}) => {
        response.writeHead(200, { "content-type": "text/event-stream", ...headers });
        response.flushHeaders();
        return (...texts) => texts.forEach((text) => response.write(text));
      },
    };
    this.asked.push(asked);
    const script = this.#scripts.get(message.method ?? given.method);
    if (script) void script(asked);
    else if (message.id === undefined) asked.refuse(202);
    else
      asked.refuse(404, {
        jsonrpc: "2.0",
        id: message.id,
        error: { code: -32601, message: "No such method" },
      });
  }
}

/** Waits that take no time worth mentioning. */
export const quick = { firstMs: 1, maxMs: 4, maxAttempts: 4 };

export interface Started {
  readonly server: HttpScript;
  readonly client: McpClient;
  readonly events: ClientEvent[];
  /** The data of the log messages that arrived. */
  readonly logs: unknown[];
}

/** A client of a server that the test programs first. */
export async function start(
  options: ConnectOptions & { readonly revision?: string | undefined } = {},
  program: (server: HttpScript) => void = () => {},
): Promise<Started> {
  const { revision = newestModern } = options;
  const server = await HttpScript.open(revision);
  program(server);
  const events: ClientEvent[] = [];
  const logs: unknown[] = [];
  const client = await connect(server.url, {
    backoff: quick,
    observe: (seen) => events.push(seen),
    onLog: ({ data }) => logs.push(data),
    ...options,
    revision,
  });
  onTestFinished(() => client.close());
  return { server, client, events, logs };
}

/** The reason of a promise that must reject. */
export async function failing(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const outcome = await promise.then(
    (value) => new Error(`It resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  return outcome as Error & Record<string, unknown>;
}

export { newestLegacy, newestModern };
