// Adapts requests of `node:http` to `HttpRequest`.
import type { IncomingMessage } from "node:http";
import type { HttpBody, HttpRequest } from "../http/edge/request.ts";
import { forwardedAddress } from "../http/edge/proxy.ts";
import type { Load } from "../limits/loads.ts";
import { GrowingBuffer } from "../wire/bytes.ts";

export class NodeRequest implements HttpRequest {
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string;
  readonly #message: IncomingMessage;
  readonly #trustedProxies: number;
  caller = "";

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
    return this.#message.headers[name] as string | undefined;
  }

  headers(): Readonly<Record<string, string | undefined>> {
    return this.#message.headers as Record<string, string | undefined>;
  }

  body(maxBytes: number, load: Load): Promise<HttpBody> {
    const length = Number(this.header("content-length"));
    if (length > maxBytes) return Promise.resolve({ kind: "too-large" });
    // A framework such as Express may have read it already.
    const { body } = this.#message as { body?: unknown };
    if (body !== undefined) return Promise.resolve(frameworkBody(body, maxBytes));
    // Other code has read the body and not stored it, so no event would follow.
    if (this.#message.readableEnded || this.#message.destroyed) return Promise.resolve({ kind: "broken" });
    return collect(this.#message, length, maxBytes, load);
  }
}

/** A target with the host before the path, as proxies get it; HTTP requires every server to accept it. */
const absoluteForm = /^https?:\/\/([^/?#]*)([^#]*)$/i;

function frameworkBody(body: unknown, maxBytes: number): HttpBody {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return { kind: "parsed", value: body };
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
