// The limits of the logs of sessions: the rule for clearing a log, for a process alone and for each node of a cluster.
import type { Logger } from "../../base/logging/logger.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { Shares } from "../../base/limits/shares.ts";
import type { AppendOptions, Engine } from "../engine/engine.ts";
import { wrapEngine } from "../engine/guarded-engine.ts";
import { byteLength } from "../engine/log-entries.ts";
import { HeldLogs } from "./held-logs.ts";

/** The limits of all logs together. */
export interface LogLimits {
  readonly bytes: number;
  /** How many logs there may be in a process alone; those of a cluster are only limited in bytes. */
  readonly logs: number;
}

/** Counts what is added to logs. */
export interface LogCounter {
  connect(engine: Engine): void;
  /** Counts an entry of so many bytes. */
  added(log: string, bytes: number, options: AppendOptions): void;
  /** Called when the logs are kept for longer. */
  kept(logs: readonly string[], leftMs: number): void;
  /** Called when the log was removed. */
  removed(log: string): void;
}

/** An engine that counts the entries that this node adds to logs, keeps and removes. */
export function countEngine(engine: Engine, counter: LogCounter): Engine {
  counter.connect(engine);
  return {
    ...wrapEngine(engine, (operation) => operation()),
    async append(log, text, options) {
      const sequence = await engine.append(log, text, options);
      if (sequence > 0) counter.added(log, byteLength(text), options);
      return sequence;
    },
    async removeLog(log) {
      await engine.removeLog(log);
      counter.removed(log);
    },
    async follow(logs, keepMs) {
      await engine.follow(logs, keepMs);
      counter.kept(logs, keepMs);
    },
  };
}

/** The limits until an endpoint sets its own. */
const defaultLimits: LogLimits = { bytes: 64 * 1024 * 1024, logs: Number.POSITIVE_INFINITY };

/** Bytes that an engine needs for an entry besides its text, roughly. */
const entryBytes = 64;

/** Milliseconds that a cleared log is kept: longer than that of any session that is not in use. */
const clearedMs = 3_600_000;

/** Milliseconds between two sweeps for expired logs: usually, and while the logs exceed the limits. */
const [sweepMs, fullSweepMs] = [10_000, 1000];

/** When the logs exceed their limits, the caller with the most bytes loses the log that it used least recently. */
export class LogRoom {
  held: HeldLogs = new HeldLogs();
  readonly #logger: Logger;
  #limits: LogLimits | undefined;
  #engine: Engine | undefined;
  #sweptAt = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The limits in force. */
  get limits(): LogLimits {
    return this.#limits ?? defaultLimits;
  }

  /** Sets the limits. With several endpoints, the largest limits apply. */
  allow({ bytes, logs }: LogLimits): void {
    const { bytes: most = 0, logs: mostLogs = 0 } = this.#limits ?? {};
    this.#limits = { bytes: Math.max(most, bytes), logs: Math.max(mostLogs, logs) };
  }

  /** Clears logs through this engine from now on; without one, nothing is counted. */
  connect(engine: Engine | undefined): void {
    this.#engine = engine;
    if (engine === undefined) this.held = new HeldLogs();
  }

  /** Counts the bytes that a node adds to a log, and returns their sum. */
  count(log: string, node: string, bytes: number, { keepMs, caller, maxBytes }: AppendOptions): number {
    const more = bytes + entryBytes;
    const part = Math.min(this.held.partOf(log, node) + more, maxBytes ?? Number.POSITIVE_INFINITY);
    this.held.set({ log, node, bytes: part, leftMs: keepMs, caller }, performance.now());
    return more;
  }

  /** Whether it is time to sweep expired logs. */
  isSweepDue(now: number): boolean {
    const isFull = this.held.total > this.limits.bytes;
    if (now - this.#sweptAt <= (isFull ? fullSweepMs : sweepMs)) return false;
    this.#sweptAt = now;
    return true;
  }

  /** Clears logs until the others fit. Calls `forget` with each. */
  makeRoom(forget: (log: string) => void): void {
    const engine = this.#engine;
    if (engine === undefined) return;
    while (this.held.total > this.limits.bytes) {
      const log = this.held.oldestOfGreediest();
      if (log === undefined) return;
      forget(log);
      this.clear(log);
    }
  }

  /** Empties a log. Its readers notice that they have missed entries. */
  clear(log: string): void {
    const engine = this.#engine;
    if (engine === undefined) return;
    const options = { keepMs: clearedMs, isOnly: true, onlyWith: "session" } as const;
    logRejection(this.#logger, "Clearing a log", engine.append(log, "", options));
  }
}

/** Counts the logs of a process alone. */
export class LoneLogs implements LogCounter {
  readonly #room: LogRoom;
  /** How many logs each caller has. */
  readonly #number = new Shares(Number.POSITIVE_INFINITY);

  constructor(logger: Logger) {
    this.#room = new LogRoom(logger);
  }

  get bytes(): number {
    return this.#room.held.bytes;
  }

  get logs(): number {
    return this.#room.held.size;
  }

  allow(limits: LogLimits): void {
    this.#room.allow(limits);
  }

  connect(engine: Engine): void {
    this.#room.connect(engine);
  }

  added(log: string, bytes: number, options: AppendOptions): void {
    // The log of changes belongs to no caller, and has a limit of its own.
    const known = this.#room.held.callerOf(log);
    const caller = known ?? options.caller;
    if (caller === undefined) return;
    this.#room.count(log, "", bytes, { ...options, caller });
    if (known === undefined) this.#number.count(caller, 1);
    this.sweep(performance.now());
    this.#room.makeRoom((given) => this.removed(given));
    while (this.logs > this.#room.limits.logs) {
      const greediest = this.#number.greediest();
      const oldest = greediest === undefined ? undefined : this.#room.held.oldestOf(greediest);
      if (oldest === undefined) return;
      this.removed(oldest);
      this.#room.clear(oldest);
    }
  }

  kept(): void {}

  removed(log: string): void {
    const caller = this.#room.held.callerOf(log);
    if (caller === undefined) return;
    this.#room.held.delete(log);
    this.#number.count(caller, -1);
  }

  /** Forgets logs that have expired. */
  sweep(now: number): void {
    if (!this.#room.isSweepDue(now)) return;
    for (const log of this.#room.held.expired(now)) this.removed(log);
  }
}
