// Reports questions to `observe`, in the same form for every way of asking.
import type { JsonObject } from "../../wire/message.ts";
import { type AskEvent, peerOf, type PeerEvent, type ServerEvent } from "../../diagnostics/events.ts";
import type { RoundState } from "./round-state.ts";

type Observe = (event: ServerEvent) => void;

/** The parts of a question that events report. */
interface Told {
  /** The client that is asked. */
  readonly to: PeerEvent;
  readonly method: string;
  readonly taskId?: string | undefined;
}

/** Reports that a question is sent. Call the returned function when it ends, with the reason if it has no answer. */
export function watchAsk(observe: Observe, question: Told): (reason?: string) => void {
  const started = performance.now();
  tell(observe, question);
  return (reason) => tell(observe, question, { reason, durationMs: performance.now() - started });
}

/** Reports that the questions of a round are sent, or, if `brought` is set, how the client's retry answers them. */
export function tellRound(
  observe: Observe | undefined,
  to: PeerEvent,
  asked: RoundState["asked"],
  brought?: JsonObject,
): void {
  if (!observe || !asked) return;
  for (const [key, method] of Object.entries(asked)) {
    const isMissing = brought && !Object.hasOwn(brought, key);
    const reason = isMissing ? "The client retried without an answer" : undefined;
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
