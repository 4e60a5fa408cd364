// The engine's clock, as a node estimates it: values expire by the clock that stamped them, whatever the node's own clock shows.

/**
 * NATS 2.9 has no request for its time, but stamps every message that it stores. One stamp gives the difference between the
 * engine's clock and the monotonic clock of this process.
 */
export class EngineClock {
  readonly #stamp: () => Promise<number>;
  /** The offset to `performance.now()`. It is never too large, so that an unexpired value never counts as expired. */
  #offset: number | undefined;

  /** `stamp` makes the engine stamp a message. */
  constructor(stamp: () => Promise<number>) {
    this.#stamp = stamp;
  }

  /** Whether the engine's clock has passed this time. Asks the engine before it returns true. */
  async hasPassed(time: number): Promise<boolean> {
    if (this.#offset !== undefined && performance.now() + this.#offset < time) return false;
    return performance.now() + (await this.set()) >= time;
  }

  /** Asks the engine for its time, and returns the offset to `performance.now()`. */
  async set(): Promise<number> {
    this.#offset = undefined;
    return (this.#offset = (await this.#stamp()) - performance.now());
  }
}
