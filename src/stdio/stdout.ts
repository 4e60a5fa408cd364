// Standard output belongs to the protocol while a server is served on it.
import type { Writable } from "node:stream";
import { ConfigurationError } from "../errors.ts";

/** The one way to write to the stream, and how to give it back. */
export interface ClaimedStdout {
  readonly write: Writable["write"];
  release(): void;
}

/** Sends what others write to `process.stdout` to standard error, `console.log` included. */
export function claimStdout(output: Writable): ClaimedStdout {
  const write = output.write;
  if (output !== process.stdout) return { write, release: () => {} };
  if (Object.hasOwn(process.stdout, "write")) {
    const where = { subject: "serveStdio", field: "output" };
    throw new ConfigurationError(
      "INVALID_OPTION",
      where,
      "is process.stdout, which something else has claimed already",
    );
  }
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return {
    write,
    release: () => {
      delete (process.stdout as { write?: unknown }).write;
    },
  };
}
