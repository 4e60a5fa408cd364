// Values of this node that expire before the server removes them. The node removes them in time, so that they are not counted.
import { inBackground, longestTimerMs } from "../../base/async/timers.ts";

/** How many values are remembered. The others are counted until the server removes them. */
const maxRemembered = 10_000;

export class Overdue {
  readonly #remove: (sequences: readonly number[]) => void;
  #values: { readonly sequence: number; readonly dueAt: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(remove: (sequences: readonly number[]) => void) {
    this.#remove = remove;
  }

  /** Remembers a value that has been stored. */
  add(sequence: number, ttlMs: number): void {
    if (this.#values.length >= maxRemembered) return;
    const dueAt = performance.now() + ttlMs;
    this.#values.push({ sequence, dueAt });
    this.#wakeAt(dueAt);
  }

  /** Forgets all. The server removes them later. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#values = [];
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  #wakeAt(dueAt: number): void {
    if (dueAt >= this.#wakesAt) return;
    this.#wakesAt = dueAt;
    clearTimeout(this.#timer);
    // Rounded up, because a timer may fire a little early.
    const waitMs = Math.min(Math.ceil(dueAt - performance.now()) + 1, longestTimerMs);
    this.#timer = inBackground(setTimeout(() => this.#wake(), waitMs));
  }

  #wake(): void {
    const now = performance.now();
    const due = this.#values.filter(({ dueAt }) => dueAt <= now);
    this.#values = this.#values.filter(({ dueAt }) => dueAt > now);
    this.#wakesAt = Number.POSITIVE_INFINITY;
    this.#wakeAt(this.#values.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY));
    if (due.length > 0) this.#remove(due.map(({ sequence }) => sequence));
  }
}
