// Unexpected errors of the server: the client gets an error id, and the log has the details under that id.
import { errorCodes } from "../errors.ts";
import type { RpcError } from "../wire/message.ts";
import type { Logger } from "./logger.ts";

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
