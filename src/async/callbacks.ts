// Functions to call back; they take no memory until there is one.

export class Callbacks {
  #callbacks: readonly (() => void)[] | undefined;
  #isOver = false;

  /** Adds a function; what is returned takes it away again. */
  add(callback: () => void): () => void {
    if (this.#isOver) {
      queueMicrotask(callback);
      return () => {};
    }
    // A spread would leave room for 16 more, and there is seldom a second one.
    this.#callbacks = this.#callbacks === undefined ? [callback] : [...this.#callbacks, callback];
    return () => {
      this.#callbacks = this.#callbacks?.filter((other) => other !== callback);
    };
  }

  /** Calls each that was there when it began. */
  call(): void {
    for (const callback of this.#callbacks ?? []) callback();
  }

  /** Calls each for the last time, and from now on each that is added: what they wait for has happened. */
  finish(): void {
    this.#isOver = true;
    this.call();
    this.clear();
  }

  clear(): void {
    this.#callbacks = undefined;
  }
}
