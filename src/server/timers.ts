// Timers: those that nobody should have to wait for, and how long one can be.

/** Lets the process end before the timer does. On Node only; elsewhere a timer keeps nothing alive. */
export function inBackground<Timer>(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/** A longer timer would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Whether an author's time in whole milliseconds can be kept by a timer. */
export function isTimerMs(timeMs: number): boolean {
  return Number.isSafeInteger(timeMs) && timeMs > 0 && timeMs <= longestTimerMs;
}
