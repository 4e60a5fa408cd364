// A set of functions to call back; it takes no memory until there is one.

export class Callbacks {
  #callbacks: Set<() => void> | undefined;

  /** Adds a function; what is returned takes it away again. */
  add(callback: () => void): () => void {
    const callbacks = (this.#callbacks ??= new Set());
    callbacks.add(callback);
    return () => callbacks.delete(callback);
  }

  call(): void {
    if (this.#callbacks !== undefined) for (const callback of this.#callbacks) callback();
  }

  clear(): void {
    this.#callbacks = undefined;
  }
}
