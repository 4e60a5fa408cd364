// From one message to its answer: run what it asks for, and write what that comes to as the revision of its client does.
import {
  isObject,
  type JsonObject,
  type ReadMessage,
  type RequestId,
  type RpcError,
  type RpcFailure,
  type RpcRequest,
  type RpcResponse,
} from "../../wire/message.ts";
import { InputRequired, orAsk } from "../asking/input-required.ts";
import { isRetry, questionsOf, settleInput, takeUp } from "../asking/settle-input.ts";
import { type Exchange, grantOf } from "../context/connection.ts";
import type { Call } from "./call.ts";
import type { Core } from "./core.ts";
import { peerOf } from "../../diagnostics/events.ts";
import { subjectOf, toRpcError } from "./failure.ts";
import type { MethodHandler } from "./method.ts";
import { receiveNotification } from "./notifications.ts";
import { openCall } from "./open-call.ts";
import { TaskCreated } from "../tasks/forms.ts";
import { stampOwnResult, stampResult } from "./stamp.ts";

/** An answer, or the promise of one where it is not there at once; undefined when there is nothing to say. */
export type Answering<A> = A | undefined | Promise<A | undefined>;

/**
 * Answers one message; nothing for a notification, a response, or a call that was cancelled. At once where the handler
 * answers at once: each turn of the microtask queue costs as much as a small tool.
 */
export function dispatch(core: Core, read: ReadMessage, exchange: Exchange): Answering<RpcResponse> {
  if (!read.ok) return refuse(core, exchange, read.id, read.error);
  if (read.kind === "request") return answer(core, read.message, exchange);
  if (read.kind === "notification") return receiveNotification(core, read.message, exchange);
  if (!core.asks.settle(exchange.connection.session, read.message, grantOf(exchange))) {
    core.settings.logger.debug("Ignored a response to nothing that was asked", { id: read.message.id });
  }
  return undefined;
}

/** The error for something that is not a request that can be answered. */
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
  return unreadable === "null" ? { jsonrpc: "2.0", id: null, error } : { jsonrpc: "2.0", error };
}

function answer(core: Core, request: RpcRequest, exchange: Exchange): Answering<RpcResponse> {
  const opened = openCall(core, request, exchange);
  if (opened.ok) return run(opened.call, opened.handler);
  return refuse(core, exchange, request.id, opened.error);
}

/** Runs the handler, and what surrounds it. */
function run(call: Call, handler: MethodHandler): Answering<RpcResponse> {
  const started = call.core.settings.observe && performance.now();
  call.exchange.connection.inFlight.add(call);
  let result: JsonObject;
  try {
    const running = isRetry(call) ? takeUp(call).then(() => around(call, handler)) : around(call, handler);
    if (running instanceof Promise && call.row.stream) return settleAtEnd(call, handler, running, started);
    const isReady = !(running instanceof Promise || running instanceof InputRequired);
    if (!isReady) return settle(call, handler, running, started);
    result = encode(running, call, handler);
  } catch (error) {
    return settle(call, handler, Promise.reject(error as Error), started);
  }
  return close(call, { jsonrpc: "2.0", id: call.id, result }, started);
}

/** For a call that may be open for days: a suspended function would weigh more than the call itself. */
function settleAtEnd(
  call: Call,
  handler: MethodHandler,
  running: Promise<unknown>,
  started: number | undefined,
): Promise<RpcResponse | undefined> {
  const atEnd = (): Promise<RpcResponse | undefined> => settle(call, handler, running, started);
  return running.then(atEnd, atEnd);
}

/** Waits for what the handler comes to, and makes a response of it. */
async function settle(
  call: Call,
  handler: MethodHandler,
  running: unknown,
  started: number | undefined,
): Promise<RpcResponse | undefined> {
  const { id } = call;
  let response: RpcResponse;
  try {
    const returned = running instanceof Promise ? await orInterrupted(call, handler, running) : running;
    const finished = finish(returned, call, handler);
    response = { jsonrpc: "2.0", id, result: finished instanceof Promise ? await finished : finished };
  } catch (error) {
    response = await toFailure(error, call, handler);
  }
  return close(call, response, started);
}

/** The call has been answered. */
function close(call: Call, response: RpcResponse, started: number | undefined): Answering<RpcResponse> {
  call.finished = true;
  // A task is no longer a matter of its connection, and goes on asking.
  if (call.task === undefined) {
    call.exchange.connection.inFlight.delete(call);
    call.stopAsking();
  }
  if (started !== undefined) report(call, response, performance.now() - started);
  if (call.cancelled) return undefined;
  return call.hasJustReported ? afterReports(response) : response;
}

/**
 * Clients that get a report and the answer in one chunk of a pipe forget the call before they look at the report, and drop
 * it. So the report has a head start of two milliseconds: one after the other, since a loop that is late makes up for both
 * at once, before anything is written.
 */
function afterReports(response: RpcResponse): Promise<RpcResponse> {
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve, 1, response), 1));
}

function around(call: Call, handler: MethodHandler): unknown {
  return call.core.middlewares.around(call, handler.run);
}

/** What the handler comes to, or what answers the call before that. Most calls cannot be interrupted, and pay nothing. */
function orInterrupted(call: Call, handler: MethodHandler, running: Promise<unknown>): Promise<unknown> {
  const canBe = call.row.repeats !== undefined || call.params["task"] !== undefined;
  if (!canBe) return running;
  call.outcome = () =>
    running
      .then(orAsk)
      .catch((error: unknown) => settleInput(call, questionsOf(error, call), () => around(call, handler)))
      .catch((error: unknown) => {
        const result = handler.recover?.(error, call);
        if (result === undefined) throw error;
        return result;
      });
  return new Promise((resolve, reject) => {
    call.interrupt = resolve;
    running.then(resolve, reject);
  });
}

/** The result as it is sent. */
function finish(result: unknown, call: Call, handler: MethodHandler): JsonObject | Promise<JsonObject> {
  if (result instanceof TaskCreated) return result.reply;
  if (!(result instanceof InputRequired)) return encode(result, call, handler);
  const { comesBack } = call.conversation;
  const settled = settleInput(call, result, () => {
    const running = around(call, handler);
    // Middleware may have asked before there was a task: this run makes one, and answers the call with it.
    return running instanceof Promise ? orInterrupted(call, handler, running) : running;
  });
  return comesBack ? settled : settled.then((last) => finish(last, call, handler));
}

function encode(result: unknown, call: Call, handler: MethodHandler): JsonObject {
  if (!isObject(result))
    throw new TypeError(
      `${call.method} came to no result: middleware must return that of next(), a method an object`,
    );
  return handler.encode !== undefined
    ? stampOwnResult(handler.encode(result as never, call), call)
    : stampResult(result, call);
}

async function toFailure(error: unknown, call: Call, handler: MethodHandler): Promise<RpcResponse> {
  const { id } = call;
  try {
    return { jsonrpc: "2.0", id, result: await finish(questionsOf(error, call), call, handler) };
  } catch (failure) {
    const result = handler.recover?.(failure, call);
    if (result !== undefined) return { jsonrpc: "2.0", id, result: encode(result, call, handler) };
    return { jsonrpc: "2.0", id, error: toRpcError(failure, call) };
  }
}

function report(call: Call, response: RpcResponse, durationMs: number): void {
  const { method, revision } = call;
  const errorCode = "error" in response ? response.error.code : undefined;
  const outcome = call.cancelled ? "cancelled" : errorCode === undefined ? "ok" : "error";
  const name = subjectOf(call);
  const event = { type: "request", method, name, revision, durationMs, outcome, errorCode } as const;
  call.core.settings.observe?.({ ...event, ...peerOf(call) });
}
