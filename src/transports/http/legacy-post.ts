// Answers a legacy POST: in its session if the server has sessions. A lost connection does not cancel it.
import { clip, errorCodes } from "../../base/errors.ts";
import { revisionWithoutHeader } from "../../protocol/revisions/index.ts";
import type { Answer } from "../../server/calls/answer.ts";
import { BatchReply } from "../../server/calls/batch.ts";
import {
  type Incoming,
  isBatch,
  isObject,
  isSilent,
  isSilentIncoming,
  isSilentMessage,
} from "../../base/wire/message.ts";
import { encodeEvent } from "../../base/wire/sse.ts";
import { accept, eventHeaders, jsonHeaders, refuseWith, refuseClosing, replyError } from "./edge/replies.ts";
import type { HttpHeaders } from "./edge/request.ts";
import { type HttpExchange, sessionHeader, versionHeader } from "./exchange.ts";
import { HttpSession } from "./session.ts";

/** Longest session id that is looked up; every id that this server mints is shorter. */
const maxIdLength = 128;

export function answerLegacyPost(exchange: HttpExchange): Promise<void> | void {
  const { state, request, isInitialize } = exchange;
  if (refuseVersion(exchange)) return undefined;
  if (state.server.mode === "stateless") {
    if (!isInitialize) assumeAgreed(exchange);
    return answer(exchange);
  }
  if (isInitialize && request.header(sessionHeader) === undefined) return initialize(exchange);
  const found = findSession(exchange);
  return found instanceof Promise
    ? found.then((session) => answerIn(exchange, session))
    : answerIn(exchange, found);
}

function answerIn(exchange: HttpExchange, session: HttpSession | undefined): Promise<void> | void {
  exchange.session = session;
  if (session !== undefined) return answer(exchange);
}

/** Refuses an `MCP-Protocol-Version` header that names no legacy revision of this server, and returns whether it did. */
export function refuseVersion({ state, request, responder }: HttpExchange): boolean {
  const { revisions } = state.server;
  const requested = request.header(versionHeader)?.trim();
  if (requested === undefined || revisions.find(requested)?.era === "legacy") return false;
  const message = `Unsupported protocol version: ${clip(requested)}`;
  // A client would take error -32022 as a sign of a modern server.
  if (revisions.modern === undefined) refuseWith(responder, 400, message);
  else {
    const data = { supported: revisions.dates(), requested };
    replyError(responder, 400, { code: errorCodes.unsupportedVersion, message, data });
  }
  return true;
}

/** Methods that change the session. A client may send them to any node, so they are applied to the newest state and saved. */
const changingMethods: ReadonlySet<unknown> = new Set([
  "initialize",
  "logging/setLevel",
  "notifications/initialized",
  "resources/subscribe",
  "resources/unsubscribe",
]);

function changesSession(incoming: Incoming): boolean {
  if (isBatch(incoming)) {
    return incoming.some((value) => isObject(value) && changingMethods.has(value["method"]));
  }
  return incoming.ok && incoming.kind !== "response" && changingMethods.has(incoming.message.method);
}

/** Whether all messages in `incoming` only change the session, so that sending them again does no harm. */
function onlyChanges(incoming: Incoming): boolean {
  if (!isBatch(incoming)) return changesSession(incoming);
  return incoming.every(
    (value) => isSilent(value) || (isObject(value) && changingMethods.has(value["method"])),
  );
}

/** Whether the copy of this node may be too old for the request: it changes the session, or would be refused. */
function needsNewest({ state, incoming }: HttpExchange, id: string): boolean {
  const { server, sessions } = state;
  if (server.requiresInitialized && sessions.peek(id)?.connection.initialized === false) return true;
  return changesSession(incoming) && !isSilentIncoming(incoming);
}

/** Whether the request has changed its session, or repeats a change that could not be saved. */
function needsSaving({ incoming }: HttpExchange, session: HttpSession): boolean {
  const { hasChanged, isPending } = session.saved;
  return hasChanged || (isPending && changesSession(incoming));
}

/** Finds the session that the request names: synchronously if this process holds it. Undefined if it has refused the request. */
export function findSession(
  exchange: HttpExchange,
): HttpSession | undefined | Promise<HttpSession | undefined> {
  const { state, request, responder, principal } = exchange;
  const id = request.header(sessionHeader);
  if (id === undefined)
    return void refuseWith(
      responder,
      400,
      "This is an MCP endpoint: add this URL to an MCP client. Clients POST an initialize request to it, then send the Mcp-Session-Id header of the response",
    );
  // Do not ask the engine for an id that cannot exist.
  if (id.length > maxIdLength) return orRefuse(exchange, undefined);
  const { sessions } = state;
  const found = needsNewest(exchange, id)
    ? sessions.refresh(id, principal, request.caller)
    : sessions.find(id, principal, request.caller);
  return found instanceof Promise
    ? found.then((session) => orRefuse(exchange, session))
    : orRefuse(exchange, found);
}

function orRefuse({ responder }: HttpExchange, session: HttpSession | undefined): HttpSession | undefined {
  if (session === undefined)
    refuseWith(responder, 404, "The session does not exist or has expired: initialize again");
  return session;
}

/** Without sessions, each request counts as initialized, with the revision that its header names. */
function assumeAgreed({ state, connection, headerRevision }: HttpExchange): void {
  connection.revision = headerRevision ?? state.server.revisions.find(revisionWithoutHeader.date);
  connection.logLevel = "info";
  connection.initialized = true;
}

async function initialize(exchange: HttpExchange): Promise<void> {
  await exchange.state.joined;
  const { state, responder, incoming, accepted } = exchange;
  const connection = HttpSession.mint(state.server, exchange.principal, exchange.request.caller);
  exchange.connection = connection;
  const response = await exchange.answer(incoming);
  if (response === undefined) return accept(responder);
  const text = state.server.encode(response);
  // Keep no session if `initialize` failed.
  const isRefused = isObject(response) && "error" in response;
  const isAgreed = !isRefused && connection.revision !== undefined;
  if (isAgreed && !(await state.addSession(new HttpSession(state, connection)))) {
    return refuseWith(responder, 503, "Too many sessions are open", { "retry-after": "10" });
  }
  const headers: HttpHeaders = isAgreed ? { [sessionHeader]: connection.session ?? "" } : {};
  const status = isMalformed(incoming, response) ? 400 : 200;
  if (accepted.json) return exchange.reply(status, { ...jsonHeaders, ...headers }, text);
  connection.follower?.wrote(text);
  const sink = responder.stream({ ...eventHeaders, ...headers });
  sink.write(encodeEvent(text));
  sink.end();
}

/** Answers with the connection of the exchange: that of its session, or its own. */
function answer(exchange: HttpExchange): Promise<void> | void {
  const { responder, accepted, incoming } = exchange;
  const needsNone = !isBatch(incoming) && isSilentMessage(incoming);
  if (!needsNone && exchange.isLate) return refuseClosing(responder);
  exchange.mayStream = accepted.events && !needsNone;
  const answering = exchange.answer(incoming);
  if (!accepted.json) exchange.stream?.open();
  return answering instanceof Promise ? exchange.sendLater(answering, send) : send(exchange, answering);
}

/** Sends the answer, after changes of the session have been saved. */
function send(exchange: HttpExchange, answered: Answer | undefined): Promise<void> | void {
  const { session, state } = exchange;
  if (session === undefined || !needsSaving(exchange, session)) return reply(exchange, answered);
  // A client that gets 404 or 503 sends the message again, so a call that ran must get its response. The change is kept here and
  // saved later.
  const mustReply = exchange.openStream !== undefined || !onlyChanges(exchange.incoming);
  return state.sessions.save(session).then(
    (isThere) => (isThere || mustReply ? reply(exchange, answered) : void orRefuse(exchange, undefined)),
    (error: unknown) => {
      if (!mustReply) throw error;
      reply(exchange, answered);
    },
  );
}

function reply(exchange: HttpExchange, answered: Answer | undefined): Promise<void> | void {
  const { state, responder, incoming, openStream } = exchange;
  const text = answered && state.server.encode(answered);
  if (openStream !== undefined) return text === undefined ? openStream.end() : openStream.finish(text);
  if (text === undefined) return accept(responder);
  const isRefused = isMalformed(incoming, answered) || state.server.revisions.legacy === undefined;
  exchange.reply(isRefused ? 400 : 200, jsonHeaders, text);
}

/** Whether the body was no valid message. One response to a batch means that the server refused all of it. */
function isMalformed(incoming: Incoming, answered: unknown): boolean {
  return isBatch(incoming) ? !(answered instanceof BatchReply) : !incoming.ok;
}
