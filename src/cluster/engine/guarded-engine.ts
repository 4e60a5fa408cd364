// Wraps an engine: every operation has a deadline, the number of concurrent operations is limited, and every failure is one kind
// of error.
import { HalyardError } from "../../base/errors.ts";
import type { Engine } from "./engine.ts";

/** Milliseconds that one operation of the engine may take. */
const operationMs = 5000;

/** How many operations may wait for the engine. Further ones fail at once. */
const maxOperations = 10_000;

/** Runs an operation of an engine. */
type Run = <Result>(operation: () => Promise<Result>) => Promise<Result>;

/** An engine whose operations `run` runs on another one. */
export function wrapEngine(engine: Engine, run: Run): Engine {
  return {
    get: (...given) => run(() => engine.get(...given)),
    create: (...given) => run(() => engine.create(...given)),
    replace: (...given) => run(() => engine.replace(...given)),
    touch: (...given) => run(() => engine.touch(...given)),
    remove: (...given) => run(() => engine.remove(...given)),
    count: (...given) => run(() => engine.count(...given)),
    append: (...given) => run(() => engine.append(...given)),
    read: (...given) => run(() => engine.read(...given)),
    follow: (...given) => run(() => engine.follow(...given)),
    unfollow: (...given) => run(() => engine.unfollow(...given)),
    removeLog: (...given) => run(() => engine.removeLog(...given)),
    send: (...given) => run(() => engine.send(...given)),
    isSame: () => run(() => engine.isSame()),
    renew: (error) => engine.renew(error),
    close: () => run(() => engine.close()),
  };
}

/** `name` is that of the engine, for its errors. */
export function guardEngine(engine: Engine, name: string): Engine {
  let operations = 0;
  return wrapEngine(engine, async (operation) => {
    if (operations >= maxOperations) throw unavailable(name, `${maxOperations} operations wait for it`);
    operations++;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${operationMs} ms`)), operationMs);
    });
    try {
      return await Promise.race([operation(), tooLate]);
    } catch (error) {
      throw unavailable(name, error);
    } finally {
      clearTimeout(timer);
      operations--;
    }
  });
}

/** The error of an operation that failed or may have failed. */
function unavailable(engine: string, cause: unknown): HalyardError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new HalyardError("BACKPLANE_UNAVAILABLE", `${engine} cannot be used now: ${reason}`, { cause });
}
