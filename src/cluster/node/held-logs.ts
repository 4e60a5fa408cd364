// The sizes of the logs of a cluster in bytes, as one node knows them: by log, by the node that wrote, and by the caller that the
// log counts for.
import { Holdings } from "../../base/limits/holdings.ts";
import { maxLogBytes } from "../engine/engine.ts";

/** How many bytes of a log do not count: those of a session that only opens and closes its streams. */
const freeLogBytes = 2048;

/** The bytes that one node has added to a log, as nodes report them to each other. */
export interface LogPart {
  readonly log: string;
  readonly node: string;
  readonly bytes: number;
  /** Milliseconds that the engine keeps the log from now on. */
  readonly leftMs: number;
  /** The caller that the log counts for; undefined if the node does not know. */
  readonly caller: string | undefined;
}

interface HeldLog {
  readonly log: string;
  /** Empty until a node has reported it: such logs count as those of one caller. */
  caller: string;
  /** The bytes that each node has added; usually only one node has. */
  parts: readonly { readonly node: string; bytes: number }[];
  endsAt: number;
  /** How many bytes count. */
  counted: number;
}

/**
 * A log counts what nodes have added to it, at most {@link maxLogBytes}, because the engine then drops its oldest entries, until it
 * expires or is cleared. So no node asks the engine what a log holds.
 */
export class HeldLogs {
  readonly #logs = new Map<string, HeldLog>();
  readonly #holdings = new Holdings<HeldLog>(Number.POSITIVE_INFINITY);
  /** The bytes of all logs, including those that do not count. */
  bytes = 0;

  /** The bytes of all logs. */
  get total(): number {
    return this.#holdings.shares.total;
  }

  /** Whether a log holds more bytes than are free. */
  counts(log: string): boolean {
    return (this.#logs.get(log)?.counted ?? 0) > 0;
  }

  /** How many logs there are. */
  get size(): number {
    return this.#logs.size;
  }

  /** The caller that a log counts for; undefined if there is no such log. */
  callerOf(log: string): string | undefined {
    return this.#logs.get(log)?.caller;
  }

  /** The bytes that a node has added to a log. */
  partOf(log: string, node: string): number {
    return partFor(this.#logs.get(log), node)?.bytes ?? 0;
  }

  /** Sets the bytes that a node has added to a log. It becomes the newest log of its caller. */
  set({ log, node, bytes, leftMs, caller }: LogPart, now: number): void {
    const held = this.#logs.get(log) ?? this.#add(log);
    const before = sumOf(held.parts);
    this.#holdings.delete(held.caller, held, held.counted);
    if (caller !== undefined) held.caller = caller;
    const counted = Math.min(bytes, maxLogBytes);
    const part = partFor(held, node);
    // Not `push`, which would reserve room for 16 more.
    if (part === undefined) held.parts = [...held.parts, { node, bytes: counted }];
    else part.bytes = counted;
    held.endsAt = Math.max(held.endsAt, now + leftMs);
    this.bytes += sumOf(held.parts) - before;
    held.counted = countedOf(held.parts);
    this.#holdings.add(held.caller, held, held.counted);
  }

  /** Forgets a log. Returns whether it counted. */
  delete(log: string): boolean {
    const held = this.#logs.get(log);
    if (held === undefined) return false;
    this.#logs.delete(log);
    this.bytes -= sumOf(held.parts);
    this.#holdings.delete(held.caller, held, held.counted);
    return held.counted > 0;
  }

  /** The logs that the engine has removed because of their age. */
  expired(now: number): string[] {
    return [...this.#logs.values()].filter(({ endsAt }) => endsAt <= now).map(({ log }) => log);
  }

  /** The log to clear at the limit: of the caller with the most bytes, the one used least recently. */
  oldestOfGreediest(): string | undefined {
    const caller = this.#holdings.shares.greediest();
    if (caller === undefined) return undefined;
    for (const { log, counted } of this.#holdings.of(caller)) if (counted > 0) return log;
    return undefined;
  }

  /** The parts of a log. */
  partsOf(log: string, now: number): LogPart[] {
    const held = this.#logs.get(log);
    if (held === undefined) return [];
    const { caller, parts, endsAt } = held;
    const known = caller === "" ? undefined : caller;
    return parts.map(({ node, bytes }) => ({ log, node, bytes, leftMs: endsAt - now, caller: known }));
  }

  /** The logs that count. */
  get counted(): string[] {
    return [...this.#logs.values()].filter(({ counted }) => counted > 0).map(({ log }) => log);
  }

  #add(log: string): HeldLog {
    const held: HeldLog = { log, caller: "", parts: [], endsAt: 0, counted: 0 };
    this.#logs.set(log, held);
    return held;
  }
}

function partFor(held: HeldLog | undefined, node: string): HeldLog["parts"][number] | undefined {
  return held?.parts.find((part) => part.node === node);
}

function sumOf(parts: HeldLog["parts"]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0);
}

function countedOf(parts: HeldLog["parts"]): number {
  const sum = sumOf(parts);
  return sum <= freeLogBytes ? 0 : Math.min(sum, maxLogBytes);
}
