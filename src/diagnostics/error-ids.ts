// Failures of the server itself: the client gets an id, and the log has the rest under the same id.
import { errorCodes } from "../errors.ts";
import type { RpcError } from "../wire/message.ts";
import type { Logger } from "./logger.ts";

/** What a client may know of a failure of the server itself; the log has it whole, under the same id. */
export function internalError(logger: Pick<Logger, "error">, what: string, error: unknown): RpcError {
  const errorId = newErrorId();
  logger.error(`${what} (error id ${errorId})`, { errorId, error });
  return { code: errorCodes.internal, message: `Internal error (error id ${errorId})`, data: { errorId } };
}

/** An id that a client and the log both have. */
export function newErrorId(): string {
  return crypto.randomUUID().slice(0, 8);
}
