// A call that is being answered: if it takes long it gets a stream, so that nothing in between cuts the connection.
import type { EventStream } from "./event-stream.ts";
import type { Tended } from "./heartbeat.ts";

export class PendingPost implements Tended {
  readonly #stream: EventStream;
  readonly #streamAt: number;
  readonly #keepAliveMs: number;
  /** For a stream that stays open: when it is to end, and how. */
  readonly #life: { readonly endAt: number; readonly end: () => void } | undefined;
  #nextKeepAlive = 0;

  constructor(
    stream: EventStream,
    now: number,
    times: { readonly streamAfterMs: number; readonly keepAliveMs: number },
    life: { readonly endAt: number; readonly end: () => void } | undefined = undefined,
  ) {
    this.#stream = stream;
    this.#streamAt = now + times.streamAfterMs;
    this.#keepAliveMs = times.keepAliveMs;
    this.#life = life;
  }

  tend(now: number): boolean {
    if (this.#life !== undefined && now >= this.#life.endAt) this.#life.end();
    if (!this.#stream.opened && now >= this.#streamAt) this.#stream.open();
    if (this.#stream.opened && now >= this.#nextKeepAlive) {
      this.#stream.keepAlive();
      this.#nextKeepAlive = now + this.#keepAliveMs;
    }
    return true;
  }
}
