// A clock that goes when the test says so.
import { onTestFinished, vi } from "vitest";

/** Stops the clock so many seconds from now, until the test ends. Only the clock: whatever waits for something still gets it. */
export function passSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
  onTestFinished(() => void vi.useRealTimers());
}

/** What depends on the time no longer depends on how long the test takes. */
export function stopClock(): void {
  passSeconds(0);
}

export interface Clock {
  readonly now: () => number;
  advance(ms: number): void;
}

export function stoppedClock(): Clock {
  let time = 1000;
  return { now: () => time, advance: (ms) => void (time += ms) };
}
