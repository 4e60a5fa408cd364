// Recognises promises of any library, and guards promises that may never be awaited.

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/**
 * Returns the promise, and keeps its rejection from ending the process: if a handler starts two operations and the first one
 * fails, it never awaits the second, and an unhandled rejection ends Node.
 */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
