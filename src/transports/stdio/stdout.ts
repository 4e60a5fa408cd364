// Claims standard output for protocol messages while a server uses it.
import { Console } from "node:console";
import type { Writable } from "node:stream";
import { ConfigurationError } from "../../base/errors.ts";

/** Writes to the claimed stream, and releases it. */
export interface ClaimedStdout {
  readonly write: Writable["write"];
  release(): void;
}

/** Marks the `write` of a claimed stream, for other copies of this package too. */
const claimed = Symbol.for("halyard.claimedStdout");

/** Redirects everything else that is written to `process.stdout`, such as `console.log`, to standard error. */
export function claimStdout(output: Writable): ClaimedStdout {
  const write = output.write;
  if (output !== process.stdout) return { write, release: () => {} };
  if (claimed in write) {
    const where = { subject: "serveStdio", field: "output" };
    throw new ConfigurationError(
      "INVALID_OPTION",
      where,
      "is process.stdout, which is claimed already: close the other server, or pass another output",
    );
  }
  const redirected = Object.assign(process.stderr.write.bind(process.stderr), { [claimed]: true });
  const restoreWrite = replace(process.stdout, { write: redirected });
  const restoreConsole = hasOwnConsole() ? replace(console, consoleOnStderr()) : undefined;
  return {
    write,
    release: () => {
      restoreWrite();
      restoreConsole?.();
    },
  };
}

/** Whether `console` writes to the system by itself: on Bun and Deno it does, on Node it calls `process.stdout.write`. */
function hasOwnConsole(): boolean {
  return "bun" in process.versions || "deno" in process.versions;
}

function consoleOnStderr(): Record<string, unknown> {
  const methods = Object.entries(new Console(process.stderr)).filter(
    ([, value]) => typeof value === "function",
  );
  // Only Bun has `console.write`.
  const write = (...texts: unknown[]): boolean => process.stderr.write(texts.join(""));
  return { ...Object.fromEntries(methods), ...("write" in console && { write }) };
}

/** Replaces members of an object. The returned function restores those that nothing else has replaced since. */
function replace(target: object, members: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(members).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  Object.assign(target, members);
  return () => {
    for (const [name, own] of before) {
      if ((target as Record<string, unknown>)[name] !== members[name]) continue;
      if (own) Object.defineProperty(target, name, own);
      else delete (target as Record<string, unknown>)[name];
    }
  };
}
