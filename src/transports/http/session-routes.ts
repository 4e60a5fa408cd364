// Answers GET, which opens or resumes a stream of a session, and DELETE, which ends the session.
import { refuseWith } from "./edge/replies.ts";
import type { HttpExchange } from "./exchange.ts";
import { findSession, refuseVersion } from "./legacy-post.ts";
import type { HttpState } from "./state.ts";

/** The methods that the endpoint supports. */
export function allowedMethods({ server, settings }: HttpState): string {
  const methods = server.mode === "stateless" ? "POST" : "GET, POST, DELETE";
  return settings.cors ? `${methods}, OPTIONS` : methods;
}

/** Refuses an HTTP method that the client's era, or this server, does not support. */
export function refuseMethod({ state, responder }: HttpExchange): void {
  const allow = allowedMethods(state);
  refuseWith(responder, 405, `Method not allowed: this MCP endpoint accepts ${allow}`, { allow });
}

export async function answerGet(exchange: HttpExchange): Promise<void> {
  const { request, responder, principal } = exchange;
  const session = await sessionOf(exchange);
  if (session === undefined) return;
  const lastEventId = request.header("last-event-id");
  if (lastEventId === undefined) return session.streams.open(responder, principal);
  if (!(await session.streams.resume(lastEventId, responder, principal))) {
    refuseWith(responder, 400, "This stream can no longer be resumed: send the request again");
  }
}

export async function answerDelete(exchange: HttpExchange): Promise<void> {
  const session = await sessionOf(exchange);
  if (session === undefined) return;
  await exchange.state.sessions.end(session, "deleted");
  exchange.responder.reply(204, {});
}

/** Whether a person opened the URL. */
function isBrowser(accept: string | undefined): boolean {
  return accept?.includes("text/html") ?? false;
}

/** The session of a GET or DELETE; undefined if it has refused the request. */
function sessionOf(exchange: HttpExchange): ReturnType<typeof findSession> {
  const { state, headerRevision, request, accepted, responder } = exchange;
  // Modern clients and stateless servers have no sessions.
  if (state.server.mode === "stateless" || headerRevision?.era === "modern") refuseMethod(exchange);
  else if (request.method === "GET" && !accepted.events && !isBrowser(request.header("accept"))) {
    refuseWith(responder, 406, "Accept must allow text/event-stream");
  } else if (!refuseVersion(exchange)) return findSession(exchange);
  return undefined;
}
