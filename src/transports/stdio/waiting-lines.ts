// Passes on lines a few at a time, so that the responses to the first show whether the client reads.

/** Receives lines. */
export interface LineTaker {
  /** Takes one line. Returns false if it wants no more until {@link WaitingLines.resume}. */
  take(line: string): boolean;
  /** Called when no more should be read until {@link LineTaker.empty}. */
  held(): void;
  /** Called when every line has been taken, after some were held. */
  empty(): void;
}

/** How many lines are passed on at once; their responses are written in the microtasks after that. */
const together = 8;

export class WaitingLines {
  readonly #taker: LineTaker;
  #lines: string[] = [];
  #next = 0;
  #isWaiting = false;
  #isHeld = false;
  #onEmpty: (() => void) | undefined;

  constructor(taker: LineTaker) {
    this.#taker = taker;
  }

  /** Adds a line. */
  add(line: string): void {
    this.#lines.push(line);
  }

  /** Passes on the added lines. */
  give(): void {
    if (!this.#isWaiting) this.resume();
  }

  /** Continues after `take` returned false. */
  resume(): void {
    const end = Math.min(this.#next + together, this.#lines.length);
    this.#isWaiting = true;
    while (this.#next < end) if (!this.#taker.take(this.#lines[this.#next++] ?? "")) return this.#hold();
    if (end < this.#lines.length) return queueMicrotask(() => this.resume());
    this.#isWaiting = false;
    this.#empty();
  }

  /** Resolves when every line has been taken. */
  taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      this.give();
    });
  }

  #hold(): void {
    this.#isHeld = true;
    this.#taker.held();
  }

  #empty(): void {
    this.#lines = [];
    this.#next = 0;
    this.#onEmpty?.();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#taker.empty();
  }
}
