// Timers: those that do not keep the process alive, how long one can be, and waiting with a limit.

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

/** Waits for `work`, but no longer than `timeMs`, and leaves no timer behind. */
export async function within(timeMs: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
}
