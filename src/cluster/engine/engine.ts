// The state that nodes share in an engine such as Redis: values that expire, logs, and messages between nodes.
import type { Logger } from "../../base/logging/logger.ts";
import { filledText, type Known, milliseconds, preset } from "../../base/kinds.ts";
import { checkOptions, type Filled } from "../../base/options.ts";

/** The kinds of values. An engine may store each kind in its own place. */
export type ValueKind = "session" | "owner" | "task" | "task-list" | "mark" | "node" | "key";

/** The kinds whose values an engine counts. */
export type CountedKind = Extract<ValueKind, "session" | "task">;

/** The name of a value. The tag is any text, such as the id of a session. */
export interface ValueKey {
  readonly kind: ValueKind;
  readonly tag: string;
}

/** A stored text, and the version that {@link Engine.replace} compares. Every change has another version. */
export interface StoredValue {
  readonly text: string;
  readonly version: string;
}

/** An entry of a log. */
export interface LogEntry {
  /** Greater than that of every earlier entry of the log, even if the log was removed or expired since. */
  readonly sequence: number;
  /** The sequence number of the entry before it in this log, kept or not; 0 for the first since the log began or expired. */
  readonly previous: number;
  readonly text: string;
}

/** How an entry is kept. */
export interface AppendOptions {
  /** Milliseconds that the whole log is kept after this entry. */
  readonly keepMs: number;
  /** Whether this node gets the entries of the log from this one on, or no longer after this one. @default {as before} */
  readonly follow?: "start" | "stop" | undefined;
  /** Adds the entry only if there is a value of this kind whose tag is the name of the log. @default {it need not exist} */
  readonly onlyWith?: ValueKind | undefined;
  /** Drops all earlier entries of the log. Its next reader notices by `previous` that some are missing. @default {false} */
  readonly isOnly?: boolean | undefined;
  /** Drops the oldest entries past so many bytes, if those are fewer than {@link maxLogBytes}. @default {as many as those} */
  readonly maxBytes?: number | undefined;
  /** The caller that the bytes of the log count for. An engine ignores it. @default {that of earlier entries} */
  readonly caller?: string | undefined;
}

/**
 * An engine that nodes share. `backplaneContract()` of `halyard/testing` checks an implementation.
 *
 * - Every method rejects if the engine cannot be reached: nothing is queued for later.
 * - A value or log MUST disappear after its time, without any node's help. The times are the engine's, not those of a node's clock.
 * - `create`, `replace` and `append` are atomic.
 * - A log holds no more than its limits, so that nodes know what all logs hold at most by what they have added.
 * - An entry that `append` has stored is passed to {@link EngineReceiver.entry} of every node that follows the log, the appending one
 *   included, before or after `append` resolves; a node that misses one finds out by `previous` and reads it.
 * - Messages and entries may be lost, doubled and reordered on their way to receivers. What `read` and `get` return is right.
 */
export interface Engine {
  get(key: ValueKey): Promise<StoredValue | undefined>;
  /** Stores a value unless there is one. Resolves with its version, or with undefined. Without `ttlMs` it never expires. */
  create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined>;
  /** Replaces the value if it still has this version. Resolves with the new version, or with undefined. */
  replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined>;
  /** Restarts the expiry of the values that exist. Their versions may change or not. */
  touch(keys: readonly ValueKey[], ttlMs: number): Promise<void>;
  /** Removes a value. */
  remove(key: ValueKey): Promise<void>;
  /** Counts the values of a kind, at least roughly. */
  count(kind: CountedKind): Promise<number>;

  /**
   * Adds an entry of at most {@link maxEntryBytes}, and drops the oldest ones past {@link maxLogEntries} and {@link maxLogBytes}.
   * Resolves with its sequence number, or with 0 if it was not added because of {@link AppendOptions.onlyWith}. An engine may drop the
   * oldest entries later, but `read` returns none of them.
   */
  append(log: string, text: string, options: AppendOptions): Promise<number>;
  /** The kept entries with this sequence number or a later one, oldest first. */
  read(log: string, from: number): Promise<readonly LogEntry[]>;
  /**
   * Passes the entries of these logs to this node from now on, whether they exist yet or not, and keeps those that exist for `keepMs`
   * more. A node repeats it before `keepMs` have passed.
   */
  follow(logs: readonly string[], keepMs: number): Promise<void>;
  unfollow(log: string): Promise<void>;
  /** Removes the log and all its entries. */
  removeLog(log: string): Promise<void>;

  /** Sends a message to the node with this id, or to all nodes, this one included. */
  send(to: string | "all", text: string): Promise<void>;
  /**
   * Whether the storage of values and logs is the same as when this node joined, or last came back: false if it was created anew.
   */
  isSame(): Promise<boolean>;
  /**
   * Called when the engine has lost its data although the connection stayed. The engine gets ready again as after a lost
   * connection, with {@link EngineReceiver.lost} and {@link EngineReceiver.back}. It does nothing if the connection is already
   * lost.
   */
  renew(error: Error): void;
  /** Stops receiving, and releases what {@link EngineSource.open} made. */
  close(): Promise<void>;
}

/** Receives what an engine passes to a node. */
export interface EngineReceiver {
  message(text: string): void;
  entry(log: string, entry: LogEntry): void;
  /** The connection is lost. Until {@link EngineReceiver.back}, nothing is received. */
  lost(error: unknown): void;
  /**
   * The connection works again, and this node receives again the logs that it followed. Messages and entries in between may be
   * lost.
   */
  back(): void;
}

/**
 * Entries of a log. Past it, the engine drops the oldest, and a client that has not read them is notified to read
 * everything again.
 */
export const maxLogEntries = 1000;

/** Bytes of a log. They count as UTF-8, and an engine always keeps the newest entry. Past it, the engine does the same. */
export const maxLogBytes: number = 256 * 1024;

/**
 * Bytes of a shared message. With a `backplane`, they count as UTF-8; with a secret, an engine gets a third more, which NATS takes without
 * changes of its `max_payload`. Past it, a push rejects with a `RangeError`, and no client gets it; a streamed result goes
 * to its connected client without an event id, and a client that resumes before it gets 400.
 */
export const maxEntryBytes: number = maxLogBytes;

/** The options with which an engine joins a node. */
export interface EngineJoin {
  /** The prefix of every name in the engine. */
  readonly prefix: string;
  /** The id of this node. */
  readonly node: string;
  readonly receiver: EngineReceiver;
  readonly logger: Logger;
}

/** The options that every backplane has. */
export interface BackplaneOptions {
  /**
   * The prefix of every name in the engine, so that several servers can share it. @default {"halyard:" and the name of the
   * server}
   */
  readonly prefix?: string | undefined;
  /**
   * Secrets of at least 32 bytes, the same on every node. With them, all data of nodes is encrypted and authenticated, so that
   * access to the engine alone reveals and forges nothing. The first one writes, all of them read. @default {none: everyone who
   * can write to the engine is trusted}
   */
  readonly secret?: string | readonly string[] | undefined;
  /**
   * Milliseconds for which a node that no longer hears the others may still serve its copies of sessions. After it, the node
   * reads the record of a session before it serves it, and responds with 503 if it cannot. @default {5000}
   */
  readonly leaseMs?: number | undefined;
}

/** Opens an engine for a node. */
export interface EngineSource {
  /** The name of the engine, for messages. */
  readonly engine: string;
  readonly options: BackplaneOptions;
  /** Connects. Rejects if the engine cannot be reached or used, and says what to do. */
  open(options: EngineJoin): Promise<Engine>;
}

/** The bytes that a secret has at least: as many as the keys that are derived from it. */
const minSecretBytes = 32;

export const knownBackplane: Known<BackplaneOptions, Filled<Pick<BackplaneOptions, "leaseMs">>> = {
  prefix: filledText,
  secret: {
    is: (value) => (Array.isArray(value) ? [...value, value[0]] : [value]).every(isSecret),
    mustBe: `a text of at least ${minSecretBytes} bytes, or a list of them`,
    remedy: () => "create one with `openssl rand -base64 32`",
    isSecret: true,
  },
  leaseMs: preset(milliseconds, 5000),
};

/** Throws if an option of the backplane that `subject` creates is unknown or cannot work. */
export function checkBackplaneOptions(subject: string, options: BackplaneOptions): void {
  checkOptions({ subject }, options, knownBackplane);
}

function isSecret(secret: unknown): boolean {
  return typeof secret === "string" && new TextEncoder().encode(secret).length >= minSecretBytes;
}
