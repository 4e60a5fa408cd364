// The engine in the memory of one process: for a process alone, and for servers that share it there, as in tests.
import { inBackground, longestTimerMs } from "../../base/async/timers.ts";
import {
  type AppendOptions,
  type Engine,
  type EngineReceiver,
  type LogEntry,
  maxLogBytes,
  maxLogEntries,
  type StoredValue,
  type ValueKey,
  type ValueKind,
} from "./engine.ts";
import { byteLength } from "./log-entries.ts";

/** Something that expires. */
interface Mortal {
  endsAt: number;
}

interface Kept extends Mortal {
  readonly text: string;
  readonly version: string;
}

interface KeptLog extends Mortal {
  readonly entries: LogEntry[];
  bytes: number;
}

/** The fewest milliseconds between two sweeps. */
const minSweepMs = 10;

/**
 * How many entries a sweep may visit for each millisecond until the next one, so that sweeping takes a small share of the time.
 */
const visitsPerMs = 100;

/** Holds things that expire. Readers no longer see an expired one, and the next sweep frees its memory. */
class Expiring<T extends Mortal> {
  readonly #items = new Map<string, T>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer fires; it runs only while something expires. */
  #sweepsAt = Number.POSITIVE_INFINITY;
  #mayNextAt = Number.NEGATIVE_INFINITY;

  get(name: string): T | undefined {
    const item = this.#items.get(name);
    return item === undefined || item.endsAt > performance.now() ? item : undefined;
  }

  set(name: string, item: T): void {
    this.#items.set(name, item);
    this.#sweepBy(item.endsAt);
  }

  delete(name: string): void {
    this.#items.delete(name);
  }

  /** May include things that have expired since the last sweep. */
  get size(): number {
    if (performance.now() >= this.#mayNextAt) this.#sweep();
    return this.#items.size;
  }

  /** Stops the timer until something is added. Expired things stay in memory. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#sweepsAt = Number.POSITIVE_INFINITY;
  }

  #sweep(): void {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [name, { endsAt }] of this.#items) {
      if (endsAt <= now) this.#items.delete(name);
      else next = Math.min(next, endsAt);
    }
    this.#mayNextAt = now + Math.max(minSweepMs, this.#items.size / visitsPerMs);
    clearTimeout(this.#timer);
    this.#sweepsAt = Number.POSITIVE_INFINITY;
    this.#sweepBy(next);
  }

  /** Schedules a sweep for when something expires, or for as soon afterwards as it is worthwhile. */
  #sweepBy(endsAt: number): void {
    const time = Math.max(endsAt, this.#mayNextAt);
    if (time >= this.#sweepsAt) return;
    clearTimeout(this.#timer);
    this.#sweepsAt = time;
    const waitMs = Math.min(Math.ceil(time - performance.now()), longestTimerMs);
    this.#timer = inBackground(setTimeout(() => this.#sweep(), waitMs));
  }
}

/** The memory that the nodes of one cluster share. */
export class Memory {
  readonly logs: Expiring<KeptLog> = new Expiring();
  readonly followers: Map<string, Set<string>> = new Map();
  readonly nodes: Map<string, EngineReceiver> = new Map();
  /** Receives every entry, because there is no other node that could follow a log. */
  readonly #only: EngineReceiver["entry"] | undefined;
  readonly #values = new Map<ValueKind, Expiring<Kept>>();
  #numbers = 0;

  /** A number that is greater than every earlier one. */
  nextNumber(): number {
    return ++this.#numbers;
  }

  values(kind: ValueKind): Expiring<Kept> {
    const values = this.#values.get(kind) ?? new Expiring<Kept>();
    this.#values.set(kind, values);
    return values;
  }

  constructor(only?: EngineReceiver["entry"]) {
    this.#only = only;
  }

  /** Passes an entry to the nodes that follow its log. */
  pass(log: string, entry: LogEntry): void {
    if (this.#only !== undefined) return this.#only(log, entry);
    for (const node of this.followers.get(log) ?? []) this.nodes.get(node)?.entry(log, entry);
  }

  /** Stops every timer until something is added. */
  rest(): void {
    this.logs.rest();
    for (const values of this.#values.values()) values.rest();
  }

  follow(log: string, node: string): void {
    if (this.#only !== undefined) return;
    const followers = this.followers.get(log) ?? new Set();
    this.followers.set(log, followers.add(node));
  }

  unfollow(log: string, node: string): void {
    const followers = this.followers.get(log);
    followers?.delete(node);
    if (followers?.size === 0) this.followers.delete(log);
  }

  leave(node: string): void {
    this.nodes.delete(node);
    for (const log of this.followers.keys()) this.unfollow(log, node);
  }
}

export class MemoryEngine implements Engine {
  readonly #all: Memory;
  readonly #node: string;
  #isClosed = false;

  /** Without arguments, the engine of a process alone. */
  constructor(memory: Memory = new Memory(), node = "") {
    this.#all = memory;
    this.#node = node;
  }

  async get({ kind, tag }: ValueKey): Promise<StoredValue | undefined> {
    const kept = this.#shared.values(kind).get(tag);
    return kept && { text: kept.text, version: kept.version };
  }

  async create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    return this.#version(key) === undefined ? this.#put(key, text, ttlMs) : undefined;
  }

  async replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    return this.#version(key) === version ? this.#put(key, text, ttlMs) : undefined;
  }

  async touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    for (const { kind, tag } of keys) {
      const kept = this.#shared.values(kind).get(tag);
      if (kept !== undefined) kept.endsAt = endOf(ttlMs);
    }
  }

  async remove({ kind, tag }: ValueKey): Promise<void> {
    this.#shared.values(kind).delete(tag);
  }

  async count(kind: ValueKind): Promise<number> {
    return this.#shared.values(kind).size;
  }

  async append(name: string, text: string, options: AppendOptions): Promise<number> {
    const { keepMs, follow, onlyWith, isOnly, maxBytes = maxLogBytes } = options;
    const shared = this.#shared;
    if (onlyWith !== undefined && shared.values(onlyWith).get(name) === undefined) return 0;
    const known = shared.logs.get(name);
    const entry = { sequence: shared.nextNumber(), previous: known?.entries.at(-1)?.sequence ?? 0, text };
    // A literal for the first one: `push` would reserve room for 16 more.
    const log = known ?? { entries: [entry], bytes: 0, endsAt: 0 };
    known?.entries.push(entry);
    log.bytes += byteLength(text);
    log.endsAt = endOf(keepMs);
    const most = isOnly ? 1 : maxLogEntries;
    while (
      log.entries.length > most ||
      (log.bytes > Math.min(maxBytes, maxLogBytes) && log.entries.length > 1)
    ) {
      log.bytes -= byteLength(log.entries.shift()?.text ?? "");
    }
    shared.logs.set(name, log);
    if (follow === "start") shared.follow(name, this.#node);
    // Passed at once, so that a push to a stream of this process is written in the same turn.
    shared.pass(name, entry);
    if (follow === "stop") shared.unfollow(name, this.#node);
    return entry.sequence;
  }

  async read(name: string, from: number): Promise<readonly LogEntry[]> {
    return (this.#shared.logs.get(name)?.entries ?? []).filter(({ sequence }) => sequence >= from);
  }

  async follow(names: readonly string[], keepMs: number): Promise<void> {
    for (const name of names) {
      this.#shared.follow(name, this.#node);
      const log = this.#shared.logs.get(name);
      if (log !== undefined) log.endsAt = Math.max(log.endsAt, endOf(keepMs));
    }
  }

  async unfollow(name: string): Promise<void> {
    this.#shared.unfollow(name, this.#node);
  }

  async removeLog(name: string): Promise<void> {
    this.#shared.logs.delete(name);
  }

  async send(to: string, text: string): Promise<void> {
    for (const node of to === "all" ? this.#shared.nodes.keys() : [to]) {
      this.#tell(node, (receiver) => receiver.message(text));
    }
  }

  async isSame(): Promise<boolean> {
    return true;
  }

  renew(error: Error): void {
    this.#tell(this.#node, (receiver) => {
      receiver.lost(error);
      receiver.back();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#all.leave(this.#node);
  }

  get #shared(): Memory {
    if (this.#isClosed) throw new Error("This node has closed its engine");
    return this.#all;
  }

  #version({ kind, tag }: ValueKey): string | undefined {
    return this.#shared.values(kind).get(tag)?.version;
  }

  #put({ kind, tag }: ValueKey, text: string, ttlMs: number | undefined): string {
    const version = String(this.#shared.nextNumber());
    this.#shared.values(kind).set(tag, { text, version, endsAt: endOf(ttlMs) });
    return version;
  }

  /** Deferred, as over a network, and only to a node that has not left by then. */
  #tell(node: string, pass: (receiver: EngineReceiver) => void): void {
    queueMicrotask(() => {
      const receiver = this.#all.nodes.get(node);
      if (receiver !== undefined) pass(receiver);
    });
  }
}

function endOf(ttlMs: number | undefined): number {
  // Whole, because a fraction takes memory of its own.
  return Math.floor(performance.now() + (ttlMs ?? Number.POSITIVE_INFINITY));
}
