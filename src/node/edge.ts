// From node:http's objects to plain values and back, with nothing in between.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EventSink, HttpBody, HttpHeaders, HttpRequest, HttpResponder } from "../http/exchange.ts";
import type { RefusalWatch } from "../http/refusals.ts";
import { forwardedAddress } from "../http/proxy.ts";

export class NodeRequest implements HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly #message: IncomingMessage;
  readonly #trustedProxies: number;

  constructor(message: IncomingMessage, url: string, trustedProxies: number) {
    const mark = url.indexOf("?");
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? "" : url.slice(mark + 1);
    this.#message = message;
    this.#trustedProxies = trustedProxies;
  }

  get method(): string {
    return this.#message.method ?? "GET";
  }

  get address(): string | undefined {
    return forwardedAddress(this, this.#trustedProxies) ?? this.#message.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    return this.#message.headers[name] as string | undefined;
  }

  headers(): Readonly<Record<string, string | undefined>> {
    return this.#message.headers as Record<string, string | undefined>;
  }

  body(maxBytes: number): Promise<HttpBody> {
    if (Number(this.header("content-length")) > maxBytes) return Promise.resolve({ kind: "too-large" });
    // A framework such as Express may have read it already.
    const { body } = this.#message as { body?: unknown };
    if (body !== undefined) return Promise.resolve(frameworkBody(body, maxBytes));
    // Read by somebody who did not leave it here: no event would come any more.
    if (this.#message.readableEnded || this.#message.destroyed) return Promise.resolve({ kind: "broken" });
    return collect(this.#message, maxBytes);
  }
}

function frameworkBody(body: unknown, maxBytes: number): HttpBody {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return { kind: "parsed", value: body };
  const text = body.toString();
  return Buffer.byteLength(text) > maxBytes ? { kind: "too-large" } : { kind: "text", text };
}

/** Collects the body. The response keeps the request for as long as it is open, so nothing is left attached to it. */
function collect(message: IncomingMessage, maxBytes: number): Promise<HttpBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (body: HttpBody): void => {
      message.off("data", onData).off("end", onEnd).off("close", onClose);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      message.pause();
      settle({ kind: "too-large" });
    };
    const onEnd = (): void => {
      const [first] = chunks;
      const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      settle({ kind: "text", text: whole.toString("utf8") });
    };
    const onClose = (): void => settle({ kind: "broken" });
    message.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

/** Headers in the form that Node takes with the least work: names and values in turn. */
function flat(headers: HttpHeaders, length: number | undefined): string[] {
  const list = length === undefined ? [] : ["content-length", String(length)];
  for (const name in headers) list.push(name, headers[name] ?? "");
  return list;
}

/** By connection, the responses that wait behind another one on it: requests may come before the last is answered. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/** How many requests a client may send ahead on one connection; one that sends more is cut off. */
const maxAhead = 100;

/** Ends a response with its connection. While it waits for its turn, node:http does not tell it that nobody is there. */
function closeWith(socket: Socket, response: ServerResponse): void {
  let responses = queued.get(socket);
  if (responses === undefined) {
    const waiting = (responses = new Set());
    queued.set(socket, waiting);
    socket.once("close", () => {
      for (const one of waiting) {
        one.destroy();
        one.emit("close");
      }
    });
  }
  const waiting = responses.add(response);
  response.once("socket", () => waiting.delete(response));
  if (waiting.size > maxAhead) socket.destroy();
}

export class NodeResponder implements HttpResponder {
  refusals: RefusalWatch | undefined;
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
    if (response.socket === null) closeWith(response.req.socket, response);
  }

  reply(status: number, headers: HttpHeaders, body = ""): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const length = Buffer.byteLength(body);
    response.writeHead(status, flat(headers, status === 204 ? undefined : length));
    // As many bytes as characters: ASCII, which is the same in both, and one of them only copies it.
    response.end(body, length === body.length ? "latin1" : "utf8");
  }

  stream(headers: HttpHeaders): EventSink {
    this.#response.writeHead(200, headers);
    this.#response.flushHeaders();
    return new NodeEventSink(this.#response);
  }

  onGone(callback: () => void): void {
    this.#response.on("close", () => {
      if (!this.#response.writableFinished) callback();
    });
  }

  get gone(): boolean {
    return this.#response.destroyed || this.#response.req.socket.destroyed;
  }
}

/** Past this many bytes that the system has not taken, the reader counts as behind. */
const highWater = 64 * 1024;

class NodeEventSink implements EventSink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get congested(): boolean {
    return this.#response.writableLength > highWater;
  }

  write(text: string): boolean {
    // A call may still have something to say when its stream has been closed; to write it would be an error.
    if (this.#response.writableEnded || this.#response.destroyed) return true;
    this.#response.write(text);
    return !this.congested;
  }

  onDrain(callback: () => void): void {
    this.#response.on("drain", callback);
  }

  onClose(callback: () => void): void {
    // The client may have gone before the stream was opened.
    if (this.#response.destroyed) queueMicrotask(callback);
    else this.#response.on("close", callback);
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
