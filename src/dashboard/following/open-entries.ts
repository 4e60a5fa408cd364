// The entries of one kind that have begun and not ended, by a key; bounded, since a client may never answer.
import type { Entry } from "./track.ts";

const maxOpen = 2000;

export class OpenEntries<Open extends { readonly entry: Entry }> {
  readonly #open = new Map<string, Open>();

  add(key: string, open: Open): Entry {
    // A key that is used again names the later one.
    this.#open.delete(key);
    this.#open.set(key, open);
    const [oldest] = this.#open.keys();
    if (this.#open.size > maxOpen && oldest !== undefined) this.#open.delete(oldest);
    return open.entry;
  }

  get(key: string): Open | undefined {
    return this.#open.get(key);
  }

  find(isWanted: (open: Open) => boolean): Open | undefined {
    for (const open of this.#open.values()) if (isWanted(open)) return open;
    return undefined;
  }

  take(key: string): Open | undefined {
    const found = this.#open.get(key);
    this.#open.delete(key);
    return found;
  }

  takeAll(): Open[] {
    const all = [...this.#open.values()];
    this.#open.clear();
    return all;
  }

  /** The entry without an outcome that began nearest to `startedAt`: events have neither ids nor keys. */
  nearest(startedAt: number, isWanted: (entry: Entry) => boolean): Open | undefined {
    let nearest: Open | undefined;
    let least = maxDifferenceMs;
    for (const open of this.#open.values()) {
      const difference = Math.abs(open.entry.startedAt - startedAt);
      if (open.entry.outcome !== undefined || difference > least || !isWanted(open.entry)) continue;
      least = difference;
      nearest = open;
    }
    return nearest;
  }
}

/** A request is seen a moment before its handler runs. */
const maxDifferenceMs = 250;
