// The signals that ask a process to end.

const signals = ["SIGTERM", "SIGINT"] as const;

/** Closes first, then lets the signal do what it would have done. What is returned stops that. */
export function closeOnSignals(close: () => Promise<void>): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    void close().finally(() => process.kill(process.pid, signal));
  };
  for (const signal of signals) process.once(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
