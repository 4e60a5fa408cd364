// Promises that a handler may forget.

/**
 * The promise as it is. A handler that has begun two things and fails at the first never looks at the second: when that
 * fails too, such as because the client has gone, Node would end the process.
 */
export function mayBeLetGo<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
