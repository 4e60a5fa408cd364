// From one message to its response: runs the handler, and encodes the result for the revision of the client.
import { peerOf } from "../diagnostics/events.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { clip, ProtocolError } from "../../base/errors.ts";
import {
  isObject,
  type JsonObject,
  type ReadMessage,
  type RequestId,
  type RpcError,
  rpcErrorOf,
  type RpcFailure,
  type RpcRequest,
  type RpcResponse,
} from "../../base/wire/message.ts";
import { callerOf, type Exchange, grantOf } from "../context/connection.ts";
import type { ResultKind } from "../catalogue/result-checks.ts";
import { orAsk } from "../catalogue/results.ts";
import type { Call } from "./call.ts";
import type { Core } from "./core.ts";
import { subjectOf, toRpcError } from "./failure.ts";
import { outcomeOf } from "./outcome.ts";
import { receiveNotification } from "./notifications.ts";
import { openCall } from "./open-call.ts";
import { Reply } from "./call-parts.ts";
import type { MethodHandler } from "./seams.ts";
import { stampOwnResult, stampResult } from "./stamp.ts";

/** An answer, or a promise of one if it is not ready; undefined if the message needs none. */
export type Answering<A> = A | undefined | Promise<A | undefined>;

/**
 * Answers one message; returns undefined for a notification, a response and a cancelled call. If the handler is synchronous, so
 * is this: each turn of the microtask queue costs as much as a small tool.
 */
export function dispatch(core: Core, read: ReadMessage, exchange: Exchange): Answering<RpcResponse> {
  if (!read.ok) return refuse(core, exchange, read.id, read.error);
  if (read.kind === "request") return answer(core, read.message, exchange);
  if (read.kind === "notification") return receiveNotification(core, read.message, exchange);
  return receiveResponse(core, read.message, exchange);
}

/** Settles the question that a response answers. Another node may have asked it: then this returns a promise. */
function receiveResponse(core: Core, response: RpcResponse, exchange: Exchange): Answering<never> {
  const { session } = exchange.connection;
  const grant = grantOf(exchange);
  if (core.asks.settle(session, response, grant)) return undefined;
  const forwarded = core.asks.forward(session, response, grant, callerOf(exchange));
  if (forwarded) return awaitForwarded(core, response, exchange, forwarded);
  logIgnored(core, response);
  return undefined;
}

/** Rejects if the client should resend its response. On a pipe it cannot be asked to, so the error is only logged. */
async function awaitForwarded(
  core: Core,
  response: RpcResponse,
  { connection }: Exchange,
  forwarded: Promise<boolean>,
): Promise<undefined> {
  try {
    if (!(await forwarded)) logIgnored(core, response);
  } catch (error) {
    if (!connection.sharesPipe) throw error;
    const log = RateLimitedLog.of(core.settings.logger);
    log.error("A response did not reach the node that asked", { error });
  }
}

function logIgnored(core: Core, { id }: RpcResponse): void {
  core.settings.logger.debug("Ignored a response that matches no open request", { id });
}

/** Builds the error response for a message that the server rejects, and reports it to `observe`. */
export function refuse(
  core: Core,
  exchange: Exchange,
  id: RequestId | undefined,
  error: RpcError,
): RpcFailure {
  const { connection } = exchange;
  core.settings.observe?.({
    type: "refusal",
    errorCode: error.code,
    reason: error.message,
    ...peerOf(connection),
  });
  if (id !== undefined) return { jsonrpc: "2.0", id, error };
  const unreadable = (connection.revision ?? core.settings.revisions.newest)?.unreadableId;
  return unreadable === null ? { jsonrpc: "2.0", id: unreadable, error } : { jsonrpc: "2.0", error };
}

function answer(core: Core, request: RpcRequest, exchange: Exchange): Answering<RpcResponse> {
  let opened: ReturnType<typeof openCall>;
  try {
    opened = openCall(core, request, exchange);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return refuse(core, exchange, request.id, rpcErrorOf(error));
  }
  const { call, handler } = opened;
  const { around } = core.window;
  return around === undefined ? run(core, call, handler) : around(call, () => run(core, call, handler));
}

/** Runs the middleware and the handler. */
function run(core: Core, call: Call, handler: MethodHandler): Answering<RpcResponse> {
  const { calls } = core.window;
  const started = (calls ?? core.settings.observe) && performance.now();
  if (started !== undefined) calls?.began(call, started);
  call.exchange.connection.inFlight.add(call);
  let running: unknown;
  let response: RpcResponse | undefined;
  try {
    const { middlewares } = core;
    running = isRetry(call)
      ? core.asking.resume(call).then(() => middlewares.around(call, handler.run))
      : middlewares.around(call, handler.run);
    if (!(running instanceof Promise)) response = success(running, call, handler);
  } catch (error) {
    running = Promise.reject(error as Error);
  }
  if (response) return close(core, call, response, started);
  const pending = running as Promise<unknown>;
  const wait = (): Promise<RpcResponse | undefined> =>
    new Promise((resolve) =>
      answerLater(core, call, handler, pending, (later) => resolve(close(core, call, later, started))),
    );
  // A listen request may stay open for days: create these functions only when it ends.
  return call.row.stream ? pending.then(wait, wait) : wait();
}

/** Whether the client retries the call with answers or with the state of an earlier round. */
function isRetry({ row, params }: Call): boolean {
  if (!row.repeats) return false;
  return params["inputResponses"] !== undefined || params["requestState"] !== undefined;
}

/** Sends the response of an asynchronous handler, or the one that `answerNow` gets before that. */
function answerLater(
  core: Core,
  call: Call,
  handler: MethodHandler,
  pending: Promise<unknown>,
  send: (response: RpcResponse) => void,
): void {
  let takeLater: ((response: RpcResponse) => void) | undefined;
  // A plain member: creating a getter for each call would take longer than everything else here.
  const pendingAnswer = {
    isAnswered: false,
    answerNow(reply: Reply | (() => Promise<Reply>), later: typeof takeLater): void {
      if (pendingAnswer.isAnswered) return;
      pendingAnswer.isAnswered = true;
      takeLater = later;
      if (reply instanceof Reply) return send(success(reply, call, handler));
      reply().then(
        (sealed) => send(success(sealed, call, handler)),
        (error: unknown) => send(failure(core, error, call, handler)),
      );
    },
  };
  const end = (response: RpcResponse): void => {
    if (pendingAnswer.isAnswered) return takeLater?.(response);
    pendingAnswer.isAnswered = true;
    send(response);
  };
  const returned = (result: unknown): void => {
    // The questions were the response, so the result of the handler is ignored.
    if (pendingAnswer.isAnswered && !takeLater) return;
    let response: RpcResponse;
    try {
      response = success(result, call, handler);
    } catch (error) {
      return threw(error);
    }
    end(response);
  };
  const threw = (error: unknown): void => {
    if (pendingAnswer.isAnswered && !takeLater) return;
    const settled = core.asking.settle(error, call, () => core.middlewares.around(call, handler.run));
    if (settled === undefined) end(failure(core, error, call, handler));
    else if (settled !== "answered")
      settled.then(returned, (failed: unknown) => end(failure(core, failed, call, handler)));
  };
  call.waitsFor(pendingAnswer);
  pending.then(returned, threw);
}

/** Ends the call, reports it, and returns the response. */
function close(
  core: Core,
  call: Call,
  response: RpcResponse,
  started: number | undefined,
): Answering<RpcResponse> {
  call.finish();
  if (!call.row.stream) core.window.counter?.count(response);
  if (started !== undefined) report(core, call, response, performance.now() - started);
  if (call.cancelled) return undefined;
  return call.hasJustReported ? afterReports(response) : response;
}

/**
 * Delays the response by two milliseconds. A client that reads the last progress report and the response in one chunk drops the
 * report. Two timers of 1 ms, because a late event loop runs one timer of 2 ms before it writes anything.
 */
function afterReports(response: RpcResponse): Promise<RpcResponse> {
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve, 1, response), 1));
}

/** The response for the value that a handler or middleware returned. Throws if the value holds questions or cannot be sent. */
function success(returned: unknown, call: Call, handler: MethodHandler): RpcResponse {
  const { id } = call;
  if (returned instanceof Reply) return { jsonrpc: "2.0", id, result: returned.result };
  const result = encode(orAsk(returned), call, handler);
  if (call.openQuestion !== undefined) warnOfQuestion(call, call.openQuestion);
  return { jsonrpc: "2.0", id, result };
}

const nouns: Readonly<Record<string, ResultKind | undefined>> = {
  "tools/call": "Tool",
  "prompts/get": "Prompt",
  "resources/read": "Resource",
};

/** The handler has returned as if the question had an answer. */
function warnOfQuestion(call: Call, question: string): void {
  if (call.cancelled) return;
  const subject = `${nouns[call.method] ?? call.method} ${clip(subjectOf(call) ?? "")}`.trim();
  call.core.settings.logger.warn(`${subject} returned while ${question} was open: await it`);
}

function encode(result: unknown, call: Call, handler: MethodHandler): JsonObject {
  if (!isObject(result))
    throw new TypeError(
      `${call.method} returned no result: a method must return an object, and middleware the value of next()`,
    );
  return handler.encode
    ? stampOwnResult(handler.encode(result as never, call), call)
    : stampResult(result, call);
}

function failure(core: Core, error: unknown, call: Call, handler: MethodHandler): RpcResponse {
  const { id } = call;
  call.failed = { error };
  const result = handler.recover?.(error, call);
  if (result !== undefined) return { jsonrpc: "2.0", id, result: encode(result, call, handler) };
  return { jsonrpc: "2.0", id, error: toRpcError(error, call, core.asking) };
}

function report(core: Core, call: Call, response: RpcResponse, durationMs: number): void {
  core.window.calls?.ended(call, response, durationMs);
  const { observe } = core.settings;
  if (observe === undefined) return;
  const { method, revision, client, transport, session, principal, caller } = call;
  const { outcome, errorCode, errorId, reason } = outcomeOf(call, response);
  const name = subjectOf(call);
  // One literal, since this runs for each call: spreading objects takes longer than the rest.
  observe({
    type: "request",
    method,
    name,
    revision,
    client,
    durationMs,
    outcome,
    errorCode,
    errorId,
    reason,
    task: call.taskId,
    transport,
    session,
    principal,
    caller,
  });
}
