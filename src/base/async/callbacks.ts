// A list of callbacks that takes no memory while it is empty.

export class Callbacks {
  #callbacks: readonly (() => void)[] | undefined;
  #isOver = false;

  /** Adds a callback, and returns the function that removes it. */
  add(callback: () => void): () => void {
    if (this.#isOver) {
      queueMicrotask(callback);
      return () => {};
    }
    // A literal for the first one: a spread would reserve room for 16 more, and a second callback is rare.
    this.#callbacks = this.#callbacks ? [...this.#callbacks, callback] : [callback];
    return () => {
      this.#callbacks = this.#callbacks?.filter((other) => other !== callback);
    };
  }

  get isEmpty(): boolean {
    return (this.#callbacks?.length ?? 0) === 0;
  }

  /** Calls all callbacks. One that is added meanwhile is not called. */
  call(): void {
    for (const callback of this.#callbacks ?? []) callback();
  }

  /** Calls all callbacks for the last time. One that is added later is called immediately. */
  finish(): void {
    this.#isOver = true;
    this.call();
    this.clear();
  }

  clear(): void {
    this.#callbacks = undefined;
  }
}
