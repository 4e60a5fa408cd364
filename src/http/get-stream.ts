// A GET stream while it is open or may be resumed: kept alive, ended in time, and given up when nobody comes back.
import type { HttpState } from "./state.ts";
import type { EventStream } from "./event-stream.ts";
import type { Tended } from "./heartbeat.ts";
import type { HttpSession } from "./session.ts";

export class GetStream implements Tended {
  readonly #state: HttpState;
  readonly #session: HttpSession;
  readonly #stream: EventStream;
  readonly #endAt: number;
  #nextKeepAlive: number;

  constructor(state: HttpState, session: HttpSession, stream: EventStream) {
    const now = Date.now();
    this.#state = state;
    this.#session = session;
    this.#stream = stream;
    this.#endAt = now + state.settings.maxStreamMs;
    this.#nextKeepAlive = now + state.settings.keepAliveMs;
  }

  tend(now: number): boolean {
    const { keepAliveMs, limits } = this.#state.settings;
    if (this.#stream.live) {
      if (now >= this.#endAt) return this.#end();
      if (now >= this.#nextKeepAlive) {
        this.#stream.keepAlive();
        this.#nextKeepAlive = now + keepAliveMs;
      }
      return true;
    }
    const { lostAt } = this.#stream;
    return lostAt !== undefined && now - lostAt < limits.keepMs ? true : this.#end();
  }

  #end(): boolean {
    this.#stream.end();
    this.#session.streamGone(this.#stream);
    if (this.#stream.log !== undefined) this.#session.streams.delete(this.#stream.log.id);
    return false;
  }
}
