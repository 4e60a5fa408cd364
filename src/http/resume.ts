// A client comes back for a stream that it has lost: it gets what it has missed, then what comes.
import type { Principal } from "../protocol/model.ts";
import { isGranted } from "../protocol/scopes.ts";
import { encodeEvent, encodePriming } from "../wire/sse.ts";
import type { HttpResponder } from "./edge/request.ts";
import { eventHeaders } from "./edge/replies.ts";
import type { HttpSession } from "./session.ts";
import type { HttpState } from "./state.ts";

/** Goes on with a stream of this session where the client lost it. False when it is not, or no longer, kept. */
export function resume(
  state: HttpState,
  session: HttpSession,
  responder: HttpResponder,
  { lastEventId, principal }: { readonly lastEventId: string; readonly principal: Principal | undefined },
): boolean {
  const found = state.logs.find(lastEventId, session.id);
  const missed = found?.log.after(found.sequence);
  if (found === undefined || missed === undefined) return false;
  const { log, sequence } = found;
  // It holds what whoever opened it was granted: for a lesser token it is not kept.
  if (state.server.usesScopes && !isGranted(log.scopes, principal)) return false;
  log.settle(sequence);
  const sink = responder.stream(eventHeaders);
  // Clients only know the ids that this connection brings: one that is cut before the next event must have this one.
  if (session.connection.revision?.primesStreams) {
    sink.write(encodePriming(lastEventId, state.settings.retryMs));
  }
  for (const { sequence: at, text } of missed) sink.write(encodeEvent(text, log.eventId(at)));
  const stream = session.streams.get(log.id);
  if (stream === undefined) {
    sink.end();
    // It has the whole of a stream that has ended. A client that still comes back would do so for ever.
    if (log.isSettled) state.logs.remove(log);
    return true;
  }
  stream.readWith(principal);
  stream.resume(sink);
  if (log.kind === "get") session.addGetStream(stream);
  return true;
}
