// Standard output belongs to the protocol while a server is served on it.
import type { Writable } from "node:stream";

/** The one way to write to the stream, and how to give it back. */
export interface ClaimedStdout {
  readonly write: Writable["write"];
  release(): void;
}

/** Sends what others write to `process.stdout` to standard error, `console.log` included. */
export function claimStdout(output: Writable): ClaimedStdout {
  const write = output.write;
  if (output !== process.stdout) return { write, release: () => {} };
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return {
    write,
    release: () => {
      process.stdout.write = write as typeof process.stdout.write;
    },
  };
}
