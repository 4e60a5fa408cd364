// From one message to its answer: run what it asks for, and write what that comes to as the revision of its client does.
import { peerOf } from "../../diagnostics/events.ts";
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
import { type Exchange, grantOf } from "../context/connection.ts";
import { orAsk } from "../results/input-required.ts";
import type { Call } from "./call.ts";
import type { Core } from "./core.ts";
import { subjectOf, toRpcError } from "./failure.ts";
import { receiveNotification } from "./notifications.ts";
import { openCall } from "./open-call.ts";
import { type PendingAnswer, Reply } from "./parts.ts";
import type { MethodHandler } from "./seams.ts";
import { stampOwnResult, stampResult } from "./stamp.ts";

/** An answer, or the promise of one where it is not there at once; undefined when there is nothing to say. */
export type Answering<A> = A | undefined | Promise<A | undefined>;

/**
 * Answers one message. Nothing is sent for a notification, a response, or a call that was cancelled. At once where the handler
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
  if (opened.ok) return run(core, opened.call, opened.handler);
  return refuse(core, exchange, request.id, opened.error);
}

/** Runs the handler, and what surrounds it. */
function run(core: Core, call: Call, handler: MethodHandler): Answering<RpcResponse> {
  const started = core.settings.observe && performance.now();
  call.exchange.connection.inFlight.add(call);
  let running: unknown;
  let response: RpcResponse | undefined;
  try {
    const resuming = core.asking.resume(call);
    const { middlewares } = core;
    running =
      resuming === undefined
        ? middlewares.around(call, handler.run)
        : resuming.then(() => middlewares.around(call, handler.run));
    if (!(running instanceof Promise)) response = success(running, call, handler);
  } catch (error) {
    running = Promise.reject(error as Error);
  }
  if (response !== undefined) return close(call, response, started);
  const wait = (): Promise<RpcResponse | undefined> =>
    new Promise((resolve) =>
      new LaterAnswer(core, call, handler, started, resolve).await(running as Promise<unknown>),
    );
  // A call that may be open for days keeps less until it ends.
  return call.row.stream ? (running as Promise<unknown>).then(wait, wait) : wait();
}

/** The answer of a call whose handler answers later: what the handler comes to, or what answers the call before that. */
class LaterAnswer implements PendingAnswer {
  readonly #core: Core;
  readonly #call: Call;
  readonly #handler: MethodHandler;
  readonly #started: number | undefined;
  readonly #resolve: (response: Answering<RpcResponse>) => void;
  #later: ((response: RpcResponse) => void) | undefined;
  isAnswered = false;

  constructor(
    core: Core,
    call: Call,
    handler: MethodHandler,
    started: number | undefined,
    resolve: (response: Answering<RpcResponse>) => void,
  ) {
    this.#core = core;
    this.#call = call;
    this.#handler = handler;
    this.#started = started;
    this.#resolve = resolve;
    call.waitsFor(this);
  }

  await(running: Promise<unknown>): void {
    running.then(
      (returned) => this.#returned(returned),
      (error: unknown) => this.#threw(error),
    );
  }

  answerNow(reply: Reply | Promise<Reply>, later: ((response: RpcResponse) => void) | undefined): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.#later = later;
    if (reply instanceof Reply) return this.#send(success(reply, this.#call, this.#handler));
    reply.then(
      (sealed) => this.#send(success(sealed, this.#call, this.#handler)),
      (error: unknown) => this.#send(failure(this.#core, error, this.#call, this.#handler)),
    );
  }

  /** Whether nothing that the handler still does matters: its questions have answered the call. */
  get #isOver(): boolean {
    return this.isAnswered && this.#later === undefined;
  }

  #returned(returned: unknown): void {
    if (this.#isOver) return;
    let response: RpcResponse;
    try {
      response = success(returned, this.#call, this.#handler);
    } catch (error) {
      return this.#threw(error);
    }
    this.#end(response);
  }

  #threw(error: unknown): void {
    if (this.#isOver) return;
    const again = (): unknown => this.#core.middlewares.around(this.#call, this.#handler.run);
    const settled = this.#core.asking.settle(error, this.#call, again);
    if (settled === undefined) return this.#fail(error);
    if (settled === "answered") return;
    settled.then(
      (returned) => this.#returned(returned),
      (failed: unknown) => this.#fail(failed),
    );
  }

  #fail(error: unknown): void {
    this.#end(failure(this.#core, error, this.#call, this.#handler));
  }

  #end(response: RpcResponse): void {
    if (this.isAnswered) return this.#later?.(response);
    this.isAnswered = true;
    this.#send(response);
  }

  #send(response: RpcResponse): void {
    this.#resolve(close(this.#call, response, this.#started));
  }
}

/** The call has been answered. */
function close(call: Call, response: RpcResponse, started: number | undefined): Answering<RpcResponse> {
  call.finish();
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

/** The response for what a handler, or middleware, returned. Throws what stands for questions, and for what cannot be sent. */
function success(returned: unknown, call: Call, handler: MethodHandler): RpcResponse {
  const { id } = call;
  if (returned instanceof Reply) return { jsonrpc: "2.0", id, result: returned.result };
  return { jsonrpc: "2.0", id, result: encode(orAsk(returned), call, handler) };
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

function failure(core: Core, error: unknown, call: Call, handler: MethodHandler): RpcResponse {
  const { id } = call;
  const result = handler.recover?.(error, call);
  if (result !== undefined) return { jsonrpc: "2.0", id, result: encode(result, call, handler) };
  return { jsonrpc: "2.0", id, error: toRpcError(error, call, core.asking) };
}

function report(call: Call, response: RpcResponse, durationMs: number): void {
  const { method, revision } = call;
  const errorCode = "error" in response ? response.error.code : undefined;
  const outcome = call.cancelled ? "cancelled" : errorCode === undefined ? "ok" : "error";
  const name = subjectOf(call);
  const event = { type: "request", method, name, revision, durationMs, outcome, errorCode } as const;
  call.core.settings.observe?.({ ...event, ...peerOf(call) });
}
