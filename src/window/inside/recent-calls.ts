// How many calls ended, and failed, in each of the last seconds: counted without a timer.
import type { RpcResponse } from "../../base/wire/message.ts";
import { isError } from "../../server/calls/outcome.ts";
import type { CallCounter } from "../../server/calls/window-seam.ts";

/** How many calls ended in each of the last complete seconds, listen requests apart: up to five minutes, oldest first. */
export interface RecentCalls {
  /** The first second, since 1970. */
  readonly from: number;
  readonly calls: readonly number[];
  /** Those of `calls` that failed. */
  readonly errors: readonly number[];
}

/** Seconds whose calls are counted while no page is open. Past it, the oldest are dropped. */
const keptSeconds = 300;
/** One more for the second that runs. */
const slots = keptSeconds + 1;

/** The counts of one second take 16 bytes, and counting a call some nanoseconds. */
export class RecentCounts implements CallCounter {
  /** The difference to the wall clock at the beginning: the clock may be set later. */
  readonly #ahead = Date.now() - performance.now();
  readonly #seconds = new Float64Array(slots);
  readonly #calls = new Uint32Array(slots);
  readonly #errors = new Uint32Array(slots);
  readonly #from = this.#secondAt(performance.now()) + 1;

  /** Counts a call that ends now. */
  count(response: RpcResponse): void {
    const second = this.#secondAt(performance.now());
    const slot = second % slots;
    if (this.#seconds[slot] !== second) {
      this.#seconds[slot] = second;
      this.#calls[slot] = 0;
      this.#errors[slot] = 0;
    }
    this.#calls[slot]! += 1;
    if (isError(response)) this.#errors[slot]! += 1;
  }

  /** The complete seconds, oldest first. */
  read(): RecentCalls {
    const last = this.#secondAt(performance.now()) - 1;
    const from = Math.max(this.#from, last - keptSeconds + 1);
    const seconds = Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => from + index);
    const pick = (counts: Uint32Array): number[] =>
      seconds.map((second) => {
        const slot = second % slots;
        return this.#seconds[slot] === second ? (counts[slot] ?? 0) : 0;
      });
    return { from, calls: pick(this.#calls), errors: pick(this.#errors) };
  }

  /** The second since 1970. */
  #secondAt(at: number): number {
    return Math.floor((at + this.#ahead) / 1000);
  }
}
