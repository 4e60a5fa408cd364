// The body of a web-standard response, sent as fast as the client reads.
import type { EventSink, HttpRequest } from "../http/edge/request.ts";
import { highWater, ChunkQueue, type OutgoingResponse, type Unsent } from "../http/edge/unsent.ts";

export class FetchOutflow implements EventSink, OutgoingResponse {
  readonly body: ReadableStream<Uint8Array>;
  readonly #request: HttpRequest;
  readonly #unsent: Unsent;
  readonly #encoder = new TextEncoder();
  readonly #queue = new ChunkQueue();
  readonly #drains: (() => void)[] = [];
  readonly #closes: (() => void)[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Whether the reader has asked for data and the queue was empty. */
  #isWanted = false;
  taken = 0;
  /** Whether nothing more is written; queued data may still be read. */
  ended = false;
  /** Whether the reader disconnected before it had read everything. */
  lost = false;
  isDestroyed = false;

  constructor(request: HttpRequest, unsent: Unsent) {
    this.#request = request;
    this.#unsent = unsent;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#handOut(),
        cancel: () => this.#lose(),
      },
      // Keep data out of the stream's own queue, which does not show whether it is read.
      { highWaterMark: 0 },
    );
  }

  get caller(): string {
    return this.#request.caller;
  }

  get unsent(): number {
    return this.#queue.bytes;
  }

  get congested(): boolean {
    return this.unsent > highWater;
  }

  write(text: string): boolean {
    if (this.ended) return true;
    this.#queue.add(this.#encoder.encode(text));
    if (this.#isWanted) this.#handOut();
    if (!this.congested) return true;
    this.watch();
    return false;
  }

  watch(): void {
    if (this.unsent > 0) this.#unsent.watch(this);
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
    this.#close();
    if (this.unsent === 0) this.#controller?.close();
    else this.watch();
  }

  destroy(): void {
    this.isDestroyed = true;
    if (this.#drop()) this.#controller?.error(new Error("The reader is too slow"));
  }

  /** Ends the body because the client has disconnected. It is no error: servers such as that of Hono would print it with a stack. */
  leave(): void {
    if (this.#drop()) this.#controller?.close();
  }

  /** Drops what will not be read. Returns false if the body has ended already. */
  #drop(): boolean {
    if (this.lost || (this.ended && this.unsent === 0)) return false;
    this.#lose();
    return true;
  }

  #handOut(): void {
    const chunk = this.#queue.next();
    this.#isWanted = chunk === undefined;
    if (chunk === undefined) return;
    this.taken += chunk.length;
    this.#controller?.enqueue(chunk);
    if (this.unsent > 0) return;
    this.#unsent.forget(this);
    if (this.ended) this.#controller?.close();
    else for (const callback of this.#drains) callback();
  }

  #lose(): void {
    this.lost = true;
    this.#queue.clear();
    this.#unsent.forget(this);
    this.#close();
  }

  #close(): void {
    if (this.ended) return;
    this.ended = true;
    for (const callback of this.#closes) callback();
  }
}
