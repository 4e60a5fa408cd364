// Waiting with a limit, leaving no timer behind.

/** Waits for `work`, but no longer than `timeMs`. */
export async function within(timeMs: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
}
