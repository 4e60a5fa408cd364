// Which client was sent to which page, so that only that client hears when the user is done there.

import { Holdings } from "../../limits/holdings.ts";

/** Who was sent there. */
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

  /** When there are too many, the oldest of whoever has the most is forgotten: its client will ask again by itself. */
  remember(elicitationId: string, session: string | undefined, caller: string): void {
    if (session === undefined) return;
    this.take(elicitationId);
    this.#sent.set(elicitationId, { session, caller });
    this.#held.add(caller, elicitationId);
    const { shares } = this.#held;
    if (shares.total > shares.max) this.take(this.#held.oldestOfGreediest() ?? "");
  }

  /** The session that was sent there; it is told once. */
  take(elicitationId: string): string | undefined {
    const sent = this.#sent.get(elicitationId);
    if (sent === undefined) return undefined;
    this.#sent.delete(elicitationId);
    this.#held.delete(sent.caller, elicitationId);
    return sent.session;
  }
}
