// The records of sessions in the engine that nodes share: created once, changed by comparing versions, and expiring by themselves.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { Engine, ValueKey } from "../../cluster/engine/engine.ts";
import { maxTries, tooBusy } from "../../cluster/engine/edits.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject } from "../../base/wire/message.ts";
import { applyChange, readRecord, type SessionChange, type SessionRecord } from "./record.ts";
import type { SessionEnd } from "../diagnostics/events.ts";

/** A record, and the version that the engine compares. */
export interface StoredRecord {
  readonly record: SessionRecord;
  readonly version: string;
}

/** After this many leases, every node that hears the others knows that a session was ended. */
const toldLeases = 4;

export class SessionRecords {
  readonly #cluster: Cluster;
  readonly #keepMs: number;

  constructor(cluster: Cluster, keepMs: number) {
    this.#cluster = cluster;
    this.#keepMs = keepMs;
  }

  get #engine(): Engine {
    return this.#cluster.engine;
  }

  /** Stores a new record, and resolves with its version in the engine. */
  async create(record: SessionRecord): Promise<string> {
    const version = await this.#engine.create(keyOf(record.id), textOf(record), this.#keepMs);
    if (version !== undefined) return version;
    throw new Error("The engine already has a session with a new id");
  }

  /** Reads a record. An invalid one counts as absent. */
  async load(id: string): Promise<StoredRecord | undefined> {
    const stored = await this.#engine.get(keyOf(id));
    if (stored === undefined) return undefined;
    const value = readJson(stored.text);
    const record = readRecord(id, isObject(value) ? { id, ...value } : value);
    if (record !== undefined) return { record, version: stored.version };
    this.#cluster.ignoreInvalid("session");
    return undefined;
  }

  /**
   * Stores `record`, which is the result of the change, if the engine still has `version`. Otherwise it applies the change to what
   * the engine has. Resolves with undefined if the session has ended.
   */
  async change(
    record: SessionRecord,
    change: SessionChange,
    version: string,
  ): Promise<StoredRecord | undefined> {
    let next: StoredRecord = { record, version };
    for (let tries = 0; tries < maxTries; tries++) {
      const text = textOf(next.record);
      const changed = await this.#engine.replace(keyOf(record.id), text, this.#keepMs, next.version);
      if (changed !== undefined) return { record: next.record, version: changed };
      const newest = await this.load(record.id);
      if (newest === undefined) return undefined;
      const merged = applyChange(newest.record, change);
      next = { record: { ...merged, version: merged.version + 1 }, version: newest.version };
    }
    throw tooBusy("A session");
  }

  /** Keeps sessions, and what belongs to them, in one operation. */
  touch(ids: readonly string[], others: readonly ValueKey[]): Promise<void> {
    return this.#engine.touch([...ids.map(keyOf), ...others], this.#keepMs);
  }

  /** Removes the record of a session, and its log. */
  async remove(id: string): Promise<void> {
    await this.#engine.remove(keyOf(id));
    // Without a record the log is never read, and it expires.
    await this.#engine.removeLog(id).catch(() => {});
  }

  /**
   * Whether this node is the first to report the end of the session. A client can end any number of sessions, so the mark is kept
   * briefly: other nodes learn of the end at once. At most `maxSharedSessions` sessions expire in `idleMs`, and each node with a
   * copy notices that at its own time.
   */
  async claimEnd(id: string, reason: SessionEnd): Promise<boolean> {
    const key = { kind: "mark", tag: `ended ${id}` } as const;
    const keepMs =
      reason === "idle" ? this.#keepMs : Math.min(this.#keepMs, toldLeases * this.#cluster.leaseMs);
    return (await this.#engine.create(key, "", keepMs)) !== undefined;
  }
}

function keyOf(id: string): ValueKey {
  return { kind: "session", tag: id };
}

/** The text that the engine stores: all but the id, which is the key, to keep idle sessions small. */
function textOf(record: SessionRecord): string {
  return JSON.stringify({ ...record, id: undefined });
}
