// Wraps an engine: every operation has a deadline, the number of concurrent operations is limited, and every failure is one kind
// of error.
import { HalyardError } from "../../base/errors.ts";
import type { AppendOptions, CountedKind, Engine, LogEntry, StoredValue, ValueKey } from "./engine.ts";

/** Milliseconds that one operation of the engine may take. */
const operationMs = 5000;

/** How many operations may wait for the engine. Further ones fail at once. */
const maxOperations = 10_000;

export class GuardedEngine implements Engine {
  readonly #engine: Engine;
  readonly #name: string;
  #operations = 0;

  constructor(engine: Engine, name: string) {
    this.#engine = engine;
    this.#name = name;
  }

  get(key: ValueKey): Promise<StoredValue | undefined> {
    return this.#run(() => this.#engine.get(key));
  }

  create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    return this.#run(() => this.#engine.create(key, text, ttlMs));
  }

  replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    return this.#run(() => this.#engine.replace(key, text, ttlMs, version));
  }

  touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    return this.#run(() => this.#engine.touch(keys, ttlMs));
  }

  remove(key: ValueKey): Promise<void> {
    return this.#run(() => this.#engine.remove(key));
  }

  count(kind: CountedKind): Promise<number> {
    return this.#run(() => this.#engine.count(kind));
  }

  append(log: string, text: string, options: AppendOptions): Promise<number> {
    return this.#run(() => this.#engine.append(log, text, options));
  }

  read(log: string, from: number): Promise<readonly LogEntry[]> {
    return this.#run(() => this.#engine.read(log, from));
  }

  follow(logs: readonly string[], keepMs: number): Promise<void> {
    return this.#run(() => this.#engine.follow(logs, keepMs));
  }

  unfollow(log: string): Promise<void> {
    return this.#run(() => this.#engine.unfollow(log));
  }

  removeLog(log: string): Promise<void> {
    return this.#run(() => this.#engine.removeLog(log));
  }

  send(to: string, text: string): Promise<void> {
    return this.#run(() => this.#engine.send(to, text));
  }

  isSame(): Promise<boolean> {
    return this.#run(() => this.#engine.isSame());
  }

  renew(error: Error): void {
    this.#engine.renew(error);
  }

  close(): Promise<void> {
    return this.#run(() => this.#engine.close());
  }

  async #run<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#operations >= maxOperations) {
      throw unavailable(this.#name, `${maxOperations} operations wait for it`);
    }
    this.#operations++;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${operationMs} ms`)), operationMs);
    });
    try {
      return await Promise.race([operation(), tooLate]);
    } catch (error) {
      throw unavailable(this.#name, error);
    } finally {
      clearTimeout(timer);
      this.#operations--;
    }
  }
}

/** The error of an operation that failed or may have failed. */
function unavailable(engine: string, cause: unknown): HalyardError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new HalyardError("BACKPLANE_UNAVAILABLE", `${engine} cannot be used now: ${reason}`, { cause });
}
