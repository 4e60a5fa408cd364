// The engine's clock, as a node estimates it: what expires does so by the clock that stamped it, whatever the node's own clock shows.

/**
 * NATS 2.9 never says what time it is, but stamps every message that it stores. One stamp tells how far the engine's clock is from the
 * time that has passed here since this process began.
 */
export class EngineClock {
  readonly #stamp: () => Promise<number>;
  /** What to add to `performance.now()`. Never too much: what has not expired is never taken for expired. */
  #offset: number | undefined;

  /** `stamp` has the engine stamp a message. */
  constructor(stamp: () => Promise<number>) {
    this.#stamp = stamp;
  }

  /** Whether the engine's clock has passed this time. Asks the engine before it says yes. */
  async hasPassed(time: number): Promise<boolean> {
    if (this.#offset !== undefined && performance.now() + this.#offset < time) return false;
    return performance.now() + (await this.set()) >= time;
  }

  /** Asks the engine what time it is, and returns what to add to `performance.now()`. */
  async set(): Promise<number> {
    this.#offset = undefined;
    return (this.#offset = (await this.#stamp()) - performance.now());
  }
}
