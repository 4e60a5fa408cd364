// Clocks that go when the test says so: the one on the wall, and the one that only counts on.
import { onTestFinished, vi } from "vitest";
import { realNow } from "./turns.ts";

type Timer = "setTimeout" | "clearTimeout" | "setInterval" | "clearInterval";

/** How far `performance.now()` is ahead of `Date.now()` while a test has the clocks. */
let aheadMs: number | undefined;

/** Both clocks, and these timers, stand still until `vi.advanceTimersByTime` moves them together. Until the test ends. */
export function holdClocks(...timers: readonly Timer[]): void {
  takeOver();
  vi.useFakeTimers({ toFake: [...timers, "Date"] });
}

/** For what looks after sessions and streams: it runs on an interval. */
export function holdTime(): void {
  holdClocks("setInterval", "clearInterval");
}

/** Stops both clocks so many seconds from now, until the test ends. Only the clocks: whatever waits for something still gets it. */
export function passSeconds(seconds: number): void {
  takeOver();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
}

/** What depends on the time no longer depends on how long the test takes. */
export function stopClock(): void {
  passSeconds(0);
}

/** Sets the clock on the wall, of clocks that are held: no time has passed. */
export function setWallClock(bySeconds: number): void {
  vi.setSystemTime(Date.now() + bySeconds * 1000);
  if (aheadMs !== undefined) aheadMs -= bySeconds * 1000;
}

function takeOver(): void {
  if (aheadMs !== undefined) return;
  aheadMs = realNow() - Date.now();
  const now = vi.spyOn(performance, "now").mockImplementation(() => Date.now() + (aheadMs ?? 0));
  onTestFinished(() => {
    now.mockRestore();
    aheadMs = undefined;
    vi.useRealTimers();
  });
}

export interface Clock {
  readonly now: () => number;
  advance(ms: number): void;
}

export function stoppedClock(): Clock {
  let time = 1000;
  return { now: () => time, advance: (ms) => void (time += ms) };
}
