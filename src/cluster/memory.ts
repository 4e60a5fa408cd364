// The engine in the memory of one process, for servers that share it there, as in tests.
import type {
  AppendOptions,
  BackplaneOptions,
  Engine,
  EngineReceiver,
  LogEntry,
  StoredValue,
  ValueKey,
  ValueKind,
} from "../backplane/engine.ts";
import type { Backplane } from "../backplane/backplane.ts";
import { maxLogBytes, maxLogEntries } from "../backplane/engine.ts";
import { checkBackplaneOptions } from "../backplane/options.ts";
import { byteLength } from "../backplane/stored.ts";
import { backplaneOf } from "./backplane-of.ts";

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

/** What has expired is gone for readers at once, and leaves the memory at the next sweep. */
class Expiring<T extends Mortal> {
  readonly #items = new Map<string, T>();
  #sweepAt = 0;

  get(name: string): T | undefined {
    const item = this.#items.get(name);
    return item === undefined || item.endsAt > performance.now() ? item : undefined;
  }

  set(name: string, item: T): void {
    this.#sweep();
    this.#items.set(name, item);
  }

  delete(name: string): void {
    this.#items.delete(name);
  }

  get size(): number {
    this.#sweep();
    return this.#items.size;
  }

  /** At most once a second, since it looks at everything. */
  #sweep(): void {
    const now = performance.now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + 1000;
    for (const [name, { endsAt }] of this.#items) if (endsAt <= now) this.#items.delete(name);
  }
}

/** What the nodes with one prefix share. */
class Shared {
  readonly logs = new Expiring<KeptLog>();
  readonly followers = new Map<string, Set<string>>();
  readonly nodes = new Map<string, EngineReceiver>();
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

  follow(log: string, node: string): void {
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

/**
 * Connects servers in one process, with the same promises as a remote engine. Pass the same backplane to each.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { memoryBackplane } from "halyard/cluster";
 *
 * const backplane = memoryBackplane();
 * const nodes = [1, 2, 3].map(() => new McpServer({ name: "demo", version: "1.0.0" }, { backplane }));
 * console.log(nodes.length);
 * ```
 */
export function memoryBackplane(options: BackplaneOptions = {}): Backplane {
  checkBackplaneOptions("memoryBackplane", options);
  const clusters = new Map<string, Shared>();
  return backplaneOf({
    engine: "memory",
    options,
    async open({ prefix, node, receiver }) {
      const shared = clusters.get(prefix) ?? new Shared();
      clusters.set(prefix, shared);
      shared.nodes.set(node, receiver);
      return new MemoryEngine(shared, node);
    },
  });
}

class MemoryEngine implements Engine {
  readonly #all: Shared;
  readonly #node: string;
  #isClosed = false;

  constructor(shared: Shared, node: string) {
    this.#all = shared;
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
    const { keepMs, follow, onlyWith, isOnly } = options;
    const shared = this.#shared;
    if (onlyWith !== undefined && shared.values(onlyWith).get(name) === undefined) return 0;
    const log = shared.logs.get(name) ?? { entries: [], bytes: 0, endsAt: 0 };
    const entry = { sequence: shared.nextNumber(), previous: log.entries.at(-1)?.sequence ?? 0, text };
    log.entries.push(entry);
    log.bytes += byteLength(text);
    log.endsAt = endOf(keepMs);
    const most = isOnly ? 1 : maxLogEntries;
    while (log.entries.length > most || (log.bytes > maxLogBytes && log.entries.length > 1)) {
      log.bytes -= byteLength(log.entries.shift()?.text ?? "");
    }
    shared.logs.set(name, log);
    if (follow === "start") shared.follow(name, this.#node);
    for (const node of shared.followers.get(name) ?? []) {
      this.#tell(node, (receiver) => receiver.entry(name, entry));
    }
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

  get #shared(): Shared {
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

  /** Later, as over a network, and only to a node that is still there then. */
  #tell(node: string, pass: (receiver: EngineReceiver) => void): void {
    queueMicrotask(() => {
      const receiver = this.#all.nodes.get(node);
      if (receiver !== undefined) pass(receiver);
    });
  }
}

function endOf(ttlMs: number | undefined): number {
  return performance.now() + (ttlMs ?? Number.POSITIVE_INFINITY);
}
