// Changes values of an engine by comparing versions. A process can combine its edits of a value, so that only nodes compete.
import { HalyardError } from "../../base/errors.ts";
import type { Engine, StoredValue, ValueKey } from "./engine.ts";

/** How often a node tries to change a value while other nodes change it. */
export const maxTries = 50;

/**
 * How many edits of a value are combined. The longer a node takes between reading and writing, the likelier another node is
 * faster.
 */
const maxTogether = 32;

/** The next text of a value. Without `ttlMs` it never expires. */
interface NextValue {
  readonly text: string;
  readonly ttlMs?: number;
}

/** Returns the next value from the previous one; undefined leaves it unchanged. */
type MakeNext = (before: Pick<StoredValue, "text"> | undefined) => Promise<NextValue | undefined>;

interface Edit {
  readonly make: MakeNext;
  readonly resolve: (next: NextValue | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores what `make` returns for a value, and resolves with that. If the value changes meanwhile, `make` is called again. `what` names
 * the value in the error after too many tries.
 */
export function changeValue(
  engine: Engine,
  key: ValueKey,
  what: string,
  make: MakeNext,
): Promise<NextValue | undefined> {
  return new Promise((resolve, reject) => {
    makeTogether(engine, key, what, [{ make, resolve, reject }]).catch(reject);
  });
}

/** The edits that wait for earlier ones of the same value, by its name; a value that is not being edited has no entry. */
const waiting = new WeakMap<Engine, Map<string, Edit[]>>();

/**
 * Like `changeValue`, for a value that many calls change at once, such as a list: only other nodes compete with this process. A
 * change waits for those before it, even if the engine is slow, so `make` must not wait for another change of the same value.
 */
export function changeInTurn(
  engine: Engine,
  key: ValueKey,
  what: string,
  make: MakeNext,
): Promise<NextValue | undefined> {
  const queues = waiting.get(engine) ?? new Map<string, Edit[]>();
  waiting.set(engine, queues);
  const name = `${key.kind} ${key.tag}`;
  return new Promise((resolve, reject) => {
    const edit = { make, resolve, reject };
    const queue = queues.get(name);
    if (queue !== undefined) return void queue.push(edit);
    queues.set(name, [edit]);
    void makeAll(queues, name, (edits) => makeTogether(engine, key, what, edits));
  });
}

/** Makes the edits of a value, including those added meanwhile, and then removes their entry. Never rejects. */
async function makeAll(
  queues: Map<string, Edit[]>,
  name: string,
  makeSome: (edits: readonly Edit[]) => Promise<void>,
): Promise<void> {
  const queue = queues.get(name) ?? [];
  while (queue.length > 0) {
    const edits = queue.splice(0, maxTogether);
    await makeSome(edits).catch((error: unknown) => {
      // Waiting edits fail too. Otherwise each would wait for its own timeout.
      for (const { reject } of [...edits, ...queue.splice(0)]) reject(error);
    });
  }
  // Deleted in the same turn as the last check of the queue, so that no edit is added to a queue that has ended.
  queues.delete(name);
}

/**
 * Applies each edit to the result of the one before, and stores the last result. An edit that throws does not affect the others.
 */
async function makeTogether(
  engine: Engine,
  key: ValueKey,
  what: string,
  edits: readonly Edit[],
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const stored = await engine.get(key);
    const settle: (() => void)[] = [];
    let next: NextValue | undefined;
    for (const { make, resolve, reject } of edits) {
      try {
        const made = await make(next ?? stored);
        settle.push(() => resolve(made));
        next = made ?? next;
      } catch (error) {
        settle.push(() => reject(error));
      }
    }
    if (next !== undefined && !(await store(engine, key, next, stored))) continue;
    for (const settleOne of settle) settleOne();
    return;
  }
  throw tooBusy(what);
}

/** Resolves with false if another node has changed the value since it was read. */
async function store(
  engine: Engine,
  key: ValueKey,
  { text, ttlMs }: NextValue,
  read: StoredValue | undefined,
): Promise<boolean> {
  const version = await (read === undefined
    ? engine.create(key, text, ttlMs)
    : engine.replace(key, text, ttlMs, read.version));
  return version !== undefined;
}

export function tooBusy(what: string): HalyardError {
  return new HalyardError("BACKPLANE_UNAVAILABLE", `${what} changes too often: try again later`);
}
