// Claims standard output for protocol messages while a server uses it.
import type { Writable } from "node:stream";
import { ConfigurationError } from "../errors.ts";

/** Writes to the claimed stream, and releases it. */
export interface ClaimedStdout {
  readonly write: Writable["write"];
  release(): void;
}

/** Redirects everything else that is written to `process.stdout`, such as `console.log`, to standard error. */
export function claimStdout(output: Writable): ClaimedStdout {
  const write = output.write;
  if (output !== process.stdout) return { write, release: () => {} };
  if (Object.hasOwn(process.stdout, "write")) {
    const where = { subject: "serveStdio", field: "output" };
    throw new ConfigurationError(
      "INVALID_OPTION",
      where,
      "is process.stdout, which is claimed already: close the other server, or pass another output",
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
