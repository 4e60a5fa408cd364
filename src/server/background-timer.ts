// Timers that nobody should have to wait for.

/** Lets the process end before the timer does. On Node only; elsewhere a timer keeps nothing alive. */
export function inBackground<Timer>(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
