// A clock that goes when the test says so.

export interface Clock {
  readonly now: () => number;
  advance(ms: number): void;
}

export function stoppedClock(): Clock {
  let time = 1000;
  return { now: () => time, advance: (ms) => void (time += ms) };
}
