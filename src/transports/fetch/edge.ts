// Adapts web-standard requests and responses to `HttpRequest` and `HttpResponder`.
import { refuseHeaderNames } from "../http/edge/header-names.ts";
import {
  closedSink,
  type EventSink,
  type HttpBody,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponder,
  type RefusalWatch,
} from "../http/edge/request.ts";
import { highWater, type Unsent } from "../http/edge/unsent.ts";
import { forwardedAddress } from "../http/edge/proxy.ts";
import type { Load } from "../../base/limits/loads.ts";
import { GrowingBuffer } from "../../base/wire/bytes.ts";
import { FetchOutflow } from "./outflow.ts";

export class FetchRequest implements HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly #request: Request;
  readonly #host: string;
  readonly #trustedProxies: number;
  caller = "";

  static {
    refuseHeaderNames(this.prototype);
  }

  constructor(request: Request, trustedProxies: number) {
    if (!isRequest(request)) {
      throw new TypeError(
        "This handler takes a web-standard Request: in Hono, pass context.req.raw; for requests of node:http, as in Express or Fastify, use nodeHandler",
      );
    }
    const url = new URL(request.url);
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.#host = url.host;
    this.#request = request;
    this.#trustedProxies = trustedProxies;
  }

  get address(): string | undefined {
    return forwardedAddress(this, this.#trustedProxies);
  }

  get method(): string {
    return this.#request.method;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name) ?? undefined;
    // A request made in this process has no Host header, but its URL names the host.
    return name.toLowerCase() === "host" ? (value ?? this.#host) : value;
  }

  headers(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(this.#request.headers);
  }

  async body(maxBytes: number, load: Load): Promise<HttpBody> {
    if (Number(this.header("content-length")) > maxBytes) return { kind: "too-large" };
    if (this.#request.bodyUsed) return { kind: "taken" };
    const buffer = new GrowingBuffer();
    try {
      for await (const chunk of this.#request.body ?? []) {
        if (buffer.length + chunk.length > maxBytes) return { kind: "too-large" };
        buffer.add(chunk);
        if (!load.grow(buffer.capacity)) return { kind: "too-heavy" };
      }
    } catch {
      return { kind: "broken" };
    }
    return { kind: "text", text: new TextDecoder().decode(buffer.bytes) };
  }
}

function isRequest(request: unknown): boolean {
  const { url, headers } = Object(request) as Partial<Request>;
  return typeof url === "string" && typeof headers?.get === "function";
}

export class FetchResponder implements HttpResponder {
  refusals: RefusalWatch | undefined;
  corsHeaders: HttpHeaders | undefined;
  readonly response: Promise<Response>;
  readonly #onGone: (() => void)[] = [];
  #gone = false;
  #resolve: (response: Response) => void = () => {};
  #answered = false;
  #outflow: FetchOutflow | undefined;
  readonly #request: FetchRequest;
  readonly #unsent: Unsent;

  constructor(signal: AbortSignal, request: FetchRequest, unsent: Unsent) {
    this.#request = request;
    this.#unsent = unsent;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (signal.aborted) this.#leave();
    signal.addEventListener("abort", () => {
      this.#outflow?.leave();
      this.#leave();
    });
  }

  reply(status: number, headers: HttpHeaders, body?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    const isEmpty = body === undefined || status === 204 || this.#request.method === "HEAD";
    if (isEmpty || body.length <= highWater) {
      return this.#respond(isEmpty ? null : body, status, headers);
    }
    const outflow = (this.#outflow = new FetchOutflow(this.#request, this.#unsent));
    outflow.write(body);
    const length = String(outflow.unsent);
    outflow.end();
    this.#respond(outflow.body, status, { ...headers, "content-length": length });
  }

  stream(headers: HttpHeaders): EventSink {
    if (this.#answered) return closedSink;
    this.#answered = true;
    const outflow = (this.#outflow = new FetchOutflow(this.#request, this.#unsent));
    outflow.onClose(() => this.#leave());
    this.#respond(outflow.body, 200, headers);
    return outflow;
  }

  onGone(callback: () => void): void {
    this.#onGone.push(callback);
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Copies the headers, since some servers change the object that a response was made with. */
  #respond(body: string | ReadableStream<Uint8Array> | null, status: number, headers: HttpHeaders): void {
    this.#resolve(new Response(body, { status, headers: { ...headers, ...this.corsHeaders } }));
  }

  /** The client has disconnected: it aborted the request, or cancelled the body. */
  #leave(): void {
    if (this.#gone || (this.#answered && !this.#outflow?.lost)) return;
    this.#gone = true;
    for (const callback of this.#onGone) callback();
    // Settles the promise of the response. The host no longer uses the response.
    this.reply(499, {});
  }
}
