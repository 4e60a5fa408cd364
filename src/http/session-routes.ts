// GET and DELETE: the streams that take pushes or are resumed, and the end of a session.
import { refuse } from "./edge/replies.ts";
import type { HttpExchange } from "./exchange.ts";
import { findSession, refuseVersion } from "./legacy-post.ts";
import type { HttpState } from "./state.ts";

/** The methods that the endpoint supports. */
export function allowedMethods({ server, settings }: HttpState): string {
  const methods = server.mode === "stateless" ? "POST" : "GET, POST, DELETE";
  return settings.cors ? `${methods}, OPTIONS` : methods;
}

/** A method that the peer's era, or this server, does not have. */
export function refuseMethod({ state, responder }: HttpExchange): void {
  refuse(responder, 405, "Method not allowed", { allow: allowedMethods(state) });
}

export async function answerGet(exchange: HttpExchange): Promise<void> {
  const { request, responder, principal } = exchange;
  if (!hasSessions(exchange)) return refuseMethod(exchange);
  if (!exchange.accepted.events) return refuse(responder, 406, "Accept must allow text/event-stream");
  if (refuseVersion(exchange)) return;
  const session = await findSession(exchange);
  if (session === undefined) return;
  const lastEventId = request.header("last-event-id");
  if (lastEventId === undefined) return session.streams.open(responder, principal);
  if (!session.streams.resume(lastEventId, responder, principal)) {
    refuse(responder, 400, "This stream is no longer kept: send the request again");
  }
}

export async function answerDelete(exchange: HttpExchange): Promise<void> {
  if (!hasSessions(exchange)) return refuseMethod(exchange);
  if (refuseVersion(exchange)) return;
  const session = await findSession(exchange);
  if (session === undefined) return;
  await exchange.state.sessions.end(session, "deleted");
  exchange.responder.reply(204, {});
}

/** The modern era has no sessions, and neither has a stateless server. */
function hasSessions({ state, headerRevision }: HttpExchange): boolean {
  return state.server.mode !== "stateless" && headerRevision?.era !== "modern";
}
