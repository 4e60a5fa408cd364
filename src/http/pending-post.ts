// A call that is being answered: if it takes long it gets a stream, so that nothing in between cuts the connection.
import type { EventStream } from "./event-stream.ts";
import type { Tended } from "./heartbeat.ts";

/** The settings that matter to a call. */
export interface PendingTimes {
  readonly streamAfterMs: number;
  readonly keepAliveMs: number;
  readonly resumeWindowMs: number;
}

export class PendingPost implements Tended {
  readonly #stream: EventStream;
  readonly #times: PendingTimes;
  readonly #streamAt: number;

  constructor(stream: EventStream, times: PendingTimes) {
    this.#stream = stream;
    this.#times = times;
    this.#streamAt = Date.now() + times.streamAfterMs;
  }

  tend(now: number): boolean {
    const { keepAliveMs, resumeWindowMs } = this.#times;
    const { opened, lostAt, expiresAt = Number.POSITIVE_INFINITY } = this.#stream;
    if (!opened && now >= this.#streamAt) this.#stream.open();
    if (this.#stream.opened) this.#stream.keepAlive(now, keepAliveMs);
    // The call goes on: where the client can come back for its answer, it needs a fresh token for that.
    if (now >= expiresAt) this.#stream.pause();
    if (lostAt !== undefined && now - lostAt >= resumeWindowMs) this.#stream.giveUp();
    return true;
  }
}
