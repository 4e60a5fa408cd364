// From web-standard requests and responses to plain values and back.
import type { EventSink, HttpBody, HttpHeaders, HttpRequest, HttpResponder } from "../http/exchange.ts";

export class FetchRequest implements HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly address: undefined;
  readonly #request: Request;
  readonly #host: string;

  constructor(request: Request) {
    const url = new URL(request.url);
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.#host = url.host;
    this.#request = request;
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
  readonly response: Promise<Response>;
  readonly #signal: AbortSignal;
  #respond: (response: Response) => void = () => {};
  #answered = false;
  #sink: FetchEventSink | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
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
    this.#sink = new FetchEventSink(() => {
      for (const callback of this.#onCancel) callback();
    });
    this.#respond(toResponse(this.#sink.body, 200, headers));
    return this.#sink;
  }

  onGone(callback: () => void): void {
    this.#signal.addEventListener("abort", () => {
      if (this.#sink === undefined ? !this.#answered : !this.#sink.ended) callback();
    });
    this.#onCancel.push(callback);
  }

  readonly #onCancel: (() => void)[] = [];
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
  readonly #onCancel: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  ended = false;

  /** `onCancel` is called when the reader turns away or is cut off: not every runtime aborts the request's signal then. */
  constructor(onCancel: () => void) {
    this.#onCancel = onCancel;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          for (const callback of this.#drains) callback();
        },
        cancel: () => {
          this.#closed();
          onCancel();
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
    this.#closes.push(callback);
  }

  end(): void {
    if (this.ended) return;
    this.#controller?.close();
    this.#closed();
  }

  destroy(): void {
    if (this.ended) return;
    this.#controller?.error(new Error("The reader is too slow"));
    this.#closed();
    this.#onCancel();
  }

  #closed(): void {
    if (this.ended) return;
    this.ended = true;
    for (const callback of this.#closes) callback();
  }
}
