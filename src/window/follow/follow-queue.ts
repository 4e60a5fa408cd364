// What waits for one follower: bounded, and delivered in batches, one after the other.
import { isThenable } from "../../base/async/promises.ts";
import type { Followed, Follower, FollowOptions } from "./followed.ts";

const defaults = { maxWaiting: 1000, maxCharacters: 8_388_608 } as const;

export class FollowQueue {
  readonly #take: Follower;
  readonly #maxWaiting: number;
  readonly #maxCharacters: number;
  readonly #failed: (error: unknown) => void;
  #waiting: Followed[] = [];
  #characters = 0;
  #dropped = 0;
  #isBusy = false;
  isOver = false;

  constructor(
    take: Follower,
    { maxWaiting, maxCharacters }: FollowOptions,
    failed: (error: unknown) => void,
  ) {
    this.#take = take;
    this.#maxWaiting = maxWaiting ?? defaults.maxWaiting;
    this.#maxCharacters = maxCharacters ?? defaults.maxCharacters;
    this.#failed = failed;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(item: Followed): void {
    const size = sizeOf(item);
    // Only a follower that is busy loses what fits.
    if (!this.#hasRoomFor(1, size)) this.deliver();
    this.#waiting.push(item);
    this.#characters += size;
    while (!this.#hasRoomFor(0, 0)) {
      const oldest = this.#waiting.shift();
      if (oldest === undefined) return;
      this.#characters -= sizeOf(oldest);
      this.#dropped++;
    }
  }

  #hasRoomFor(items: number, characters: number): boolean {
    return (
      this.#waiting.length + items <= this.#maxWaiting && this.#characters + characters <= this.#maxCharacters
    );
  }

  /** Adds a batch of another queue, and what that one has dropped. */
  addAll(batch: readonly Followed[], dropped: number): void {
    this.#dropped += dropped;
    for (const item of batch) this.add(item);
  }

  /** Calls the follower with what waits, unless it is busy with the batch before. */
  deliver(): void {
    if (this.isOver || this.#isBusy || (this.#waiting.length === 0 && this.#dropped === 0)) return;
    const [batch, dropped] = [this.#waiting, this.#dropped];
    this.#waiting = [];
    this.#characters = 0;
    this.#dropped = 0;
    try {
      const taken: unknown = this.#take(batch, dropped);
      if (isThenable(taken)) this.#await(taken);
    } catch (error) {
      this.#failed(error);
    }
  }

  #await(taken: PromiseLike<unknown>): void {
    this.#isBusy = true;
    const isDone = (): void => {
      this.#isBusy = false;
      this.deliver();
    };
    taken.then(isDone, (error: unknown) => {
      this.#failed(error);
      isDone();
    });
  }
}

function sizeOf(item: Followed): number {
  return item.type === "message" ? item.text.length : 0;
}
