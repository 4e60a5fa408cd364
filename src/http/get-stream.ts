// A GET stream while it is open or may be resumed: kept alive, ended in time, and given up when nobody comes back.
import type { HttpState } from "./state.ts";
import type { EventStream } from "./event-stream.ts";
import type { Tended } from "./heartbeat.ts";
import type { HttpSession } from "./session.ts";

export class GetStream implements Tended {
  readonly #state: HttpState;
  readonly #session: HttpSession;
  readonly #stream: EventStream;
  /** When its connection is closed in good order. */
  #releaseAt: number;
  #nextKeepAlive: number;

  constructor(state: HttpState, session: HttpSession, stream: EventStream) {
    const now = Date.now();
    this.#state = state;
    this.#session = session;
    this.#stream = stream;
    this.#releaseAt = now + state.settings.maxStreamMs;
    this.#nextKeepAlive = now + state.settings.keepAliveMs;
  }

  tend(now: number): boolean {
    const { keepAliveMs, maxStreamMs, limits } = this.#state.settings;
    if (this.#stream.live) {
      if (now >= this.#releaseAt) {
        this.#releaseAt = now + maxStreamMs;
        this.#stream.release();
      } else if (now >= this.#nextKeepAlive) {
        this.#stream.keepAlive();
        this.#nextKeepAlive = now + keepAliveMs;
      }
      return true;
    }
    this.#releaseAt = now + maxStreamMs;
    const { lostAt } = this.#stream;
    return lostAt !== undefined && now - lostAt < limits.keepMs ? true : this.#end();
  }

  #end(): boolean {
    this.#stream.end();
    this.#session.streamGone(this.#stream);
    const { log } = this.#stream;
    if (log === undefined) return false;
    this.#session.streams.delete(log.id);
    // A client that comes back for it now gets a new stream, which begins with what makes the gap good.
    this.#state.logs.remove(log);
    return false;
  }
}
