// Hears the events of a server in front of the author's own `observe`, only while somebody wants them.
import type { ServerEvent } from "../../diagnostics/events.ts";

export type Hear = (event: ServerEvent) => void;

/** The settings of a server. What reports an event reads `observe` each time. */
export interface Observed {
  observe?: Hear | undefined;
}

const all = new WeakMap<Observed, Observing>();

/** The one place that changes `observe` of a server, so that several may hear events and leave in any order. */
export class Observing {
  readonly #observed: Observed;
  #hearers: readonly Hear[] = [];
  /** The author's observer, while somebody hears. */
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
