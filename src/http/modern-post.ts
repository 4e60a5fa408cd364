// A modern POST: it stands alone, its headers repeat its body, and closing its response cancels it.
import { newestRevision } from "../protocol/revisions/index.ts";
import { Connection, type Exchange } from "../server/connection.ts";
import { isObject, readMessage, type RpcRequest } from "../wire/message.ts";
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
  if (newestRevision("modern").requests.get(read.message.method)?.stream) {
    if (!state.admitListen(connection)) {
      return refuse(responder, 429, "Too many subscriptions are open", { "retry-after": "10" });
    }
    limitLife(state, connection);
  }
  return answerRequest(state, post, read.message, exchange);
}

/** A listen request ends in good order when its stream has had its time. */
function limitLife(state: HttpState, connection: Connection): void {
  const endAt = Date.now() + state.settings.maxStreamMs;
  if (endAt === Number.POSITIVE_INFINITY) return;
  state.heartbeat.add({
    tend(now) {
      if (now < endAt) return state.listens.has(connection);
      for (const end of connection.subscriptions.values()) end();
      return false;
    },
  });
}

async function answerRequest(
  state: HttpState,
  post: Post,
  message: RpcRequest,
  exchange: Exchange,
): Promise<void> {
  const { responder, accepted } = post;
  const { connection } = exchange;
  const stream = accepted.events
    ? new EventStream({ open: () => responder.stream(eventHeaders) })
    : undefined;
  const pending = stream && new PendingPost(stream, Date.now(), state.settings);
  if (!accepted.json) stream?.open();
  if (pending) state.heartbeat.add(pending);
  responder.onGone(() => connection.inFlight.cancelAll("The client has gone"));
  const response = await state.server.handle(message, { ...exchange, stream });
  if (pending) state.heartbeat.delete(pending);
  state.listens.delete(connection);
  if (response === undefined) return;
  const text = state.server.encode(response);
  if (stream?.opened) return stream.finish(text);
  const isIncomplete = isObject(response) && "error" in response && !hasRequiredMeta(message.params ?? {});
  responder.reply(isIncomplete ? 400 : statusOf(response, "modern"), jsonHeaders, text);
}
