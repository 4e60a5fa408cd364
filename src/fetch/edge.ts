// From web-standard requests and responses to plain values and back.
import type { EventSink, HttpBody, HttpHeaders, HttpRequest, HttpResponder } from "../http/exchange.ts";
import type { RefusalWatch } from "../http/refusals.ts";
import { forwardedAddress } from "../http/proxy.ts";

export class FetchRequest implements HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly #request: Request;
  readonly #host: string;
  readonly #trustedProxies: number;

  constructor(request: Request, trustedProxies: number) {
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
    // A request that was made in this process has no Host header: its URL says the same.
    return name === "host" ? (value ?? this.#host) : value;
  }

  headers(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(this.#request.headers);
  }

  async body(maxBytes: number): Promise<HttpBody> {
    if (Number(this.header("content-length")) > maxBytes) return { kind: "too-large" };
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    try {
      for await (const chunk of this.#request.body ?? []) {
        size += chunk.length;
        if (size > maxBytes) return { kind: "too-large" };
        text += decoder.decode(chunk, { stream: true });
      }
    } catch {
      return { kind: "broken" };
    }
    return { kind: "text", text: text + decoder.decode() };
  }
}

export class FetchResponder implements HttpResponder {
  refusals: RefusalWatch | undefined;
  readonly response: Promise<Response>;
  readonly #onGone: (() => void)[] = [];
  #gone = false;
  #respond: (response: Response) => void = () => {};
  #answered = false;
  #sink: FetchEventSink | undefined;

  constructor(signal: AbortSignal) {
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
    if (signal.aborted) this.#leave();
    signal.addEventListener("abort", () => {
      this.#sink?.lose();
      this.#leave();
    });
  }

  reply(status: number, headers: HttpHeaders, body?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    const isEmpty = body === undefined || status === 204;
    this.#respond(toResponse(isEmpty ? null : body, status, headers));
  }

  stream(headers: HttpHeaders): EventSink {
    this.#answered = true;
    this.#sink = new FetchEventSink();
    this.#sink.onClose(() => this.#leave());
    if (this.#gone) this.#sink.lose();
    this.#respond(toResponse(this.#sink.body, 200, headers));
    return this.#sink;
  }

  onGone(callback: () => void): void {
    this.#onGone.push(callback);
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** The client has gone: by the signal of its request, or by cancelling the body that it was reading. */
  #leave(): void {
    if (this.#gone || (this.#answered && !this.#sink?.lost)) return;
    this.#gone = true;
    for (const callback of this.#onGone) callback();
    // Whoever waits for the response must not wait for ever; nobody will read it.
    this.reply(499, {});
  }
}

/** With headers of its own: some servers write into what a response was made with. */
function toResponse(
  body: string | ReadableStream<Uint8Array> | null,
  status: number,
  headers: HttpHeaders,
): Response {
  return new Response(body, { status, headers: { ...headers } });
}

/** Past this many bytes that nobody has read, the reader counts as behind. */
const highWater = 64 * 1024;

class FetchEventSink implements EventSink {
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #drains: (() => void)[] = [];
  readonly #closes: (() => void)[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  ended = false;
  /** The reader has gone before the end. */
  lost = false;

  constructor() {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          for (const callback of this.#drains) callback();
        },
        cancel: () => {
          this.lost = true;
          this.#closed();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: highWater }),
    );
  }

  get congested(): boolean {
    return (this.#controller?.desiredSize ?? 0) <= 0;
  }

  write(text: string): boolean {
    if (this.ended) return true;
    this.#controller?.enqueue(this.#encoder.encode(text));
    return !this.congested;
  }

  onDrain(callback: () => void): void {
    this.#drains.push(callback);
  }

  onClose(callback: () => void): void {
    if (this.ended) queueMicrotask(callback);
    else this.#closes.push(callback);
  }

  end(): void {
    if (this.ended) return;
    this.#controller?.close();
    this.#closed();
  }

  destroy(): void {
    this.#cut("The reader is too slow");
  }

  /** Nobody reads any more. */
  lose(): void {
    this.#cut("The client has gone");
  }

  #cut(reason: string): void {
    if (this.ended) return;
    this.lost = true;
    this.#controller?.error(new Error(reason));
    this.#closed();
  }

  #closed(): void {
    if (this.ended) return;
    this.ended = true;
    for (const callback of this.#closes) callback();
  }
}
