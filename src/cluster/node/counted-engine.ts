// Wraps an engine to count the entries that this node adds to logs, keeps and removes.
import type {
  AppendOptions,
  CountedKind,
  Engine,
  LogEntry,
  StoredValue,
  ValueKey,
} from "../engine/engine.ts";
import type { LogCounter } from "./log-room.ts";
import { byteLength } from "../engine/stored.ts";

export class CountedEngine implements Engine {
  readonly #engine: Engine;
  readonly #budget: LogCounter;

  constructor(engine: Engine, budget: LogCounter) {
    this.#engine = engine;
    this.#budget = budget;
    budget.connect(engine);
  }

  async append(log: string, text: string, options: AppendOptions): Promise<number> {
    const sequence = await this.#engine.append(log, text, options);
    if (sequence > 0) this.#budget.added(log, byteLength(text), options);
    return sequence;
  }

  async removeLog(log: string): Promise<void> {
    await this.#engine.removeLog(log);
    this.#budget.removed(log);
  }

  async follow(logs: readonly string[], keepMs: number): Promise<void> {
    await this.#engine.follow(logs, keepMs);
    this.#budget.kept(logs, keepMs);
  }

  // These operations need no counting.

  get(key: ValueKey): Promise<StoredValue | undefined> {
    return this.#engine.get(key);
  }

  create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    return this.#engine.create(key, text, ttlMs);
  }

  replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    return this.#engine.replace(key, text, ttlMs, version);
  }

  touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    return this.#engine.touch(keys, ttlMs);
  }

  remove(key: ValueKey): Promise<void> {
    return this.#engine.remove(key);
  }

  count(kind: CountedKind): Promise<number> {
    return this.#engine.count(kind);
  }

  read(log: string, from: number): Promise<readonly LogEntry[]> {
    return this.#engine.read(log, from);
  }

  unfollow(log: string): Promise<void> {
    return this.#engine.unfollow(log);
  }

  send(to: string | "all", text: string): Promise<void> {
    return this.#engine.send(to, text);
  }

  isSame(): Promise<boolean> {
    return this.#engine.isSame();
  }

  renew(error: Error): void {
    this.#engine.renew(error);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
