// A legacy POST: under a session where the server has them, and never cancelled by a lost connection.
import { clip, errorCodes } from "../errors.ts";
import { revisionWithoutHeader } from "../protocol/revisions/index.ts";
import type { Connection } from "../server/context/connection.ts";
import type { Answer } from "../server/calls/answer.ts";
import { type Incoming, isBatch, isObject, isSilentMessage } from "../wire/message.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./streams/event-stream.ts";
import { headerRevision, versionHeader } from "./mirrored.ts";
import { ownConnection, type Post } from "./parsed-post.ts";
import { PostExchange } from "./post-exchange.ts";
import { accept, eventHeaders, jsonHeaders, refuse, refuseClosing, replyError } from "./edge/replies.ts";
import { HttpSession } from "./session.ts";
import type { HttpHeaders, HttpRequest, HttpResponder } from "./edge/request.ts";

export const sessionHeader = "mcp-session-id";

/** Ids are made here, and are shorter. */
const maxIdLength = 128;

export function answerLegacyPost(state: HttpState, post: Post): Promise<void> | void {
  const { request, responder, principal, value } = post;
  if (refuseVersion(state, request, responder)) return undefined;
  const isInitialize = isObject(value) && value["method"] === "initialize" && value["id"] !== undefined;
  if (state.server.mode === "stateless") {
    return answerUnder(state, post, statelessConnection(state, post, isInitialize));
  }
  if (isInitialize && request.header(sessionHeader) === undefined) return initialize(state, post);
  const found = findSession(state, request, responder, principal);
  return found instanceof Promise
    ? found.then((session) => answerInSession(state, post, session))
    : answerInSession(state, post, found);
}

function answerInSession(
  state: HttpState,
  post: Post,
  session: HttpSession | undefined,
): Promise<void> | void {
  if (session !== undefined) return answerUnder(state, post, session.connection, session);
}

/** Refuses a version header that names no revision this client could speak. True when it did. */
export function refuseVersion(state: HttpState, request: HttpRequest, responder: HttpResponder): boolean {
  const requested = request.header(versionHeader)?.trim();
  if (requested === undefined || state.server.revisions.find(requested)?.era === "legacy") return false;
  const message = `Unsupported protocol version: ${clip(requested)}`;
  // A server that does not speak the modern era must not look as if it did.
  if (state.server.revisions.modern === undefined) refuse(responder, 400, message);
  else {
    const data = { supported: state.server.revisions.dates(), requested };
    replyError(responder, 400, { code: errorCodes.unsupportedVersion, message, data });
  }
  return true;
}

/** The session that the request names; undefined when it has been refused. At once, if it is served here. */
export function findSession(
  state: HttpState,
  request: HttpRequest,
  responder: HttpResponder,
  principal: Post["principal"],
): HttpSession | undefined | Promise<HttpSession | undefined> {
  const id = request.header(sessionHeader);
  if (id === undefined)
    return void refuse(responder, 400, "The Mcp-Session-Id header is missing: initialize first");
  // A store may be far away, and need not be clip what no session is called.
  const found = id.length > maxIdLength ? undefined : state.sessions.find(id, principal, request.caller);
  return found instanceof Promise
    ? found.then((session) => orRefuse(session, responder))
    : orRefuse(found, responder);
}

function orRefuse(session: HttpSession | undefined, responder: HttpResponder): HttpSession | undefined {
  if (session === undefined) refuse(responder, 404, "There is no such session: initialize again");
  return session;
}

/** Without sessions every request stands alone, under the revision that its header names. */
function statelessConnection({ server }: HttpState, post: Post, isInitialize: boolean): Connection {
  const connection = ownConnection(post);
  if (isInitialize) return connection;
  const assumed = server.revisions.find(revisionWithoutHeader.date);
  connection.revision = headerRevision(post.request, server) ?? assumed;
  connection.logLevel = "info";
  connection.initialized = true;
  return connection;
}

async function initialize(state: HttpState, post: Post): Promise<void> {
  const { responder, incoming } = post;
  const connection = HttpSession.mint(post.principal, post.request.caller);
  const exchange = new PostExchange(state, post, connection, false);
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
  const status = isMalformed(incoming, response) ? 400 : 200;
  if (post.accepted.json) return responder.reply(status, { ...jsonHeaders, ...headers }, text);
  const stream = new EventStream({ open: () => responder.stream({ ...eventHeaders, ...headers }) });
  stream.finish(text);
}

/** Answers under a connection: a session's, or one that only this request has. */
function answerUnder(
  state: HttpState,
  post: Post,
  connection: Connection,
  session?: HttpSession,
): Promise<void> | void {
  const { request, responder, accepted, incoming } = post;
  const isSilent = !isBatch(incoming) && isSilentMessage(incoming);
  if (!isSilent && state.isLate(request)) return refuseClosing(responder);
  const hasStream = accepted.events && !isSilent;
  const exchange = new PostExchange(state, post, connection, hasStream, session);
  const answering = state.server.answer(incoming, exchange);
  if (!accepted.json) exchange.stream?.open();
  return answering instanceof Promise
    ? exchange.sendLater(answering, (answer) => send(state, post, exchange, answer))
    : send(state, post, exchange, answering);
}

/** Sends an answer, once the store knows what has changed. */
function send(
  state: HttpState,
  post: Post,
  exchange: PostExchange,
  answer: Answer | undefined,
): Promise<void> | void {
  const { session } = exchange;
  if (!session?.hasChanged) return reply(state, post, exchange, answer);
  return state.sessions.save(session).then(() => reply(state, post, exchange, answer));
}

function reply(
  state: HttpState,
  { responder, incoming }: Post,
  exchange: PostExchange,
  answer: Answer | undefined,
): void {
  const { openStream: stream, session } = exchange;
  if (stream?.log !== undefined) session?.streams.delete(stream.log.id);
  const text = answer && state.server.encode(answer);
  if (stream !== undefined) return text === undefined ? stream.end() : stream.finish(text);
  if (text === undefined) return accept(responder);
  const isRefused = isMalformed(incoming, answer) || state.server.revisions.legacy === undefined;
  responder.reply(isRefused ? 400 : 200, jsonHeaders, text);
}

/** Whether what was sent was no message; a batch that is answered with one message was refused as a whole. */
function isMalformed(incoming: Incoming, answer: unknown): boolean {
  return isBatch(incoming) ? !Array.isArray(answer) : !incoming.ok;
}
