// A call that is being answered: if it takes long it gets a stream, so that nothing in between cuts the connection.
import type { EventStream } from "./event-stream.ts";
import type { Tended } from "./heartbeat.ts";

export class PendingPost implements Tended {
  readonly #stream: EventStream;
  readonly #streamAt: number;
  readonly #keepAliveMs: number;
  #nextKeepAlive = 0;

  constructor(stream: EventStream, times: { readonly streamAfterMs: number; readonly keepAliveMs: number }) {
    this.#stream = stream;
    this.#streamAt = Date.now() + times.streamAfterMs;
    this.#keepAliveMs = times.keepAliveMs;
  }

  tend(now: number): boolean {
    if (!this.#stream.opened && now >= this.#streamAt) this.#stream.open();
    if (this.#stream.opened && now >= this.#nextKeepAlive) {
      this.#stream.keepAlive();
      this.#nextKeepAlive = now + this.#keepAliveMs;
    }
    return true;
  }
}
