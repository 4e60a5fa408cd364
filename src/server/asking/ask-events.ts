// Questions to clients as events: the ways that they go out and end differ, what is told of them does not.
import type { JsonObject } from "../../wire/message.ts";
import { type AskEvent, peerOf, type PeerEvent, type ServerEvent } from "../../diagnostics/events.ts";
import type { RoundState } from "./round-state.ts";

type Observe = (event: ServerEvent) => void;

/** A question, as far as it is told. */
interface Told {
  /** Who is asked. */
  readonly to: PeerEvent;
  readonly method: string;
  readonly taskId?: string | undefined;
}

/** Tells that a question goes out; what it returns tells that it has ended, and why, if that is not with an answer. */
export function watchAsk(observe: Observe, question: Told): (reason?: string) => void {
  const started = performance.now();
  tell(observe, question);
  return (reason) => tell(observe, question, { reason, durationMs: performance.now() - started });
}

/** Tells that the questions of a round go out; or, when the client is back, what it has brought. */
export function tellRound(
  observe: Observe | undefined,
  to: PeerEvent,
  asked: RoundState["asked"],
  brought?: JsonObject,
): void {
  if (!observe || !asked) return;
  for (const [key, method] of Object.entries(asked)) {
    const isMissing = brought && !Object.hasOwn(brought, key);
    const reason = isMissing ? "The client came back without it" : undefined;
    tell(observe, { to, method }, brought && { reason });
  }
}

function tell(
  observe: Observe,
  { to, method, taskId }: Told,
  end?: Pick<AskEvent, "reason" | "durationMs">,
): void {
  const state = end ? (end.reason ? "failed" : "answered") : "asked";
  observe({ type: "ask", state, method, taskId, ...end, ...peerOf(to) });
}
