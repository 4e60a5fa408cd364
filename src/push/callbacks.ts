// Functions to call back; they take no memory until there is one.

export class Callbacks {
  #callbacks: readonly (() => void)[] | undefined;

  /** Adds a function; what is returned takes it away again. */
  add(callback: () => void): () => void {
    this.#callbacks = [...(this.#callbacks ?? []), callback];
    return () => {
      this.#callbacks = this.#callbacks?.filter((other) => other !== callback);
    };
  }

  /** Calls each that was there when it began. */
  call(): void {
    for (const callback of this.#callbacks ?? []) callback();
  }

  clear(): void {
    this.#callbacks = undefined;
  }
}
