// The signals that ask a process to end: one handler for all servers in it.

const signals = ["SIGTERM", "SIGINT"] as const;
const closers = new Set<() => Promise<void>>();

/**
 * Calls `close` on a signal, then ends the process, unless the author handles the signal too and ends it in their own
 * time. What is returned stops that.
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
