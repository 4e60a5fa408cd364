// A modern POST: it stands alone, its headers repeat its body, and closing its response cancels it.
import { errorCodes } from "../errors.ts";
import { newestRevision } from "../protocol/revisions/index.ts";
import { Connection, type Exchange } from "../server/connection.ts";
import { isObject, readMessage, type RpcRequest, type RpcResponse } from "../wire/message.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./event-stream.ts";
import { hasRequiredMeta, mirroredProblem } from "./mirrored.ts";
import { PendingPost } from "./pending-post.ts";
import type { Post } from "./parsed-post.ts";
import { accept, eventHeaders, jsonHeaders, refuse, replyError } from "./replies.ts";
import { statusOf } from "./status.ts";

export async function answerModernPost(state: HttpState, post: Post): Promise<void> {
  const { request, responder, principal, value } = post;
  const read = readMessage(value);
  if (!read.ok) return replyError(responder, 400, read.error, read.id);
  if (read.kind === "response") return refuse(responder, 400, "A client of this revision sends no responses");
  const connection = new Connection({ transport: "http", principal });
  const exchange = {
    connection,
    headers: request.headers(),
    address: request.address,
    era: "modern",
  } as const;
  if (read.kind === "notification") {
    await state.server.answer(read.message, exchange);
    return accept(responder);
  }
  const problem = mirroredProblem(request, read.message, (tool) => state.server.paramHeaders(tool));
  if (problem !== undefined) return replyError(responder, 400, problem, read.message.id);
  const staysOpen = newestRevision("modern").requests.get(read.message.method)?.stream === true;
  if (staysOpen && !state.admitListen(connection)) {
    const error = { code: errorCodes.invalidRequest, message: "Too many subscriptions are open" };
    return replyError(responder, 429, error, read.message.id, { "retry-after": "10" });
  }
  try {
    await answerRequest(state, post, read.message, exchange);
  } finally {
    state.listens.delete(connection);
  }
}

async function answerRequest(
  state: HttpState,
  post: Post,
  message: RpcRequest,
  exchange: Exchange,
): Promise<void> {
  const { responder, accepted } = post;
  const { connection } = exchange;
  // Gone before its work has begun: there is nothing to cancel, and nothing to do.
  if (responder.gone) return;
  responder.onGone(() => connection.inFlight.cancelAll("The client has gone"));
  const stream = accepted.events
    ? new EventStream({ open: () => responder.stream(eventHeaders) })
    : undefined;
  if (!accepted.json) stream?.open();
  const pending = stream && pendingPost(state, stream, connection);
  if (pending) state.heartbeat.add(pending);
  let response: RpcResponse | undefined;
  try {
    response = await state.server.handle(message, { ...exchange, stream });
  } finally {
    if (pending) state.heartbeat.delete(pending);
  }
  if (response === undefined) return;
  const text = state.server.encode(response);
  if (stream?.opened) return stream.finish(text);
  const isIncomplete = isObject(response) && "error" in response && !hasRequiredMeta(message.params ?? {});
  responder.reply(isIncomplete ? 400 : statusOf(response, "modern"), jsonHeaders, text);
}

/** A listen stream that has lived for as long as it may ends with its closing result. */
function pendingPost(state: HttpState, stream: EventStream, connection: Connection): PendingPost {
  const now = Date.now();
  const end = (): void => {
    for (const close of connection.subscriptions.values()) close();
  };
  const life = state.listens.has(connection) ? { endAt: now + state.settings.maxStreamMs, end } : undefined;
  return new PendingPost(stream, now, state.settings, life);
}
