// Decides what a client sees of an exception: a message meant for it, or an error id that the log explains.
import {
  errorCodes,
  HalyardError,
  InputCancelled,
  InputDeclined,
  ProtocolError,
  ResourceNotFoundError,
  ToolError,
  UrlElicitationRequired,
} from "../../base/errors.ts";
import { encodeResponse, type RpcError, rpcErrorOf, type RpcResponse } from "../../base/wire/message.ts";
import type { Call } from "./call.ts";
import type { Core } from "./core.ts";
import type { AskingSeam } from "./seams.ts";
import type { AnyHandler } from "../catalogue/definition.ts";
import { resolveResource } from "../catalogue/resources.ts";
import type { ResultKind } from "../catalogue/result-checks.ts";
import type { ShownErrors } from "../settings/options.ts";
import { peerOf } from "../diagnostics/events.ts";
import { newErrorId } from "../../base/logging/logger.ts";

/** Converts anything that a handler threw to a JSON-RPC error. */
export function toRpcError(error: unknown, call: Call, asking: AskingSeam): RpcError {
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

/** Logs an exception, and returns what the client sees: an error id, or the message if the author chose `errors: "message"`. */
export function describeFailure(
  error: unknown,
  call: Call,
  shows: ShownErrors = call.core.settings.errors,
  what = "Internal error",
): { readonly errorId: string; readonly message: string } {
  const errorId = logFailure(error, call, causeOf(error, call));
  const own = shows === "message" && messageOf(error);
  return { errorId, message: typeof own === "string" && own !== "" ? own : `${what} (error id ${errorId})` };
}

/** A handler may throw anything, even an object whose `message` getter throws; the call still needs a response. */
function messageOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.message : error;
  } catch {
    return undefined;
  }
}

/** Carries an error that was already prepared for this client, and is sent unchanged. */
export class RelayedError extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** Whether the message of the error is meant for the client. */
export function isForClient(error: unknown): error is HalyardError {
  return (
    error instanceof ToolError ||
    isInputRefused(error) ||
    (error instanceof HalyardError && error.code === "ASK_FAILED")
  );
}

/** Whether the user declined or cancelled a question. That is not a failure. */
export function isInputRefused(error: unknown): error is HalyardError {
  return error instanceof InputDeclined || error instanceof InputCancelled;
}

/** Logs the exception with its stack, and returns the error id for the client. */
function logFailure(thrown: unknown, call: Call, cause = ""): string {
  const errorId = newErrorId();
  if (call.cancelled) return errorId;
  const { settings } = call.core;
  const { method } = call;
  const error = thrown ?? new TypeError(`${method} threw ${thrown}: throw an Error`);
  const { onFailure } = call.exchange.connection;
  onFailure?.(errorId, error);
  if (settings.hasLogger || onFailure === undefined) {
    const details = { errorId, method, name: subjectOf(call), error };
    settings.logger.error(`${method} failed (error id ${errorId})${cause}`, details);
  }
  call.failed = { error, errorId };
  settings.observe?.({ type: "handler-error", method, errorId, error, ...peerOf(call) });
  return errorId;
}

/** The messages of JavaScript engines for reading a member of undefined, or a private member of another object. */
const lackOfObject = /^(?:Cannot .*(?:undefined|private)|undefined is|Receiver)/;

/**
 * Guesses why a handler threw a TypeError: it called a method without its object, or expects all arguments in one object, as in
 * tRPC.
 */
function causeOf(error: unknown, call: Call): string {
  const isLikely = error instanceof TypeError && lackOfObject.test(String(messageOf(error)));
  const handler = isLikely ? handlerOf(call) : undefined;
  if (handler === undefined) return "";
  const source = Function.prototype.toString.call(handler);
  const [, member] = /^(?:async\s*)?\(\s*\{\s*(input|ctx)\b/.exec(source) ?? [];
  if (member !== undefined)
    return member in Object(call.params["arguments"])
      ? ""
      : `: a handler gets (args, ctx), and not { ${member} }`;
  const isArrow = /^(?:async\s*)?(?:\(|[\w$]+\s*=>)/.test(source);
  const isMethod = !isArrow && /\bthis\b/.test(source);
  return isMethod ? ": if the handler is a method, pass (args, ctx) => object.method(args, ctx)" : "";
}

function handlerOf(call: Call): AnyHandler | undefined {
  const { tools, prompts, resources, templates } = call.core.catalogue;
  const name = subjectOf(call) ?? "";
  if (call.method === "tools/call") return tools.peek(name)?.options.handler;
  if (call.method === "prompts/get") return prompts.peek(name)?.options.handler;
  if (call.method !== "resources/read") return undefined;
  return resolveResource(name, resources, templates)?.source.options.handler;
}

/** The error for a returned value that cannot be sent: the log has the problem, the client gets an error id. */
export function cannotSend(what: string, problem: string, call: Call): ProtocolError {
  const errorId = logFailure(new TypeError(`${what}: ${problem}`), call);
  return new ProtocolError(errorCodes.internal, `${what} (error id ${errorId})`, { errorId });
}

/** The error for an invalid result; it names the tool, prompt or resource. */
export function unsendable(kind: ResultKind, problem: string, call: Call): ProtocolError {
  return cannotSend(`${kind} ${subjectOf(call)} returned an invalid result`, problem, call);
}

/** Runs `convert` on a returned value. If it throws, the error names the tool, prompt or resource. */
export function converted<Result>(kind: ResultKind, call: Call, convert: () => Result): Result {
  try {
    return convert();
  } catch (error) {
    throw unsendable(kind, error instanceof Error ? error.message : String(error), call);
  }
}

/** The name of the tool or prompt, or the URI of the resource, that a request is about. */
export function subjectOf(call: Call): string | undefined {
  const name = call.params["name"] ?? call.params["uri"];
  return typeof name === "string" ? name : undefined;
}

/** A handler may return a value that JSON cannot represent, such as a bigint; its client still gets a response. */
export function encodeSafely(core: Core, response: RpcResponse): string {
  try {
    return encodeResponse(response);
  } catch (error) {
    const errorId = newErrorId();
    const problem = `The result cannot be serialised as JSON (error id ${errorId})`;
    core.settings.logger.error(problem, { errorId, id: response.id, error });
    const failure = { code: errorCodes.internal, message: problem, data: { errorId } };
    return JSON.stringify({ jsonrpc: "2.0", id: response.id, error: failure });
  }
}
