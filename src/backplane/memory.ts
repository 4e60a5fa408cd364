// The engine in the memory of one process, for servers that share it there, as in tests.
import type { Backplane, BackplaneOptions, Engine, EngineReceiver, LogEntry, ValueKey } from "./engine.ts";
import { maxLogBytes, maxLogEntries } from "./engine.ts";

interface Kept {
  readonly text: string;
  readonly version: string;
  readonly endsAt: number;
}

interface KeptLog {
  readonly entries: LogEntry[];
  readonly followers: Set<string>;
  sequence: number;
  bytes: number;
  endsAt: number;
}

/** What the nodes of one process share. */
class Shared {
  readonly values = new Map<string, Kept>();
  readonly logs = new Map<string, KeptLog>();
  readonly nodes = new Map<string, EngineReceiver>();
  #versions = 0;

  nextVersion(): string {
    return String(++this.#versions);
  }

  value(name: string): Kept | undefined {
    const kept = this.values.get(name);
    if (kept === undefined || kept.endsAt > performance.now()) return kept;
    this.values.delete(name);
    return undefined;
  }

  log(name: string): KeptLog | undefined {
    const log = this.logs.get(name);
    if (log === undefined || log.endsAt > performance.now()) return log;
    this.logs.delete(name);
    return undefined;
  }

  /** Forgets what has expired, when something is added. */
  sweep(): void {
    const now = performance.now();
    for (const [name, { endsAt }] of this.values) if (endsAt <= now) this.values.delete(name);
    for (const [name, { endsAt }] of this.logs) if (endsAt <= now) this.logs.delete(name);
  }
}

/**
 * Connects servers in one process, with the same promises as a remote engine. Pass the same backplane to each.
 *
 * @example
 * ```ts
 * import { McpServer, memoryBackplane } from "halyard";
 *
 * const backplane = memoryBackplane();
 * const nodes = [1, 2, 3].map(() => new McpServer({ name: "demo", version: "1.0.0" }, { backplane }));
 * console.log(nodes.length);
 * ```
 */
export function memoryBackplane(options: BackplaneOptions = {}): Backplane {
  const servers = new Map<string, Shared>();
  return {
    engine: "memory",
    options,
    async open({ prefix, node, receiver }) {
      const shared = servers.get(prefix) ?? new Shared();
      servers.set(prefix, shared);
      shared.nodes.set(node, receiver);
      return new MemoryEngine(shared, node);
    },
  };
}

class MemoryEngine implements Engine {
  readonly #shared: Shared;
  readonly #node: string;

  constructor(shared: Shared, node: string) {
    this.#shared = shared;
    this.#node = node;
  }

  async get(key: ValueKey): Promise<Kept | undefined> {
    return this.#shared.value(nameOf(key));
  }

  async create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    this.#shared.sweep();
    return this.#shared.value(nameOf(key)) === undefined ? this.#put(key, text, ttlMs) : undefined;
  }

  async replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    return this.#shared.value(nameOf(key))?.version === version ? this.#put(key, text, ttlMs) : undefined;
  }

  async touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    for (const key of keys) {
      const kept = this.#shared.value(nameOf(key));
      if (kept !== undefined) this.#shared.values.set(nameOf(key), { ...kept, endsAt: endOf(ttlMs) });
    }
  }

  async remove(key: ValueKey): Promise<void> {
    this.#shared.values.delete(nameOf(key));
  }

  async count(kind: string): Promise<number> {
    this.#shared.sweep();
    return [...this.#shared.values.keys()].filter((name) => name.startsWith(`${kind} `)).length;
  }

  async append(
    name: string,
    text: string,
    { keepMs, follow }: { keepMs: number; follow?: "start" | "stop" | undefined },
  ): Promise<number> {
    this.#shared.sweep();
    const log = this.#log(name);
    if (follow === "start") log.followers.add(this.#node);
    const entry = { sequence: log.sequence + 1, previous: log.sequence, text };
    log.sequence = entry.sequence;
    log.bytes += text.length;
    log.endsAt = endOf(keepMs);
    log.entries.push(entry);
    while (log.entries.length > maxLogEntries || (log.bytes > maxLogBytes && log.entries.length > 1)) {
      log.bytes -= log.entries.shift()?.text.length ?? 0;
    }
    for (const node of log.followers) this.#tell(node, (receiver) => receiver.entry(name, entry));
    if (follow === "stop") log.followers.delete(this.#node);
    return entry.sequence;
  }

  async read(name: string, from: number): Promise<readonly LogEntry[]> {
    return (this.#shared.log(name)?.entries ?? []).filter(({ sequence }) => sequence >= from);
  }

  async follow(names: readonly string[], keepMs: number): Promise<void> {
    for (const name of names) {
      const log = this.#log(name);
      log.followers.add(this.#node);
      log.endsAt = Math.max(log.endsAt, endOf(keepMs));
    }
  }

  async unfollow(name: string): Promise<void> {
    this.#shared.log(name)?.followers.delete(this.#node);
  }

  async removeLog(name: string): Promise<void> {
    this.#shared.logs.delete(name);
  }

  async send(to: string, text: string): Promise<void> {
    for (const node of to === "all" ? this.#shared.nodes.keys() : [to]) {
      this.#tell(node, (receiver) => receiver.message(text));
    }
  }

  async close(): Promise<void> {
    this.#shared.nodes.delete(this.#node);
  }

  #put(key: ValueKey, text: string, ttlMs: number | undefined): string {
    const version = this.#shared.nextVersion();
    this.#shared.values.set(nameOf(key), { text, version, endsAt: endOf(ttlMs) });
    return version;
  }

  #log(name: string): KeptLog {
    const found = this.#shared.log(name);
    if (found !== undefined) return found;
    const log = {
      entries: [],
      followers: new Set<string>(),
      sequence: 0,
      bytes: 0,
      endsAt: 0,
    };
    this.#shared.logs.set(name, log);
    return log;
  }

  /** Later, as over a network, and only to a node that is still there then. */
  #tell(node: string, pass: (receiver: EngineReceiver) => void): void {
    queueMicrotask(() => {
      const receiver = this.#shared.nodes.get(node);
      if (receiver !== undefined) pass(receiver);
    });
  }
}

function nameOf({ kind, tag }: ValueKey): string {
  return `${kind} ${tag}`;
}

function endOf(ttlMs: number | undefined): number {
  return performance.now() + (ttlMs ?? Number.POSITIVE_INFINITY);
}
