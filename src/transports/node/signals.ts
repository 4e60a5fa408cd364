// Closes every server of the process on SIGTERM and SIGINT.

const signals = ["SIGTERM", "SIGINT"] as const;
const closers = new Set<() => Promise<void>>();

/**
 * Calls `close` on a signal, then exits, unless the author has a handler for the signal too, which then has to exit. The returned
 * function undoes this.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  if (closers.size === 0) for (const signal of signals) process.on(signal, closeAll);
  closers.add(close);
  return () => {
    if (closers.delete(close) && closers.size === 0) stopListening();
  };
}

async function closeAll(signal: NodeJS.Signals): Promise<void> {
  stopListening();
  await Promise.allSettled([...closers].map((close) => close()));
  if (process.listenerCount(signal) === 0) process.exit();
}

function stopListening(): void {
  for (const signal of signals) process.off(signal, closeAll);
}
