// GET and DELETE: the streams that take pushes or are resumed, and the end of a session.
import type { Principal } from "../protocol/model.ts";
import { isPostEvent } from "./streams/stream-log.ts";
import { readAccept } from "./accept.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./streams/event-stream.ts";
import type { HttpRequest, HttpResponder } from "./edge/request.ts";
import { GetStream } from "./get-stream.ts";
import { findSession, refuseVersion } from "./legacy-post.ts";
import { headerRevision } from "./mirrored.ts";
import { eventHeaders, refuse } from "./edge/replies.ts";
import { resume } from "./resume.ts";
import type { HttpSession } from "./session.ts";

type Route = (
  state: HttpState,
  request: HttpRequest,
  responder: HttpResponder,
  principal: Principal | undefined,
) => Promise<void>;

/** The methods that the endpoint supports. */
export function allowedMethods(state: HttpState): string {
  const methods = state.server.mode === "stateless" ? "POST" : "GET, POST, DELETE";
  return state.settings.cors ? `${methods}, OPTIONS` : methods;
}

/** A method that the peer's era, or this server, does not have. */
export function refuseMethod(state: HttpState, responder: HttpResponder): void {
  refuse(responder, 405, "Method not allowed", { allow: allowedMethods(state) });
}

export const answerGet: Route = async (state, request, responder, principal) => {
  if (!hasSessions(state, request)) return refuseMethod(state, responder);
  if (!readAccept(request.header("accept")).events) {
    return refuse(responder, 406, "Accept must allow text/event-stream");
  }
  if (refuseVersion(state, request, responder)) return;
  const session = await findSession(state, request, responder, principal);
  if (session === undefined) return;
  const lastEventId = request.header("last-event-id");
  if (lastEventId === undefined) {
    session.settleLost();
    return openStream(state, session, responder, principal);
  }
  if (resume(state, session, responder, { lastEventId, principal })) return;
  if (isPostEvent(lastEventId))
    return refuse(responder, 400, "This stream is no longer kept: send the request again");
  session.makeGood();
  openStream(state, session, responder, principal);
};

export const answerDelete: Route = async (state, request, responder, principal) => {
  if (!hasSessions(state, request)) return refuseMethod(state, responder);
  if (refuseVersion(state, request, responder)) return;
  const session = await findSession(state, request, responder, principal);
  if (session === undefined) return;
  await state.sessions.end(session, "deleted");
  state.logs.removeSession(session.id);
  responder.reply(204, {});
};

/** The modern era has no sessions, and neither has a stateless server. */
function hasSessions(state: HttpState, request: HttpRequest): boolean {
  if (state.server.mode === "stateless") return false;
  return headerRevision(request, state.server)?.era !== "modern";
}

function openStream(
  state: HttpState,
  session: HttpSession,
  responder: HttpResponder,
  principal: Principal | undefined,
): void {
  const stream = new EventStream({
    open: () => responder.stream(eventHeaders),
    resumable: () => state.resumable("get", session, principal),
    primes: session.connection.revision?.primesStreams,
    onDisconnected: (lost) => session.streamGone(lost),
  });
  stream.readWith(principal);
  stream.open();
  state.heartbeat.add(new GetStream(state, session, stream));
  session.addGetStream(stream);
}
