// Answers a modern POST: checks its headers against its body, and cancels it when the client closes the response.
import { errorCodes } from "../../base/errors.ts";
import { isBatch, type ReadMessage, readMessage, type RpcResponse } from "../../base/wire/message.ts";
import { accept, jsonHeaders, refuseWith, refuseClosing, replyError } from "./edge/replies.ts";
import type { HttpExchange } from "./exchange.ts";
import { headerProblem } from "./header-check.ts";

type ReadRequest = Extract<ReadMessage, { readonly kind: "request" }>;

export function answerModernPost(exchange: HttpExchange): Promise<void> | void {
  const { responder, incoming, state } = exchange;
  const read = isBatch(incoming) ? readMessage(incoming) : incoming;
  if (!read.ok) return replyError(responder, 400, read.error, read.id);
  if (read.kind === "response")
    return refuseWith(responder, 400, "Clients of this revision must not send responses");
  if (read.kind === "notification") return acceptNotification(exchange, read);
  const problem = headerProblem(exchange, read.message);
  if (problem !== undefined) return replyError(responder, 400, problem, read.message.id);
  const isListen = exchange.row?.stream === true;
  if (isListen && state.closing) return refuseClosing(responder);
  // The client disconnected before the call began.
  if (responder.gone) return;
  return isListen ? serveListen(exchange, read) : answerRequest(exchange, read);
}

/** Serves a listen request. No async function awaits it: it stays open for long, and should hold little memory. */
function serveListen(exchange: HttpExchange, read: ReadRequest): void {
  const { state, responder, load } = exchange;
  if (!state.listens.makeRoomFor(exchange)) {
    const error = { code: errorCodes.invalidRequest, message: "Too many subscriptions are open" };
    return replyError(responder, 429, error, read.message.id, { "retry-after": "10" });
  }
  const release = load?.hold();
  const served = Promise.resolve(answerRequest(exchange, read));
  exchange.forgetBody();
  state.listens.add(exchange);
  const isOver = (): void => {
    release?.();
    state.listens.delete(exchange);
  };
  served.then(isOver, (error: unknown) => {
    isOver();
    state.refuseFailed(responder, error);
  });
}

async function acceptNotification(exchange: HttpExchange, read: ReadMessage): Promise<void> {
  await exchange.answer(read);
  accept(exchange.responder);
}

/** Answers the request, and cancels it when the client disconnects. */
function answerRequest(exchange: HttpExchange, read: ReadRequest): Promise<void> | void {
  const { responder, accepted } = exchange;
  exchange.mayStream = accepted.events;
  if (!accepted.json) exchange.stream?.open();
  const answering = exchange.answer(read);
  if (!(answering instanceof Promise)) return send(exchange, answering);
  responder.onGone(() => exchange.cancel());
  if (responder.gone) exchange.cancel();
  return exchange.sendLater(answering, send);
}

function send(exchange: HttpExchange, response: RpcResponse | undefined): Promise<void> | void {
  if (response === undefined) return;
  const text = exchange.state.server.encode(response);
  const { openStream } = exchange;
  if (openStream !== undefined) return openStream.finish(text);
  const isError = "error" in response;
  const status = !isError ? 200 : exchange.isComplete ? (statuses.get(response.error.code) ?? 200) : 400;
  exchange.reply(status, jsonHeaders, text);
}

/** The status of an error that a modern client gets; a legacy client gets 200. */
const statuses: ReadonlyMap<number, number> = new Map<number, number>([
  [errorCodes.parse, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingClientCapability, 400],
  [errorCodes.unsupportedVersion, 400],
]);
