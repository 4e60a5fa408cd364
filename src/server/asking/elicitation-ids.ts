// Remembers which client opened which page, so that only that client is notified when the user is done there.

import { Holdings } from "../../base/limits/holdings.ts";

/** The client that opened a page. */
interface Sent {
  readonly session: string;
  readonly caller: string;
}

export class ElicitationIds {
  readonly #sent = new Map<string, Sent>();
  readonly #held: Holdings<string>;

  constructor(max: number) {
    this.#held = new Holdings(max);
  }

  /** If there are too many, forgets the oldest one of the caller with the most: that client retries by itself. */
  remember(elicitationId: string, session: string | undefined, caller: string): void {
    if (session === undefined) return;
    this.take(elicitationId);
    this.#sent.set(elicitationId, { session, caller });
    this.#held.add(caller, elicitationId);
    const { shares } = this.#held;
    if (shares.total > shares.max) this.take(this.#held.oldestOfGreediest() ?? "");
  }

  /** Returns the session that opened the page, and forgets it: it is notified once. */
  take(elicitationId: string): string | undefined {
    const sent = this.#sent.get(elicitationId);
    if (!sent) return undefined;
    this.#sent.delete(elicitationId);
    this.#held.delete(sent.caller, elicitationId);
    return sent.session;
  }
}
