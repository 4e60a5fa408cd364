// The interface of a store for legacy sessions, and a store in memory.
import type { ClientCapabilities, Implementation, LogLevel, Principal } from "../protocol/model.ts";

/** What another process needs to continue a session. */
export interface SessionRecord {
  readonly id: string;
  readonly principal?: Principal | undefined;
  /** The date of the negotiated revision. */
  readonly revision: string;
  readonly clientInfo?: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly logLevel?: LogLevel | undefined;
  readonly initialized: boolean;
  /** The position in the log of changes when the session began, in a cluster. */
  readonly changes?: string | undefined;
  /** The URIs of the resources that it subscribes to. */
  readonly subscriptions?: readonly string[];
}

/**
 * Stores the records of sessions, which are plain JSON. A store MUST drop a session that was neither saved nor touched for `idleMs`,
 * and MUST NOT return a removed record.
 */
export interface SessionStore {
  /** Creates or replaces a record. */
  save(record: SessionRecord, idleMs: number): Promise<void>;
  load(id: string): Promise<SessionRecord | undefined>;
  /** Restarts the expiry of these sessions, which are in use. */
  touch(ids: readonly string[], idleMs: number): Promise<void>;
  remove(id: string): Promise<void>;
}

interface Kept {
  readonly text: string;
  readonly endsAt: number;
}

/**
 * Stores records in this process, as text: like a remote store, it returns copies.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { MemorySessionStore, nodeHandler } from "halyard/node";
 *
 * const sessionStore = new MemorySessionStore();
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const handlers = [nodeHandler(server, { sessionStore }), nodeHandler(server, { sessionStore })];
 * for (const handler of handlers) await handler.close();
 * ```
 */
export class MemorySessionStore implements SessionStore {
  /** Least recently saved or touched first. */
  readonly #records = new Map<string, Kept>();

  async save(record: SessionRecord, idleMs: number): Promise<void> {
    this.#keep(record.id, JSON.stringify(record), idleMs);
    this.#forgetOld();
  }

  async load(id: string): Promise<SessionRecord | undefined> {
    this.#forgetOld();
    const kept = this.#records.get(id);
    return kept && kept.endsAt > performance.now() ? (JSON.parse(kept.text) as SessionRecord) : undefined;
  }

  async touch(ids: readonly string[], idleMs: number): Promise<void> {
    this.#forgetOld();
    for (const id of ids) {
      const kept = this.#records.get(id);
      if (kept && kept.endsAt > performance.now()) this.#keep(id, kept.text, idleMs);
    }
  }

  async remove(id: string): Promise<void> {
    this.#records.delete(id);
  }

  #keep(id: string, text: string, idleMs: number): void {
    this.#records.delete(id);
    this.#records.set(id, { text, endsAt: performance.now() + idleMs });
  }

  #forgetOld(): void {
    const now = performance.now();
    for (const [id, { endsAt }] of this.#records) {
      if (endsAt > now) return;
      this.#records.delete(id);
    }
  }
}
