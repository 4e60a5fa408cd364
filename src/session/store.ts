// What is kept of a legacy session beside the process that serves it: the interface to a store, and one in memory.
import type { ClientCapabilities, Implementation, LogLevel, Principal } from "../protocol/model.ts";

/** What another process needs to know to go on with a session. */
export interface SessionRecord {
  readonly id: string;
  readonly principal?: Principal | undefined;
  /** The date of the revision that was agreed. */
  readonly revision: string;
  readonly clientInfo?: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly logLevel?: LogLevel | undefined;
  readonly initialized: boolean;
}

/**
 * Keeps the records of sessions. Records MUST be plain JSON; a store MUST forget a session that was not touched for
 * as long as it was told, and MUST NOT answer with a record that it was told to remove.
 */
export interface SessionStore {
  /** Creates or replaces a record. */
  save(record: SessionRecord, idleMs: number): Promise<void>;
  load(id: string): Promise<SessionRecord | undefined>;
  /** These sessions are in use. */
  touch(ids: readonly string[], idleMs: number): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Keeps records in this process, as text: what comes out is never what went in, as with a remote store. */
export class MemorySessionStore implements SessionStore {
  readonly #records = new Map<string, string>();

  async save(record: SessionRecord): Promise<void> {
    this.#records.set(record.id, JSON.stringify(record));
  }

  async load(id: string): Promise<SessionRecord | undefined> {
    const text = this.#records.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as SessionRecord);
  }

  async touch(): Promise<void> {}

  async remove(id: string): Promise<void> {
    this.#records.delete(id);
  }
}
