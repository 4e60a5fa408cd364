// Where the sessions with open timelines were found, because searching for one visits all sessions.
import type { HttpState } from "../../transports/http/state.ts";
import type { HttpSession } from "../../transports/http/session.ts";
import type { Copy } from "../../server/session/copies.ts";
import { Newest } from "../sampling/newest.ts";
import { clientOf } from "./clients.ts";

/** As many as are followed. */
const maxSought = 20;
/** Milliseconds until a session that was not found is looked for again, for each session: with 10,000 of them five seconds. */
const visitMs = 0.5;

interface Place {
  readonly copy: Copy<HttpSession> | undefined;
  /** When to look again if it was not found. */
  readonly until: number;
}

export class Sought {
  readonly #sessions: HttpState["sessions"];
  readonly #places = new Newest<string, Place>(maxSought);

  constructor({ sessions }: HttpState) {
    this.#sessions = sessions;
  }

  find(peer: string): Copy<HttpSession> | undefined {
    const known = this.#places.get(peer);
    if (known !== undefined && this.#holds(known)) return known.copy;
    const copy = this.#visit(peer);
    this.#places.set(peer, { copy, until: performance.now() + this.#sessions.size * visitMs });
    return copy;
  }

  #holds({ copy, until }: Place): boolean {
    if (copy === undefined) return performance.now() < until;
    return this.#sessions.peek(copy.session.id) === copy.session;
  }

  #visit(peer: string): Copy<HttpSession> | undefined {
    for (const copy of this.#sessions.copies)
      if (clientOf(copy.session.connection).peer === peer) return copy;
    return undefined;
  }
}
