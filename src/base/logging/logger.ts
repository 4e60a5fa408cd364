// The server's log: pluggable, standard error by default.

/**
 * Receives the server's log. Any logger with these four methods works, such as `console`; one that takes the object first, such as
 * pino, needs a wrapper.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: console });
 * ```
 */
export interface Logger {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** Writes warnings and errors to standard error, since a stdio server needs standard output for its messages. */
export const stderrLogger: Logger = {
  debug() {},
  info() {},
  warn: (message, details) => write("warn", message, details),
  error: (message, details) => write("error", message, details),
};

function write(level: string, message: string, details: object | undefined): void {
  outliveStderr();
  if (!details) console.error(`halyard ${level}: ${message}`);
  else console.error(`halyard ${level}: ${message}`, details);
}

interface Stderr {
  on(event: "error", listener: () => void): void;
  listeners(event: "error"): readonly unknown[];
}

const ignore = (): void => {};

/** Ignores errors of standard error, such as a closed pipe or a full disk: they must not end the process. */
export function outliveStderr(): void {
  const { process } = globalThis as { readonly process?: { readonly stderr?: Partial<Stderr> } };
  const stderr = process?.stderr as Stderr | undefined;
  if (stderr?.listeners?.("error").includes(ignore) === false) stderr.on("error", ignore);
}
