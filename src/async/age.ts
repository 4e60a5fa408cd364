// How old something is that may be dropped too early, but must not be kept too long: by the clock that says more.

/** A moment on both clocks: the monotonic one may stand still while the machine sleeps, and the one on the wall may be set. */
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
