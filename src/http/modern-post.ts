// A modern POST: it stands alone, its headers repeat its body, and closing its response cancels it.
import { errorCodes } from "../errors.ts";
import { newestRevision } from "../protocol/revisions/index.ts";
import { Connection } from "../server/connection.ts";
import { readMessage, type RpcRequest, type RpcResponse } from "../wire/message.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./event-stream.ts";
import type { HttpResponder } from "./exchange.ts";
import { hasRequiredMeta, mirroredProblem } from "./mirrored.ts";
import { PendingPost } from "./pending-post.ts";
import type { Post } from "./parsed-post.ts";
import { accept, eventHeaders, jsonHeaders, refuse, refuseClosing, replyError } from "./replies.ts";
import { statusOf } from "./status.ts";

export function answerModernPost(state: HttpState, post: Post): Promise<void> | void {
  const { request, responder, value } = post;
  const read = readMessage(value);
  if (!read.ok) return replyError(responder, 400, read.error, read.id);
  if (read.kind === "response") return refuse(responder, 400, "A client of this revision sends no responses");
  if (read.kind === "notification") return acceptNotification(state, post);
  const problem = mirroredProblem(request, read.message, state.server);
  if (problem !== undefined) return replyError(responder, 400, problem, read.message.id);
  const isListen = newestRevision("modern").requests.get(read.message.method)?.stream === true;
  if (isListen && state.closing) return refuseClosing(responder);
  // Gone before its work has begun: there is nothing to cancel, and nothing to do.
  if (responder.gone) return;
  if (isListen) return serveListen(state, post, read.message);
  const connection = new Connection({ transport: "http", principal: post.principal });
  return sendReply(state, begin(state, post, read.message, connection));
}

/** A listen request stays open: no function waits for it, neither here nor on the way here, so that little of it is kept. */
function serveListen(state: HttpState, post: Post, message: RpcRequest): void {
  if (!state.hasRoomToListen(post.principal)) {
    const error = { code: errorCodes.invalidRequest, message: "Too many subscriptions are open" };
    return replyError(post.responder, 429, error, message.id, { "retry-after": "10" });
  }
  const connection = new Connection({ transport: "http", principal: post.principal });
  const reply = begin(state, post, message, connection);
  const atEnd = (): Promise<void> => sendReply(state, reply).finally(() => state.listens.delete(connection));
  state.listens.set(connection, reply.answering.then(atEnd, atEnd));
  limitLife(state, connection);
}

async function acceptNotification(state: HttpState, { responder, principal, value }: Post): Promise<void> {
  await state.server.answer(value, {
    connection: new Connection({ transport: "http", principal }),
    era: "modern",
  });
  accept(responder);
}

/** A listen request ends in good order when its stream has had its time, or the token that opened it. */
function limitLife(state: HttpState, connection: Connection): void {
  const { expiresAt = Number.POSITIVE_INFINITY } = connection.principal ?? {};
  const endAt = Math.min(Date.now() + state.settings.maxStreamMs, expiresAt);
  if (endAt === Number.POSITIVE_INFINITY) return;
  state.heartbeat.add({
    tend(now) {
      if (now < endAt) return state.listens.has(connection);
      for (const end of connection.subscriptions.values()) end();
      return false;
    },
  });
}

/** A request that is being answered, and what its answer needs. */
interface Reply {
  readonly answering: Promise<RpcResponse | undefined>;
  readonly responder: HttpResponder;
  readonly stream: EventStream | undefined;
  readonly pending: PendingPost | undefined;
  /** Whether the request had what every modern request must have. */
  readonly isWhole: boolean;
}

/** Hands the request to the server; it is cancelled when its client goes. */
function begin(
  state: HttpState,
  { request, responder, accepted }: Post,
  message: RpcRequest,
  connection: Connection,
): Reply {
  responder.onGone(() => connection.inFlight.cancelAll("The client has gone"));
  const stream = accepted.events
    ? new EventStream({ open: () => responder.stream(eventHeaders) })
    : undefined;
  if (!accepted.json) stream?.open();
  const exchange = {
    connection,
    stream,
    era: "modern",
    headers: state.headersOf(request),
    address: request.address,
  } as const;
  const pending = stream && new PendingPost(stream, state.settings);
  if (pending) state.heartbeat.add(pending);
  const answering = state.server.handle(message, exchange);
  return { answering, responder, stream, pending, isWhole: hasRequiredMeta(message.params ?? {}) };
}

async function sendReply(state: HttpState, reply: Reply): Promise<void> {
  const { answering, responder, stream, pending, isWhole } = reply;
  let response: RpcResponse | undefined;
  try {
    response = await answering;
  } finally {
    if (pending) state.heartbeat.delete(pending);
  }
  if (response === undefined) return;
  const text = state.server.encode(response);
  if (stream?.opened) return stream.finish(text);
  const isIncomplete = "error" in response && !isWhole;
  responder.reply(isIncomplete ? 400 : statusOf(response, "modern"), jsonHeaders, text);
}
