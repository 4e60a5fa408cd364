// Reaches sessions of other nodes: through their log, or through the node that has their pipe.
import { type Cluster, nodeOf } from "../../cluster/node/cluster.ts";
import { HalyardError } from "../../base/errors.ts";
import { maxEntryBytes } from "../../cluster/engine/engine.ts";
import { entryText, smallEntryText } from "../../cluster/engine/log-entries.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import type { LogLevel, Principal } from "../../protocol/model.ts";
import { defaultSessionLimits, keptPerIdle } from "../session/limits.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { AskTarget } from "./asks.ts";
import type { Stream } from "./listener.ts";
import { areScopes, type SessionEntry } from "./session-entries.ts";

/** Milliseconds that the log of a session is kept at least: as long as a record by default. */
const leastKeepMs = keptPerIdle * defaultSessionLimits.idleMs;

/** A notification for one session. */
export interface SessionPush {
  readonly method: string;
  readonly params?: object | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** How the logs of sessions are kept. */
export interface KeptLogs {
  readonly keepMs: number;
  readonly maxBytes: number;
}

/** The sessions of this node, for messages that other nodes pass on. */
interface LocalSessions {
  /** Sends a notification to a session that this node has. */
  pushHere(session: string, push: SessionPush): boolean;
  /** The stream on which a session that this node has can be asked. */
  reach(session: string, scopes?: readonly string[]): AskTarget | undefined;
}

/** The facts that nodes need about a session of another node. */
interface KnownSession {
  readonly principal: Principal | undefined;
  readonly logLevel: LogLevel | undefined;
}

export class RemoteSessions {
  readonly #cluster: Cluster;
  readonly #logger: Logger;
  #kept: KeptLogs = { keepMs: leastKeepMs, maxBytes: 0 };

  constructor(cluster: Cluster, local: LocalSessions, logger: Logger) {
    this.#cluster = cluster;
    this.#logger = logger;
    cluster.on("push", ({ session, method, params, scopes }) => {
      const areTexts = typeof session === "string" && typeof method === "string";
      if (!areTexts || !areScopes(scopes) || (params !== undefined && !isObject(params))) return undefined;
      return { isReached: local.pushHere(session, { method, params, scopes }) };
    });
    cluster.on("ask", ({ session, text, scopes }) => {
      if (typeof session !== "string" || typeof text !== "string" || !areScopes(scopes)) return undefined;
      const place = local.reach(session, scopes);
      place?.stream.write(text);
      return { isReached: place !== undefined };
    });
  }

  /** Keeps the logs of sessions after a push as the endpoints of this server do; with several, as the one that keeps more. */
  keepLogs({ keepMs, maxBytes }: KeptLogs): void {
    const { keepMs: longest, maxBytes: most } = this.#kept;
    this.#kept = { keepMs: Math.max(longest, keepMs), maxBytes: Math.max(most, maxBytes) };
  }

  /** Whether this node is in the cluster. */
  get isJoined(): boolean {
    return this.#cluster.hasJoined;
  }

  /** Whether a session may have a stream on another node. */
  get mayReach(): boolean {
    return this.#cluster.hasJoined && !this.#cluster.isAlone;
  }

  /** Whether a message is small enough for a log. */
  canKeep(text: string): boolean {
    // An escaped character has at most six bytes.
    return text.length * 6 < maxEntryBytes || entryText({ m: text }) !== undefined;
  }

  /**
   * Sends a notification to a session, with one operation of the engine. Resolves with false if it does not exist, or `takes`, which
   * costs another operation, excludes its log level.
   */
  async push(
    session: string,
    push: SessionPush,
    text: string,
    takes?: (logLevel: LogLevel | undefined) => boolean,
  ): Promise<boolean> {
    const node = nodeOf(session);
    if (node !== undefined) return this.#pass(node, "push", { session, ...push });
    const known = takes && (await this.#find(session));
    if (takes && !(known && takes(known.logLevel))) return false;
    return this.append(session, text, push.scopes);
  }

  /**
   * Adds a message to the log of a session; the node that has its GET stream writes it. Resolves with false if the session does not
   * exist. A node that has the session knows the `caller` that its log counts for.
   */
  async append(session: string, text: string, scopes?: readonly string[], caller?: string): Promise<boolean> {
    const entry: SessionEntry = { k: "push", m: text, scopes };
    const { keepMs, maxBytes } = this.#kept;
    // A process without an endpoint does not know how much those of others keep.
    const options = { keepMs, maxBytes: maxBytes || undefined, onlyWith: "session", caller } as const;
    if ((await this.#cluster.engine.append(session, smallEntryText(entry), options)) > 0) return true;
    if (await this.#cluster.verify()) return false;
    throw new HalyardError("BACKPLANE_UNAVAILABLE", "The engine has lost its data, perhaps with the session");
  }

  /** How to ask a session that is not on this node; undefined if it does not exist. */
  async find(session: string, scopes?: readonly string[]): Promise<AskTarget | undefined> {
    const node = nodeOf(session);
    if (node !== undefined) {
      if (node === this.#cluster.node || !this.#cluster.hears(node)) return undefined;
      const to = { transport: "pipe", session, principal: undefined };
      return { to, stream: this.#streamBy((text) => this.#askOn(node, session, text, scopes)) };
    }
    const known = await this.#find(session);
    const to = known && { transport: "http", session, principal: known.principal };
    return to && { to, stream: this.streamTo(session, scopes) };
  }

  /** A stream whose messages wait in the log of the session for its next GET stream, on any node. */
  streamTo(session: string, scopes?: readonly string[], caller?: string): Stream {
    return this.#streamBy(async (text) => {
      if (!(await this.append(session, text, scopes, caller)))
        throw new Error(`Session ${session} has ended`);
    });
  }

  async #askOn(node: string, session: string, text: string, scopes?: readonly string[]): Promise<void> {
    if (await this.#pass(node, "ask", { session, text, scopes })) return;
    throw new Error(`Session ${session} has no open stream`);
  }

  #streamBy(send: (text: string) => Promise<void>): Stream {
    const ignore = (): void => {};
    return {
      ask: send,
      write: (text) => {
        logRejection(this.#logger, "Sending a message to a session", send(text));
        return true;
      },
      congested: false,
      onDrain: () => ignore,
      onLost: () => ignore,
      destroy: ignore,
    };
  }

  /** Passes a message to the node that has the pipe of a session; that node never passes it on. */
  async #pass(node: string, kind: "push" | "ask", body: JsonObject): Promise<boolean> {
    if (node === this.#cluster.node || !this.#cluster.hears(node)) return false;
    // The message goes through the engine like an entry, and has the same limit.
    smallEntryText(body);
    return (await this.#cluster.questions.ask(node, kind, body))?.["isReached"] === true;
  }

  async #find(session: string): Promise<KnownSession | undefined> {
    const stored = await this.#cluster.engine.get({ kind: "session", tag: session });
    if (stored === undefined) return undefined;
    const record = readJson(stored.text);
    if (!isObject(record)) throw new Error(`The record of session ${session} is not valid`);
    const { principal, logLevel } = record;
    return {
      principal: isObject(principal) ? (principal as unknown as Principal) : undefined,
      logLevel: logLevel as LogLevel | undefined,
    };
  }
}
