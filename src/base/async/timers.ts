// Timers and pauses that let the process exit, waiting with a timeout, and the age of something on two clocks.

/** Lets the process exit before the timer fires. Only Node needs this call. */
export function inBackground<Timer>(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/** Resolves after this time, and lets the process exit before. */
export function pauseInBackground(timeMs: number): Promise<void> {
  return new Promise((resolve) => void inBackground(setTimeout(resolve, timeMs)));
}

/** Node fires a longer timer immediately. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Waits for `work`, at most `timeMs`, and clears its timer. */
export async function within(timeMs: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
}

/** A moment on both clocks: the monotonic one may stop while the machine sleeps, and the wall clock may be set. */
export interface Moment {
  readonly elapsed: number;
  readonly time: number;
}

export function thisMoment(): Moment {
  return { elapsed: performance.now(), time: Date.now() };
}

/** For something that may be dropped too early, but must not be kept too long: the clock that shows more time counts. */
export function ageOf({ elapsed, time }: Moment): number {
  return Math.max(performance.now() - elapsed, Date.now() - time);
}
