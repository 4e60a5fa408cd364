// Adapts requests of `node:http` to `HttpRequest`.
import { refuseHeaderNames } from "../http/edge/header-names.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBody, HttpRequest } from "../http/edge/request.ts";
import { forwardedAddress } from "../http/edge/proxy.ts";
import type { Load } from "../../base/limits/loads.ts";
import { GrowingBuffer } from "../../base/wire/bytes.ts";

export class NodeRequest implements HttpRequest {
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string;
  readonly #message: IncomingMessage;
  readonly #trustedProxies: number;
  caller = "";

  static {
    refuseHeaderNames(this.prototype);
  }

  constructor(message: IncomingMessage, target: string, trustedProxies: number) {
    const whole = target.startsWith("/") ? undefined : absoluteForm.exec(target);
    this.authority = whole?.[1];
    const url = whole ? whole[2] || "/" : target;
    const mark = url.indexOf("?");
    this.path = mark < 0 ? url : url.slice(0, mark) || "/";
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
    return this.#message.headers[name.toLowerCase()] as string | undefined;
  }

  headers(): Readonly<Record<string, string | undefined>> {
    return this.#message.headers as Record<string, string | undefined>;
  }

  body(maxBytes: number, load: Load): Promise<HttpBody> {
    const length = Number(this.header("content-length"));
    if (length > maxBytes) return Promise.resolve({ kind: "too-large" });
    // A framework such as Express may have read it already.
    const { body, readableDidRead, readableEnded, destroyed } = this.#message as IncomingMessage & {
      readonly body?: unknown;
    };
    // Express 4 sets an empty object where its parsers have read nothing.
    const isUnread = readableDidRead === false && isEmpty(body);
    if (body !== undefined && !isUnread) return Promise.resolve(frameworkBody(body, maxBytes));
    // Other code has read the body and not stored it, so no event would follow.
    if (readableEnded) return Promise.resolve({ kind: "taken" });
    if (destroyed) return Promise.resolve({ kind: "broken" });
    return collect(this.#message, length, maxBytes, load);
  }
}

/** Throws unless these are what `node:http` passes to a listener: frameworks have objects of their own. */
export function assertNodeHttp(message: unknown, response: unknown): void {
  const { on } = Object(message) as Partial<IncomingMessage>;
  const { writeHead } = Object(response) as Partial<ServerResponse>;
  if (typeof on === "function" && typeof writeHead === "function") return;
  throw new TypeError(
    "This handler takes the request and the response of node:http: in Fastify, pass request.raw and reply.raw; for web-standard requests, as in Hono, use fetchHandler",
  );
}

/** A target with the host before the path, as proxies get it; HTTP requires every server to accept it. */
const absoluteForm = /^https?:\/\/([^/?#]*)([^#]*)$/i;

function isEmpty(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).length === 0;
}

function frameworkBody(body: unknown, maxBytes: number): HttpBody {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) {
    // A form parser turns the whole message into a field name.
    const isForm = Object.keys(Object(body) as object)[0]?.startsWith("{") === true;
    return isForm ? { kind: "taken" } : { kind: "parsed", value: body };
  }
  const text = body.toString();
  return Buffer.byteLength(text) > maxBytes ? { kind: "too-large" } : { kind: "text", text };
}

const none = Buffer.alloc(0);

/** Reads the body, and removes its listeners: an open response keeps the request in memory with everything attached to it. */
function collect(message: IncomingMessage, length: number, maxBytes: number, load: Load): Promise<HttpBody> {
  return new Promise((resolve) => {
    let whole: Buffer | undefined;
    let buffer: GrowingBuffer | undefined;
    const settle = (body: HttpBody): void => {
      // In reverse order, because deleting any but the newest listener makes the emitter's table slow.
      message.off("close", onClose).off("end", onEnd).off("data", onData);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      // Most bodies arrive in one chunk, which needs neither a copy nor a count.
      if (chunk.length === length) return void (whole = chunk);
      buffer ??= new GrowingBuffer();
      buffer.add(chunk);
      const isTooLarge = buffer.length > maxBytes;
      if (!isTooLarge && load.grow(buffer.capacity)) return;
      message.pause();
      settle({ kind: isTooLarge ? "too-large" : "too-heavy" });
    };
    const onEnd = (): void => {
      const bytes =
        whole ?? (buffer === undefined ? none : Buffer.from(buffer.bytes.buffer, 0, buffer.length));
      settle({ kind: "text", text: bytes.toString("utf8") });
    };
    const onClose = (): void => settle({ kind: "broken" });
    message.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}
