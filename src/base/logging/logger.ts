// The server's log: pluggable, standard error by default. A client gets the id of an unexpected error, and the log has the details.
import { isThenable } from "../async/promises.ts";
import { errorCodes } from "../errors.ts";
import type { RpcError } from "../wire/message.ts";

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

/** Ignores errors of the logger: they must not fail a request, and there is nowhere to log them. */
export function guardedLogger(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (...entry: [message: string, details?: object]): void =>
      guard(
        () => logger[level](...entry),
        () => {},
      );
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Runs a function of the author. It may be asynchronous, although its promise is not awaited. */
export function guard(run: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const returned = run();
    if (isThenable(returned)) returned.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}

/** Logs an unexpected error, and returns the error for the client, with an id that the log has too. */
export function internalError(logger: Pick<Logger, "error">, what: string, error: unknown): RpcError {
  const errorId = newErrorId();
  logger.error(`${what} (error id ${errorId})`, { errorId, error });
  return { code: errorCodes.internal, message: `Internal error (error id ${errorId})`, data: { errorId } };
}

/** Creates an id for the client and the log. */
export function newErrorId(): string {
  return crypto.randomUUID().slice(0, 8);
}
