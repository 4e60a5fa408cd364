// A modern POST: it stands alone, its headers repeat its body, and closing its response cancels it.
import { errorCodes } from "../errors.ts";
import { isPast } from "../protocol/principal.ts";
import type { Connection } from "../server/context/connection.ts";
import { isBatch, type ReadMessage, readMessage, type RpcResponse } from "../wire/message.ts";
import type { HttpState } from "./state.ts";
import type { HttpResponder } from "./edge/request.ts";
import { hasRequiredMeta, mirroredProblem, modernRow } from "./mirrored.ts";
import { ownConnection, type Post } from "./parsed-post.ts";
import { PostExchange } from "./post-exchange.ts";
import { accept, jsonHeaders, refuse, refuseClosing, replyError } from "./edge/replies.ts";
import { statusOf } from "./status.ts";

export function answerModernPost(state: HttpState, post: Post): Promise<void> | void {
  const { request, responder, value, incoming } = post;
  const read = isBatch(incoming) ? readMessage(value) : incoming;
  if (!read.ok) return replyError(responder, 400, read.error, read.id);
  if (read.kind === "response") return refuse(responder, 400, "A client of this revision sends no responses");
  if (read.kind === "notification") return acceptNotification(state, post, read);
  const row = modernRow(request, read.message.method, state.server);
  const problem = mirroredProblem(request, read.message, row, state.server);
  if (problem !== undefined) return replyError(responder, 400, problem, read.message.id);
  const isListen = row?.stream === true;
  if (isListen && state.closing) return refuseClosing(responder);
  // Gone before its work has begun: there is nothing to cancel, and nothing to do.
  if (responder.gone) return;
  if (isListen) return serveListen(state, post, read);
  return answerRequest(state, post, read, ownConnection(post));
}

/** A listen request stays open: no function waits for it, neither here nor on the way here, so that little of it is kept. */
function serveListen(state: HttpState, post: Post, read: ReadRequest): void {
  const connection = ownConnection(post);
  if (!state.listens.makeRoomFor(connection)) {
    const error = { code: errorCodes.invalidRequest, message: "Too many subscriptions are open" };
    return replyError(post.responder, 429, error, read.message.id, { "retry-after": "10" });
  }
  const { responder } = post;
  const release = post.load.hold();
  const served = Promise.resolve(answerRequest(state, post, read, connection));
  state.listens.add(
    connection,
    served.then(release, (error: unknown) => {
      release();
      state.refuseFailed(responder, error);
    }),
  );
  limitLife(state, connection);
}

async function acceptNotification(state: HttpState, post: Post, read: ReadMessage): Promise<void> {
  await state.server.answer(read, { connection: ownConnection(post), era: "modern", load: post.load });
  accept(post.responder);
}

/** A listen request ends in good order when its stream has had its time, or the token that opened it. */
function limitLife(state: HttpState, connection: Connection): void {
  const { expiresAt } = connection.principal ?? {};
  const endAt = performance.now() + state.settings.maxStreamMs;
  if (endAt === Number.POSITIVE_INFINITY && expiresAt === undefined) return;
  state.heartbeat.add({
    tend(now) {
      if (now < endAt && !isPast(expiresAt)) return state.listens.has(connection);
      connection.endSubscriptions();
      return false;
    },
  });
}

/** Has the request answered; it is cancelled when its client goes. */
function answerRequest(
  state: HttpState,
  post: Post,
  read: ReadRequest,
  connection: Connection,
): Promise<void> | void {
  const { responder, accepted } = post;
  responder.onGone(() => connection.inFlight.cancelAll("The client has gone"));
  const exchange = new PostExchange(state, post, connection, accepted.events, undefined, "modern");
  if (!accepted.json) exchange.stream?.open();
  const reply = { responder, exchange, isWhole: hasRequiredMeta(read.message.params ?? {}) };
  const answering = state.server.answer(read, exchange);
  return answering instanceof Promise ? sendLater(state, reply, answering) : send(state, reply, answering);
}

type ReadRequest = Extract<ReadMessage, { readonly kind: "request" }>;

interface Reply {
  readonly responder: HttpResponder;
  readonly exchange: PostExchange;
  /** Whether the request had what every modern request must have. */
  readonly isWhole: boolean;
}

/** In a scope of its own: a call that stays open keeps what this function holds, and no more. */
function sendLater(
  state: HttpState,
  reply: Reply,
  answering: Promise<RpcResponse | undefined>,
): Promise<void> {
  return reply.exchange.sendLater(answering, (response) => send(state, reply, response));
}

function send(
  state: HttpState,
  { responder, exchange, isWhole }: Reply,
  response: RpcResponse | undefined,
): void {
  if (response === undefined) return;
  const text = state.server.encode(response);
  const { openStream } = exchange;
  if (openStream !== undefined) return openStream.finish(text);
  const isIncomplete = "error" in response && !isWhole;
  responder.reply(isIncomplete ? 400 : statusOf(response), jsonHeaders, text);
}
