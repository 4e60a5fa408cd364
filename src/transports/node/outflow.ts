// Writes to a response of `node:http` as fast as the client reads.
import type { ServerResponse } from "node:http";
import type { EventSink, HttpRequest } from "../http/edge/request.ts";
import { highWater, ChunkQueue, type OutgoingResponse, type Unsent } from "../http/edge/unsent.ts";

export class NodeOutflow implements EventSink, OutgoingResponse {
  readonly #response: ServerResponse;
  readonly #request: HttpRequest;
  readonly #unsent: Unsent;
  /** The rest of large writes; usually nothing. */
  #queue: ChunkQueue | undefined;
  #drains: (() => void)[] | undefined;
  #isFull = false;
  #isEnding = false;
  #isWatched = false;
  isDestroyed = false;

  constructor(response: ServerResponse, request: HttpRequest, unsent: Unsent) {
    this.#response = response;
    this.#request = request;
    this.#unsent = unsent;
  }

  get caller(): string {
    return this.#request.caller;
  }

  get unsent(): number {
    return this.#response.writableLength + this.#queued;
  }

  get taken(): number {
    return (this.#response.socket?.bytesWritten ?? 0) - this.#response.writableLength;
  }

  get congested(): boolean {
    return this.unsent > highWater;
  }

  write(text: string): boolean {
    // A call may still write after its stream has closed, which `node:http` would treat as an error.
    if (this.#isOver || this.#isEnding) return true;
    if (this.#queued > 0 || text.length > highWater) this.#enqueue(text);
    else this.#response.write(text);
    if (!this.congested) return true;
    this.watch();
    return false;
  }

  watch(): void {
    if (this.unsent === 0 || this.#response.destroyed) return;
    if (!this.#isWatched) this.#response.once("close", () => this.#unsent.forget(this));
    this.#isWatched = true;
    this.#unsent.watch(this);
  }

  onDrain(callback: () => void): void {
    this.#watchDrains().push(callback);
  }

  onClose(callback: () => void): void {
    // The client may have disconnected before the stream opened.
    if (this.#response.destroyed) queueMicrotask(callback);
    else this.#response.on("close", callback);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isEnding = true;
    this.#flush();
    this.watch();
  }

  destroy(): void {
    this.isDestroyed = true;
    this.#response.destroy();
  }

  get #queued(): number {
    return this.#queue?.bytes ?? 0;
  }

  /** Other code may end the response too. */
  get #isOver(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }

  #enqueue(text: string): void {
    this.#watchDrains();
    (this.#queue ??= new ChunkQueue()).add(Buffer.from(text));
    this.#flush();
  }

  #watchDrains(): (() => void)[] {
    if (this.#drains === undefined) this.#response.on("drain", () => this.#drained());
    return (this.#drains ??= []);
  }

  #drained(): void {
    this.#isFull = false;
    this.#flush();
    if (!this.#isFull && !this.#isOver) for (const callback of this.#drains ?? []) callback();
  }

  #flush(): void {
    if (this.#isOver) return;
    while (!this.#isFull) {
      const chunk = this.#queue?.next();
      if (chunk === undefined) break;
      this.#isFull = !this.#response.write(chunk);
    }
    if (this.#isEnding && this.#queued === 0) this.#response.end();
  }
}
