// One budget for the bytes of all logs of a cluster: each node counts what it adds, reports it to the others at intervals, and
// clears logs.
import { inBackground } from "../../base/async/timers.ts";
import type { Logger } from "../../base/logging/logger.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Bus, BusHandler } from "./bus.ts";
import type { AppendOptions, Engine } from "../engine/engine.ts";
import type { HeldLogs, LogPart } from "./held-logs.ts";
import { type LogCounter, type LogLimits, LogRoom } from "./log-room.ts";

/** Milliseconds after which a node reports its additions to the others. */
const tellMs = 1000;

/** The part of the budget that a node may add before it reports to the others. */
const untoldPart = 1 / 64;

/** A change of less than this part of the last report is not reported. */
const smallPart = 1 / 4;

/** Parts of logs in one message to other nodes, logs in an answer to one of them, and characters of a caller. */
const [maxParts, maxLogs, maxCaller] = [500, 100, 256];

/** How long another node may take to report what it knows, in milliseconds. */
const answerMs = 3000;

/** The parts of its cluster that the budget needs. */
export interface BudgetHost {
  readonly node: string;
  readonly bus: Bus;
  on(kind: string, handler: BusHandler): () => void;
}

interface Told {
  bytes: number;
  at: number;
}

/**
 * When the logs exceed the budget, the caller with the most bytes loses the log that it used least recently. Each node decides
 * that by itself when it adds an entry, from the reports of all nodes. So the logs exceed the budget at most by what is not yet
 * reported.
 */
export class LogBudget implements LogCounter {
  readonly #host: BudgetHost;
  readonly #room: LogRoom;
  /** The last report of this node for each log. */
  readonly #told = new Map<string, Told>();
  /** The logs that this node has yet to report. */
  readonly #untold = new Set<string>();
  #untoldBytes = 0;
  #isConnected = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasAsked = false;

  constructor(host: BudgetHost, logger: Logger) {
    this.#host = host;
    this.#room = new LogRoom(logger);
    host.on("held", ({ parts }) => this.#hear(parts));
    host.on("holdings", ({ from }) => this.#page(from));
    host.on("beat", (_, from) => this.#meet(from));
    // The node that ends a session removes its log.
    host.on("ended", ({ id }) => (typeof id === "string" ? this.#forget(id) : undefined));
  }

  allow(limits: LogLimits): void {
    this.#room.allow(limits);
  }

  get bytes(): number {
    return this.#held.bytes;
  }

  get logs(): number {
    return this.#held.counted.length;
  }

  sweep(): void {}

  connect(engine: Engine): void {
    this.#isConnected = true;
    this.#room.connect(engine);
  }

  get #held(): HeldLogs {
    return this.#room.held;
  }

  /** Forgets all logs, because the node leaves. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isConnected = false;
    this.#room.connect(undefined);
    this.#hasAsked = false;
    this.#told.clear();
    this.#untold.clear();
  }

  added(log: string, bytes: number, options: AppendOptions): void {
    const now = performance.now();
    const caller = options.caller?.slice(0, maxCaller);
    const more = this.#room.count(log, this.#host.node, bytes, { ...options, caller });
    if (this.#held.counts(log)) this.#changed(log, more, options.keepMs, now);
    if (this.#room.isSweepDue(now)) this.#sweep(now);
    this.#room.makeRoom((given) => this.removed(given));
  }

  /** Counts these logs for `leftMs` more, because this node still follows them. */
  kept(logs: readonly string[], leftMs: number): void {
    const { node } = this.#host;
    const now = performance.now();
    for (const log of logs) {
      if (this.#held.partsOf(log, now).length === 0) continue;
      this.#held.set({ log, node, bytes: this.#held.partOf(log, node), leftMs, caller: undefined }, now);
      if (this.#held.counts(log)) this.#tellSoon(log);
    }
  }

  removed(log: string): void {
    this.#told.delete(log);
    if (this.#held.delete(log)) this.#tellSoon(log);
  }

  #changed(log: string, more: number, keepMs: number, now: number): void {
    const bytes = this.#held.partOf(log, this.#host.node);
    const told = this.#told.get(log) ?? { bytes: 0, at: Number.NEGATIVE_INFINITY };
    const isMore = bytes > told.bytes * (1 + smallPart);
    if (!isMore && now - told.at < keepMs * smallPart) return;
    this.#untoldBytes += more;
    this.#tellSoon(log);
    if (this.#untoldBytes > this.#room.limits.bytes * untoldPart) this.#tell();
  }

  #tellSoon(log: string): void {
    this.#untold.add(log);
    this.#timer ??= inBackground(setTimeout(() => this.#tell(), tellMs));
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#untoldBytes = 0;
    const { node, bus } = this.#host;
    const now = performance.now();
    const parts: LogPart[] = [];
    for (const log of this.#untold) {
      const own = this.#held.partsOf(log, now).find((part) => part.node === node);
      if (own) this.#told.set(log, { bytes: own.bytes, at: now });
      parts.push(own ?? { log, node, bytes: 0, leftMs: 0, caller: undefined });
    }
    this.#untold.clear();
    while (parts.length > 0) bus.sendSoon("all", "held", { parts: parts.splice(0, maxParts).map(recordOf) });
  }

  #sweep(now: number): void {
    for (const log of this.#held.expired(now)) this.#held.delete(log);
    for (const log of this.#told.keys()) if (this.#held.partsOf(log, now).length === 0) this.#forget(log);
  }

  #forget(log: string): void {
    this.#told.delete(log);
    this.#untold.delete(log);
    this.#held.delete(log);
  }

  // Handles the reports of other nodes.

  #hear(records: unknown): void {
    if (!Array.isArray(records)) return;
    const now = performance.now();
    for (const part of records.map(partOf)) {
      if (part === undefined || part.node === this.#host.node) continue;
      if (part.leftMs <= 0) this.#forget(part.log);
      else this.#held.set(part, now);
    }
  }

  /** Answers a node that has just joined: the logs that this node knows, from the requested one on. */
  #page(from: unknown): JsonObject {
    const now = performance.now();
    const { counted } = this.#held;
    const start = Number.isSafeInteger(from) ? (from as number) : 0;
    const page = counted.slice(start, start + maxLogs);
    const parts = page.flatMap((log) => this.#held.partsOf(log, now));
    return { parts: parts.map(recordOf), next: start + page.length, of: counted.length };
  }

  /** Asks the first other node that it hears for the sizes of the logs that were written before. */
  #meet(other: string): void {
    if (this.#hasAsked || other === this.#host.node || !this.#isConnected) return;
    this.#hasAsked = true;
    this.#learn(other).catch(() => (this.#hasAsked = false));
  }

  async #learn(other: string): Promise<void> {
    for (let from = 0; ;) {
      const answer = await this.#host.bus.request(other, "holdings", { from }, answerMs);
      if (answer === undefined) throw new Error("The node did not answer");
      this.#hear(answer["parts"]);
      const { next, of } = answer;
      if (typeof next !== "number" || next <= from || typeof of !== "number" || next >= of) return;
      from = next;
    }
  }
}

function recordOf({ log, node, bytes, leftMs, caller }: LogPart): unknown {
  return [log, node, bytes, Math.ceil(leftMs), caller ?? null];
}

/** A part that another node has reported; undefined if it is invalid. */
function partOf(record: unknown): LogPart | undefined {
  if (!Array.isArray(record)) return undefined;
  const [log, node, bytes, leftMs, caller] = record as unknown[];
  if (typeof log !== "string" || typeof node !== "string") return undefined;
  if (!isAmount(bytes) || !isAmount(leftMs)) return undefined;
  return { log, node, bytes, leftMs, caller: typeof caller === "string" ? caller : undefined };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
