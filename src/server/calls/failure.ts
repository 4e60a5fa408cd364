// What a client may know of an exception: what was meant for it, or an id under which the log has the rest.
import {
  errorCodes,
  HalyardError,
  InputCancelled,
  InputDeclined,
  ProtocolError,
  ResourceNotFoundError,
  ToolError,
  UrlElicitationRequired,
} from "../../errors.ts";
import { type RpcError, rpcErrorOf } from "../../wire/message.ts";
import type { Call } from "./call.ts";
import type { Asking } from "./seams.ts";
import type { ShownErrors } from "../settings/checks.ts";
import { peerOf } from "../../diagnostics/events.ts";
import { newErrorId } from "../../diagnostics/error-ids.ts";

/** The JSON-RPC error for whatever a handler threw. */
export function toRpcError(error: unknown, call: Call, asking: Asking): RpcError {
  if (error instanceof ProtocolError) return rpcErrorOf(error);
  if (error instanceof ResourceNotFoundError) {
    return { code: call.protocol.resourceNotFoundCode, message: error.message, data: { uri: error.uri } };
  }
  if (error instanceof RelayedError) return error.error;
  if (error instanceof UrlElicitationRequired) return asking.urlRequired(error, call);
  if (isForClient(error)) return { code: errorCodes.internal, message: error.message };
  const { errorId, message } = describeFailure(error, call);
  return { code: errorCodes.internal, message, data: { errorId } };
}

/** Logs an exception, and says what its client is told of it: an id, or the message where the author has chosen so. */
export function describeFailure(
  error: unknown,
  call: Call,
  shows: ShownErrors = call.core.settings.errors,
  what = "Internal error",
): { readonly errorId: string; readonly message: string } {
  const errorId = logFailure(error, call);
  const own = shows === "message" && messageOf(error);
  return { errorId, message: typeof own === "string" && own !== "" ? own : `${what} (error id ${errorId})` };
}

/** What was thrown may be anything, and its message a getter that throws in turn: the call must be answered all the same. */
function messageOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.message : error;
  } catch {
    return undefined;
  }
}

/** An error that was made for this client before, and is told again as it was. */
export class RelayedError extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** Whether what went wrong is told in words that were meant for the client. */
export function isForClient(error: unknown): error is HalyardError {
  return (
    error instanceof ToolError ||
    isInputRefused(error) ||
    (error instanceof HalyardError && error.code === "ASK_FAILED")
  );
}

/** Whether the user declined or cancelled a question, which is no failure. */
export function isInputRefused(error: unknown): error is HalyardError {
  return error instanceof InputDeclined || error instanceof InputCancelled;
}

/** Writes the exception to the log, with its stack, and returns the id that the client is given. */
function logFailure(error: unknown, call: Call): string {
  const errorId = newErrorId();
  if (call.cancelled || call.hasAsked) return errorId;
  const { settings } = call.core;
  const { method } = call;
  settings.logger.error(`${method} failed (error id ${errorId})`, {
    errorId,
    method,
    name: subjectOf(call),
    error,
  });
  call.exchange.connection.onFailure?.(errorId, error);
  settings.observe?.({ type: "handler-error", method, errorId, error, ...peerOf(call) });
  return errorId;
}

/** The error for what a handler, or middleware, returned and cannot be sent: the log says what, the client gets an id. */
export function cannotSend(what: string, problem: string, call: Call): ProtocolError {
  const errorId = logFailure(new TypeError(`${what}: ${problem}`), call);
  return new ProtocolError(errorCodes.internal, `${what} (error id ${errorId})`, { errorId });
}

/** The tool or prompt that a request names, or the resource. */
export function subjectOf(call: Call): string | undefined {
  const name = call.params["name"] ?? call.params["uri"];
  return typeof name === "string" ? name : undefined;
}
