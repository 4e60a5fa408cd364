// Waiting for things that are not messages.
import { vi } from "vitest";

/** Lets everything that is ready to run, run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The time that really passes, whatever clocks a test holds. */
export const realNow: () => number = performance.now.bind(performance);

/** Resolves once `holds` is true. */
export async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const deadline = realNow() + timeoutMs;
  while (!(await holds())) {
    if (realNow() > deadline) throw new Error(`Not true within ${timeoutMs} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Resolves once `check` no longer throws. Waits longer than Vitest does, because a process may take seconds to start. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 15_000, interval: 5 });
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

/** A promise that the test resolves. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
