// POST: read the body once, find out which era it speaks, and answer it as that era does.
import { errorCodes } from "../errors.ts";
import { hasModernKey } from "../protocol/meta.ts";
import type { Principal } from "../protocol/model.ts";
import { isTaken } from "../server/calls/answer.ts";
import { checkValue, parseJson } from "../wire/json.ts";
import { isObject, readIncoming } from "../wire/message.ts";
import { readAccept } from "./accept.ts";
import { refuseHeavy, refuseUnread } from "./body.ts";
import type { HttpState } from "./state.ts";
import type { HttpBody, HttpRequest, HttpResponder } from "./edge/request.ts";
import { contentTypeRefusal } from "./guard/guard.ts";
import { answerLegacyPost, sessionHeader } from "./legacy-post.ts";
import { headerRevision } from "./mirrored.ts";
import { answerModernPost } from "./modern-post.ts";
import type { Post } from "./parsed-post.ts";
import { refuseUnpermitted } from "./permission.ts";
import type { Visit } from "./rate-limits/rate-limits.ts";
import { refuse, refuseClosing, refuseHurried, replyError } from "./edge/replies.ts";

/** Answers a POST, which counts for its caller from its first byte on. */
export async function answerPost(
  state: HttpState,
  request: HttpRequest,
  responder: HttpResponder,
  principal: Principal | undefined,
  visit: Visit | undefined,
): Promise<void> {
  const accepted = readAccept(request.header("accept"));
  if (!accepted.json && !accepted.events) {
    return refuse(responder, 406, "Accept must allow application/json or text/event-stream");
  }
  const refusal = contentTypeRefusal(request.header("content-type"));
  if (refusal !== undefined) return refuse(responder, refusal.status, refusal.reason);
  const load = state.server.loads.begin(request.caller);
  try {
    const body = await request.body(state.server.limits.maxBytes, load);
    const answering = answerBody(state, { request, responder, principal, accepted, load }, body, visit);
    if (!(answering instanceof Promise)) return;
    load.stay();
    await answering;
  } finally {
    load.release();
  }
}

function answerBody(
  state: HttpState,
  unread: Omit<Post, "value" | "incoming">,
  body: HttpBody,
  visit: Visit | undefined,
): Promise<void> | void {
  const { request, responder, principal, accepted, load } = unread;
  const { limits } = state.server;
  if (refuseUnread(body, limits.maxBytes, responder, load)) return;
  const parsed = body.kind === "text" ? parseJson(body.text, limits) : checkValue(body.value, limits);
  if (!parsed.ok && parsed.reason === "size") return refuse(responder, 413, parsed.problem);
  if (!parsed.ok) {
    const code = parsed.reason === "syntax" ? errorCodes.parse : errorCodes.invalidRequest;
    return replyError(responder, 400, { code, message: parsed.problem }, unreadableId(state, request));
  }
  const { value } = parsed;
  const incoming = readIncoming(value);
  if (!isTaken(load, parsed.weight, incoming)) return refuseHeavy(responder, load);
  if (visit !== undefined && !visit.admits(value, limits.maxBatch)) {
    return refuseHurried(responder, visit.retryAfter);
  }
  if (refuseUnpermitted(state, responder, value, principal)) return;
  const post: Post = { request, responder, principal, accepted, value, incoming, load };
  const isModern = state.server.revisions.modern !== undefined && speaksModern(state, post);
  if (isModern && state.isLate(request)) return refuseClosing(responder);
  return isModern ? answerModernPost(state, post) : answerLegacyPost(state, post);
}

/** How the revision that the client speaks, if that is known, writes an id that could not be read. */
function unreadableId(state: HttpState, request: HttpRequest): null | undefined {
  const session = state.sessions.peek(request.header(sessionHeader) ?? "");
  const revision = session?.connection.revision ?? headerRevision(request, state.server);
  return revision?.unreadableId === "null" ? null : undefined;
}

/** A modern request says so in its header, or in its body; one in a batch too, so that none gets past its headers. */
function speaksModern({ server }: HttpState, { request, value }: Post): boolean {
  if (headerRevision(request, server)?.era === "modern") return true;
  return Array.isArray(value) ? value.some(hasModernMeta) : hasModernMeta(value);
}

function hasModernMeta(message: unknown): boolean {
  if (!isObject(message) || !isObject(message["params"])) return false;
  const meta = message["params"]["_meta"];
  return isObject(meta) && hasModernKey(meta);
}
