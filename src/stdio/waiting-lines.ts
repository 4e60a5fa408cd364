// Lines that came together, given on a few at a time: what answers the first shows whether their reader keeps up.

/** Where lines go. */
export interface LineTaker {
  /** Takes one line. False: it was taken, but nothing more should come until {@link WaitingLines.goOn}. */
  take(line: string): boolean;
  /** More should not be read until {@link LineTaker.empty}. */
  held(): void;
  /** Every line has been taken, after some were held. */
  empty(): void;
}

/** How many are given on before what they were answered with is written, which happens in microtasks. */
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

  /** One more, to be given on after those before it. */
  add(line: string): void {
    this.#lines.push(line);
  }

  /** Gives on what has been added. */
  give(): void {
    if (!this.#isWaiting) this.goOn();
  }

  /** The taker has room again. */
  goOn(): void {
    const end = Math.min(this.#next + together, this.#lines.length);
    this.#isWaiting = true;
    while (this.#next < end) if (!this.#taker.take(this.#lines[this.#next++] ?? "")) return this.#hold();
    if (end < this.#lines.length) return queueMicrotask(() => this.goOn());
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
