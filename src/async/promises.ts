// Promises of whatever library, and those that nobody may ever look at.

/** Whether a function returned a promise and not a value. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/**
 * Returns the promise as it is, and keeps its rejection from ending the process. If a handler starts two things and the first
 * one fails, it never awaits the second; when that rejects too, Node would exit.
 */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
