// The changes that wait for a reader: each once, however often it happened, up to a limit.
import type { Change } from "./filter.ts";

export class ChangeQueue {
  readonly #max: number;
  readonly #waiting = new Map<string, Change>();
  #readers: ((result: Promise<IteratorResult<Change>>) => void)[] = [];
  #end: Promise<IteratorResult<Change>> | undefined;

  /** Holds at most `max` changes of resources, and one of each list. */
  constructor(max: number) {
    this.#max = max;
  }

  push(change: Change): void {
    if (this.#end) return;
    const reader = this.#readers.shift();
    if (reader) return reader(Promise.resolve({ done: false, value: change }));
    const isKnown = change.kind !== "resource" || !this.#mergeResource(change);
    if (isKnown) this.#add(change);
  }

  next(): Promise<IteratorResult<Change>> {
    for (const [key, value] of this.#waiting) {
      this.#waiting.delete(key);
      return Promise.resolve({ done: false, value });
    }
    return this.#end ?? new Promise((resolve) => void this.#readers.push(resolve));
  }

  /** Ends the queue after the waiting changes. With an error, the reader receives it last. */
  end(error: unknown): void {
    if (this.#end) return;
    const done = { done: true as const, value: undefined };
    this.#end = error === undefined ? Promise.resolve(done) : Promise.reject(error as Error);
    // Prevents an unhandled rejection if the changes are never read.
    this.#end.catch(() => {});
    for (const reader of this.#readers.splice(0)) reader(this.#end);
  }

  /** Whether the change is covered by a gap of all resources. Begins such a gap if too many different resources wait. */
  #mergeResource({ uri }: Change): boolean {
    if (this.#waiting.has("resource")) return true;
    if (this.#waiting.size < this.#max || this.#waiting.has(`resource ${uri}`)) return false;
    for (const [key, { kind }] of this.#waiting) if (kind === "resource") this.#waiting.delete(key);
    this.#add({ kind: "resource", cause: "gap" });
    return true;
  }

  /** Adds a change, unless it already waits. A gap replaces an ordinary change. */
  #add(change: Change): void {
    const key = change.uri === undefined ? change.kind : `${change.kind} ${change.uri}`;
    if (change.cause === "gap" || !this.#waiting.has(key)) this.#waiting.set(key, change);
  }
}
