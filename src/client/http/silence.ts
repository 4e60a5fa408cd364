// Detects that a long-lived stream is dead although neither side closed it: the peer vanished, or the machine slept.
import { inBackground } from "../../base/async/timers.ts";

const checkEveryMs = 15_000;
/**
 * If a timer fires this much too late, the machine slept and its connections are gone. Where the monotonic clock stops during
 * sleep, as on Linux, only the timeout for silence detects it.
 */
const sleptMs = 30_000;
/** How long a stream may be silent after a keep-alive comment: servers send those every 15 to 45 seconds. */
const aliveMs = 90_000;
/** How long a stream may be silent if it never had a keep-alive comment. */
const quietMs = 15 * 60_000;

export class Silence {
  readonly #onDead: (reason: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heardAt = performance.now();
  #checkedAt = performance.now();
  #limitMs = quietMs;

  /** Calls `onDead` at most once, unless stopped. */
  constructor(onDead: (reason: string) => void) {
    this.#onDead = onDead;
    this.#schedule();
  }

  /** Restarts the timeout, because data arrived. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** Notes a comment: from now on, silence has the shorter timeout. */
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
