// A legacy POST: under a session where the server has them, and never cancelled by a lost connection.
import { errorCodes } from "../errors.ts";
import { findRevision, revisionDates, revisionWithoutHeader } from "../protocol/revisions/index.ts";
import { Connection } from "../server/connection.ts";
import { shown } from "../server/failure.ts";
import { type Incoming, isBatch, isObject, isSilentMessage } from "../wire/message.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./event-stream.ts";
import { headerRevision, versionHeader } from "./mirrored.ts";
import { PendingPost } from "./pending-post.ts";
import type { Post } from "./parsed-post.ts";
import { accept, eventHeaders, jsonHeaders, refuse, refuseClosing, replyError } from "./replies.ts";
import { HttpSession } from "./session.ts";
import type { HttpHeaders, HttpRequest, HttpResponder } from "./exchange.ts";

export const sessionHeader = "mcp-session-id";

export async function answerLegacyPost(state: HttpState, post: Post): Promise<void> {
  const { request, responder, principal, value } = post;
  if (refuseVersion(state, request, responder)) return;
  const isInitialize = isObject(value) && value["method"] === "initialize" && value["id"] !== undefined;
  if (state.server.mode === "stateless") {
    return answerUnder(state, post, statelessConnection(post, isInitialize));
  }
  if (isInitialize && request.header(sessionHeader) === undefined) return initialize(state, post);
  const session = await findSession(state, request, responder, principal);
  if (session !== undefined) await answerUnder(state, post, session.connection, session);
}

/** Refuses a version header that names no revision this client could speak. True when it did. */
export function refuseVersion(state: HttpState, request: HttpRequest, responder: HttpResponder): boolean {
  const requested = request.header(versionHeader)?.trim();
  if (requested === undefined || findRevision(requested)?.era === "legacy") return false;
  const message = `Unsupported protocol version: ${shown(requested)}`;
  // A server that does not speak the modern era must not look as if it did.
  if (state.server.mode === "stateful") refuse(responder, 400, message);
  else {
    const data = { supported: revisionDates(["modern", "legacy"]), requested };
    replyError(responder, 400, { code: errorCodes.unsupportedVersion, message, data });
  }
  return true;
}

/** The session that the request names; undefined when it has been refused. */
export async function findSession(
  state: HttpState,
  request: HttpRequest,
  responder: HttpResponder,
  principal: Post["principal"],
): Promise<HttpSession | undefined> {
  const id = request.header(sessionHeader);
  if (id === undefined)
    return void refuse(responder, 400, "The Mcp-Session-Id header is missing: initialize first");
  const found = state.sessions.find(id, principal);
  const session = found instanceof Promise ? await found : found;
  if (session === undefined) return void refuse(responder, 404, "There is no such session: initialize again");
  return session;
}

/** Without sessions every request stands alone, under the revision that its header names. */
function statelessConnection({ request, principal }: Post, isInitialize: boolean): Connection {
  const connection = new Connection({ transport: "http", principal });
  if (isInitialize) return connection;
  connection.revision = headerRevision(request) ?? revisionWithoutHeader;
  connection.logLevel = "info";
  connection.initialized = true;
  return connection;
}

async function initialize(state: HttpState, post: Post): Promise<void> {
  const { responder, principal, request, incoming } = post;
  const connection = HttpSession.mint(principal);
  const exchange = { connection, principal, headers: state.headersOf(request), address: request.address };
  const response = await state.server.answer(incoming, exchange);
  if (response === undefined) return accept(responder);
  const text = state.server.encode(response);
  // Nothing is kept for a client that could not be initialized.
  const isRefused = isObject(response) && "error" in response;
  const isAgreed = !isRefused && connection.revision !== undefined;
  if (isAgreed && !(await state.addSession(new HttpSession(state.server, connection)))) {
    return refuse(responder, 503, "Too many sessions are open", { "retry-after": "10" });
  }
  const headers: HttpHeaders = isAgreed ? { "mcp-session-id": connection.session ?? "" } : {};
  if (post.accepted.json) return responder.reply(200, { ...jsonHeaders, ...headers }, text);
  const stream = new EventStream({ open: () => responder.stream({ ...eventHeaders, ...headers }) });
  stream.finish(text);
}

/** Answers under a connection: a session's, or one that only this request has. */
async function answerUnder(
  state: HttpState,
  post: Post,
  connection: Connection,
  session?: HttpSession,
): Promise<void> {
  const { request, responder, principal, accepted, incoming } = post;
  const before = knownOf(connection);
  const isSilent = !isBatch(incoming) && isSilentMessage(incoming);
  if (!isSilent && state.isLate(request)) return refuseClosing(responder);
  const stream = accepted.events && !isSilent ? openReply(state, post, session) : undefined;
  const exchange = {
    connection,
    stream,
    principal,
    headers: state.headersOf(request),
    address: request.address,
  };
  const answering = state.server.answer(incoming, exchange);
  if (!accepted.json) stream?.open();
  const answer = answering instanceof Promise ? await pended(state, stream, answering) : answering;
  if (session !== undefined && isChanged(before, connection)) await state.sessions.save(session);
  if (stream?.log !== undefined) session?.streams.delete(stream.log.id);
  const text = answer && state.server.encode(answer);
  if (stream?.opened) return text === undefined ? stream.end() : stream.finish(text);
  if (text === undefined) return accept(responder);
  responder.reply(isMalformed(incoming, answer) ? 400 : 200, jsonHeaders, text);
}

/** Whether what was sent was no message; a batch that is answered with one message was refused as a whole. */
function isMalformed(incoming: Incoming, answer: unknown): boolean {
  return isBatch(incoming) ? !Array.isArray(answer) : !incoming.ok;
}

/** Waits for an answer; the stream, if there is one, is opened when that takes long. */
async function pended<T>(
  state: HttpState,
  stream: EventStream | undefined,
  answering: Promise<T>,
): Promise<T> {
  if (stream === undefined) return answering;
  const pending = new PendingPost(stream, state.settings);
  state.heartbeat.add(pending);
  try {
    return await answering;
  } finally {
    state.heartbeat.delete(pending);
  }
}

/** What a store would have to know of a change. */
function knownOf({ initialized, logLevel, listener }: Connection): readonly unknown[] {
  return [initialized, logLevel, listener?.addedTopics];
}

function isChanged(before: readonly unknown[], connection: Connection): boolean {
  const now = knownOf(connection);
  return before.some((value, at) => value !== now[at]);
}

/** The stream of a reply. In a session it is logged: a client that loses it comes back for the rest. */
function openReply(
  state: HttpState,
  { responder, principal }: Post,
  session: HttpSession | undefined,
): EventStream {
  const reply = new EventStream({
    open: () => responder.stream(eventHeaders),
    resumable: session && (() => state.resumable("post", session)),
    primes: session?.connection.revision?.primesStreams,
    onOpened: (stream) => {
      if (stream.log !== undefined) session?.streams.set(stream.log.id, stream);
    },
  });
  reply.expiresAt = principal?.expiresAt;
  return reply;
}
