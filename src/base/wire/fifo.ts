// A queue whose oldest item is removed in constant time: `shift` moves all other items of a long array.

export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  /** Where the oldest item is. */
  #start = 0;

  get length(): number {
    return this.#items.length - this.#start;
  }

  /** The oldest item; undefined if there is none. */
  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Replaces the oldest item. */
  replaceFirst(item: Item): void {
    this.#items[this.#start] = item;
  }

  /** Removes and returns the oldest item; undefined if there is none. */
  shift(): Item | undefined {
    const item = this.#items[this.#start];
    if (this.length === 0) return undefined;
    this.#items[this.#start++] = undefined;
    // Moving the rest when it is the smaller half costs each item one move at most.
    if (2 * this.#start >= this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return item;
  }

  /** The items from this index on, oldest first. */
  slice(from = 0): Item[] {
    return this.#items.slice(this.#start + from) as Item[];
  }

  clear(): void {
    this.#items = [];
    this.#start = 0;
  }
}
