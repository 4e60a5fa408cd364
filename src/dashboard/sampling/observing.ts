// Receives the events of a server before the author's own `observe`, only while they are needed.
import type { ServerEvent } from "../../server/diagnostics/events.ts";

export type Hear = (event: ServerEvent) => void;

/** The settings of a server. Its code reads `observe` for each event. */
export interface Observed {
  observe?: Hear | undefined;
}

const all = new WeakMap<Observed, Observing>();

/** The only place that changes `observe` of a server, so that several listeners can come and go in any order. */
export class Observing {
  readonly #observed: Observed;
  #hearers: readonly Hear[] = [];
  /** The author's observer, while there are listeners. */
  #author: Hear | undefined;

  private constructor(observed: Observed) {
    this.#observed = observed;
  }

  static of(observed: Observed): Observing {
    const known = all.get(observed);
    if (known !== undefined) return known;
    const made = new Observing(observed);
    all.set(observed, made);
    return made;
  }

  /** Calls `hear` with each event, until you call the returned function. It must not throw. */
  add(hear: Hear): () => void {
    if (this.#hearers.length === 0) {
      this.#author = this.#observed.observe;
      this.#observed.observe = this.#pass;
    }
    this.#hearers = [...this.#hearers, hear];
    return () => this.#remove(hear);
  }

  #remove(hear: Hear): void {
    const isLast = this.#hearers.length > 0;
    this.#hearers = this.#hearers.filter((other) => other !== hear);
    if (this.#hearers.length > 0 || !isLast) return;
    this.#observed.observe = this.#author;
    this.#author = undefined;
  }

  readonly #pass: Hear = (event) => {
    for (const hear of this.#hearers) hear(event);
    this.#author?.(event);
  };
}
