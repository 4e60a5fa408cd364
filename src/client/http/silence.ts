// Notices that a long-lived stream is dead although nobody closed it: the peer vanished, or the machine slept.
import { inBackground } from "../../async/timers.ts";

const checkEveryMs = 15_000;
/**
 * A timer that fires this much too late means that the machine slept, so that its connections are gone. Where the monotonic clock stands
 * still meanwhile, as on Linux, silence tells.
 */
const sleptMs = 30_000;
/** How long a stream may be silent after comments that keep it alive: those come every 15 to 45 seconds. */
const aliveMs = 90_000;
/** The same for a stream that never had one. */
const quietMs = 15 * 60_000;

export class Silence {
  readonly #onDead: (reason: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heardAt = performance.now();
  #checkedAt = performance.now();
  #limitMs = quietMs;

  /** Calls back once, unless stopped. */
  constructor(onDead: (reason: string) => void) {
    this.#onDead = onDead;
    this.#schedule();
  }

  /** Something arrived. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** A comment arrived: from now on there should be more of them. */
  heardComment(): void {
    this.#limitMs = aliveMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = inBackground(setTimeout(() => this.#check(), checkEveryMs));
  }

  #check(): void {
    const now = performance.now();
    const isLate = now - this.#checkedAt > checkEveryMs + sleptMs;
    this.#checkedAt = now;
    if (isLate) this.#onDead("the machine slept");
    else if (now - this.#heardAt >= this.#limitMs)
      this.#onDead(`nothing arrived for ${this.#limitMs / 1000} s`);
    else this.#schedule();
  }
}
