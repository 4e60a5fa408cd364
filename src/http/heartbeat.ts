// One timer for everything that has to happen now and then; it runs only while there is something to look after.
import type { RateLimitedLog } from "../diagnostics/rate-limited-log.ts";
import { inBackground } from "../async/timers.ts";

/** Something that wants to be looked at about once a second. */
export interface Tended {
  /** False when it needs no more looking after. The time is that of `performance.now()`, which no setting of the clock moves. */
  tend(now: number): boolean;
}

const intervalMs = 1000;

export class Heartbeat {
  readonly #tended = new Set<Tended>();
  readonly #log: RateLimitedLog;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(log: RateLimitedLog) {
    this.#log = log;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  add(tended: Tended): void {
    this.#tended.add(tended);
    if (this.#timer !== undefined) return;
    this.#timer = inBackground(setInterval(() => this.#beat(), intervalMs));
  }

  delete(tended: Tended): void {
    this.#tended.delete(tended);
  }

  stop(): void {
    this.#tended.clear();
    this.#rest();
  }

  #beat(): void {
    const now = performance.now();
    for (const tended of this.#tended) if (!this.#tend(tended, now)) this.#tended.delete(tended);
    if (this.#tended.size === 0) this.#rest();
  }

  /** One that fails is looked at again: the others, and the process, must not feel it. */
  #tend(tended: Tended, now: number): boolean {
    try {
      return tended.tend(now);
    } catch (error) {
      this.#log.error("A stream or session could not be looked after", { error });
      return true;
    }
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
