// How late the event loop is, by the lateness of a timer, which works in every runtime.

export class LoopDelay {
  readonly #tickMs: number;
  #dueAt: number;
  #second = 0;
  /** The longest delays of the second that runs and of the one before. */
  #current = 0;
  #before = 0;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
    this.#dueAt = performance.now() + tickMs;
  }

  /** Call it every `tickMs`. */
  tick(now: number): void {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#before = this.#current;
      this.#current = 0;
      this.#second = second;
    }
    this.#current = Math.max(this.#current, now - this.#dueAt);
    this.#dueAt = now + this.#tickMs;
  }

  /** The longest delay of the last second, in milliseconds. */
  get longestMs(): number {
    return Math.max(this.#before, this.#current);
  }
}
