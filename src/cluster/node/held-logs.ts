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

/** The bytes that a node has added to a log. */
interface Part {
  readonly node: string;
  bytes: number;
}

/** A log, and the part of the node that wrote to it first: usually the only one, and there may be many logs. */
interface HeldLog extends Part {
  readonly log: string;
  /** Empty until a node has reported it: such logs count as those of one caller. */
  caller: string;
  others: readonly Part[] | undefined;
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
    const held = this.#logs.get(log) ?? this.#add(log, node);
    const before = sumOf(held);
    this.#holdings.delete(held.caller, held, held.counted);
    if (caller !== undefined) held.caller = caller;
    const counted = Math.min(bytes, maxLogBytes);
    const part = partFor(held, node);
    if (part === undefined) held.others = [...(held.others ?? []), { node, bytes: counted }];
    else part.bytes = counted;
    held.endsAt = Math.max(held.endsAt, Math.ceil(now + leftMs));
    this.bytes += sumOf(held) - before;
    held.counted = countedOf(held);
    this.#holdings.add(held.caller, held, held.counted);
  }

  /** Forgets a log. Returns whether it counted. */
  delete(log: string): boolean {
    const held = this.#logs.get(log);
    if (held === undefined) return false;
    this.#logs.delete(log);
    this.bytes -= sumOf(held);
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

  /** The log of a caller that was used least recently. */
  oldestOf(caller: string): string | undefined {
    return this.#holdings.oldestOf(caller)?.log;
  }

  /** The parts of a log. */
  partsOf(log: string, now: number): LogPart[] {
    const held = this.#logs.get(log);
    if (held === undefined) return [];
    const { caller, endsAt } = held;
    const known = caller === "" ? undefined : caller;
    return partsOf(held).map(({ node, bytes }) => ({
      log,
      node,
      bytes,
      leftMs: endsAt - now,
      caller: known,
    }));
  }

  /** The logs that count. */
  get counted(): string[] {
    return [...this.#logs.values()].filter(({ counted }) => counted > 0).map(({ log }) => log);
  }

  #add(log: string, node: string): HeldLog {
    const held: HeldLog = { log, node, bytes: 0, caller: "", others: undefined, endsAt: 0, counted: 0 };
    this.#logs.set(log, held);
    return held;
  }
}

function partsOf(held: HeldLog): readonly Part[] {
  return [held, ...(held.others ?? [])];
}

function partFor(held: HeldLog | undefined, node: string): Part | undefined {
  return held?.node === node ? held : held?.others?.find((part) => part.node === node);
}

function sumOf({ bytes, others = [] }: HeldLog): number {
  return others.reduce((total, part) => total + part.bytes, bytes);
}

function countedOf(held: HeldLog): number {
  const sum = sumOf(held);
  return sum <= freeLogBytes ? 0 : Math.min(sum, maxLogBytes);
}
