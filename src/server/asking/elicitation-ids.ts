// Which client was sent to which page, so that only that client hears when the user is done there.

export class ElicitationIds {
  readonly #sessions = new Map<string, string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** When there are too many, the oldest is forgotten: its client will ask again by itself. */
  remember(elicitationId: string, session: string | undefined): void {
    if (session === undefined) return;
    this.#sessions.set(elicitationId, session);
    if (this.#sessions.size <= this.#max) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** The session that was sent there; it is told once. */
  take(elicitationId: string): string | undefined {
    const session = this.#sessions.get(elicitationId);
    this.#sessions.delete(elicitationId);
    return session;
  }
}
