// The sessions over HTTP that are read in detail: one if its client is named, else those behind, then the last used ones.
import type { Copy } from "../../server/session/copies.ts";
import type { HttpSession } from "../../transports/http/session.ts";
import { clientOf } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";
import type { Paging } from "./paging.ts";
import type { Visits } from "./visits.ts";

/** As many clients as are looked for at a time. */
const maxSought = 20;
/** Milliseconds until a session that was not found is looked for again, for each session: with 10,000 of them five seconds. */
const visitMs = 0.5;

interface Place {
  readonly copy: Copy<HttpSession> | undefined;
  /** When to look again if it was not found. */
  readonly until: number;
}

export class ChosenCopies {
  readonly #inside: Inside;
  readonly #visits: Visits;
  readonly #places = new Map<string, Place>();

  constructor(inside: Inside, visits: Visits) {
    this.#inside = inside;
    this.#visits = visits;
  }

  get size(): number {
    let size = 0;
    for (const { state } of this.#inside.endpoints) size += state.sessions.size;
    return size;
  }

  *of(paging: Paging<unknown>): Iterable<Copy<HttpSession>> {
    if (paging.peer !== undefined) {
      const copy = this.find(paging.peer);
      if (copy !== undefined && paging.matches(clientOf(copy.session.connection).text, paging.peer))
        yield copy;
      return;
    }
    if (paging.isSearch) {
      for (const copy of this.#all()) if (paging.matches(clientOf(copy.session.connection).text)) yield copy;
      return;
    }
    const { behind } = this.#visits.visited;
    for (const copy of behind) if (this.#isHere(copy)) yield copy;
    for (const copy of [...this.#all()].toReversed()) {
      if (paging.isFull) return;
      if (!behind.has(copy)) yield copy;
    }
  }

  find(peer: string): Copy<HttpSession> | undefined {
    const known = this.#places.get(peer);
    if (known !== undefined && this.#holds(known)) return known.copy;
    const copy = this.#visit(peer);
    this.#places.delete(peer);
    this.#places.set(peer, { copy, until: performance.now() + this.size * visitMs });
    const [oldest] = this.#places.keys();
    if (this.#places.size > maxSought && oldest !== undefined) this.#places.delete(oldest);
    return copy;
  }

  #holds({ copy, until }: Place): boolean {
    return copy === undefined ? performance.now() < until : this.#isHere(copy);
  }

  #isHere({ session }: Copy<HttpSession>): boolean {
    for (const { state } of this.#inside.endpoints)
      if (state.sessions.peek(session.id) === session) return true;
    return false;
  }

  #visit(peer: string): Copy<HttpSession> | undefined {
    for (const copy of this.#all()) if (clientOf(copy.session.connection).view.peer === peer) return copy;
    return undefined;
  }

  /** Least recently used first. */
  *#all(): Iterable<Copy<HttpSession>> {
    for (const { state } of this.#inside.endpoints) yield* state.sessions.copies;
  }
}
