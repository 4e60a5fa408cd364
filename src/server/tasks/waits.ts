// Requests that wait for the end of tasks, on whatever node those run: messages wake them, and they read the task again.
import { inBackground } from "../../base/async/timers.ts";
import type { TaskRecord } from "./record.ts";

/** A request that waits for a task. */
export interface TaskWait {
  /** Resolves when the task may have ended since it was last read. */
  next(): Promise<void>;
  /** Makes `next` resolve. */
  wake(): void;
  close(): void;
}

/** The callbacks of a wait. */
interface WaitHooks {
  /** Called each time before it waits. Returns after how many milliseconds to read the task even if no message comes. */
  readonly before: () => number | undefined;
  readonly close: () => void;
}

interface Open {
  readonly node: string | undefined;
  readonly wake: () => void;
}

export class TaskWaits {
  readonly #open = new Map<string, Set<Open>>();

  open({ id, node }: TaskRecord, hooks: WaitHooks): TaskWait {
    let isAwake = false;
    let resolveNext = (): void => {};
    const wake = (): void => {
      isAwake = true;
      resolveNext();
    };
    const entry = { node, wake };
    const waiting = this.#open.get(id) ?? new Set();
    this.#open.set(id, waiting.add(entry));
    return {
      async next() {
        const againMs = hooks.before();
        let timer: ReturnType<typeof setTimeout> | undefined;
        await new Promise<void>((resolve) => {
          resolveNext = resolve;
          if (isAwake) resolve();
          if (againMs !== undefined) timer = inBackground(setTimeout(resolve, againMs));
        });
        clearTimeout(timer);
        isAwake = false;
      },
      wake,
      close: () => {
        waiting.delete(entry);
        if (waiting.size === 0 && this.#open.get(id) === waiting) this.#open.delete(id);
        hooks.close();
      },
    };
  }

  wake(id: string): void {
    for (const { wake } of this.#open.get(id) ?? []) wake();
  }

  /** Wakes the requests that wait for tasks of that node. */
  wakeNode(node: string): void {
    this.#wakeIf((waiting) => waiting.node === node);
  }

  wakeAll(): void {
    this.#wakeIf(() => true);
  }

  #wakeIf(isMeant: (waiting: Open) => boolean): void {
    for (const waiting of this.#open.values()) for (const one of waiting) if (isMeant(one)) one.wake();
  }
}
