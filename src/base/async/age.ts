// The age of something that may be dropped too early, but must not be kept too long: the clock that shows more time counts.

/** A moment on both clocks: the monotonic one may stop while the machine sleeps, and the wall clock may be set. */
export interface Moment {
  readonly elapsed: number;
  readonly time: number;
}

export function thisMoment(): Moment {
  return { elapsed: performance.now(), time: Date.now() };
}

export function ageOf({ elapsed, time }: Moment): number {
  return Math.max(performance.now() - elapsed, Date.now() - time);
}
