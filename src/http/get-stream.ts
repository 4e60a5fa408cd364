// A GET stream while it is open or may be resumed: kept alive, ended in time, and given up when nobody comes back.
import { isPast } from "../protocol/principal.ts";
import type { HttpState } from "./state.ts";
import type { EventStream } from "./streams/event-stream.ts";
import type { Tended } from "./edge/heartbeat.ts";
import type { HttpSession } from "./session.ts";

export class GetStream implements Tended {
  readonly #state: HttpState;
  readonly #session: HttpSession;
  readonly #stream: EventStream;

  constructor(state: HttpState, session: HttpSession, stream: EventStream) {
    this.#state = state;
    this.#session = session;
    this.#stream = stream;
  }

  tend(now: number): boolean {
    if (!this.#session.hasGetStream(this.#stream)) return false;
    return this.#stream.live ? this.#tendOpen(now) : this.#tendLost(now);
  }

  #tendOpen(now: number): true {
    const { keepAliveMs, maxStreamMs } = this.#state.settings;
    // The client comes back and goes on: only the connection has had its time.
    const { connectedAt, expiresAt } = this.#stream;
    if (now - connectedAt >= maxStreamMs || isPast(expiresAt)) this.#stream.release();
    else this.#stream.keepAlive(now, keepAliveMs);
    return true;
  }

  #tendLost(now: number): boolean {
    const { resumeWindowMs, limits } = this.#state.settings;
    const lostMs = now - (this.#stream.lostAt ?? Number.NEGATIVE_INFINITY);
    if (lostMs >= resumeWindowMs) this.#session.giveUpGetStream(this.#stream);
    if (lostMs < limits.keepMs) return true;
    this.#session.dropGetStream(this.#stream);
    return false;
  }
}
