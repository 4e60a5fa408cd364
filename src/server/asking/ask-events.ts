// Reports questions to `observe`, in the same form for every way of asking.
import type { JsonObject } from "../../base/wire/message.ts";
import { type AskEvent, type Diagnostics, peerOf, type PeerEvent } from "../diagnostics/events.ts";
import type { RoundState } from "./round-state.ts";

/** The parts of a question that events report. */
interface Told {
  /** The client that is asked. */
  readonly to: PeerEvent;
  readonly method: string;
  readonly taskId?: string | undefined;
}

/** Reports that a question is sent. Call the returned function when it ends, with the reason if it has no answer. */
export function watchAsk(diagnostics: Diagnostics, question: Told): (reason?: string) => void {
  const started = performance.now();
  tell(diagnostics, question);
  return (reason) => tell(diagnostics, question, { reason, durationMs: performance.now() - started });
}

/** Reports that the questions of a round are sent, or, if `brought` is set, how the client's retry answers them. */
export function tellRound(
  diagnostics: Diagnostics,
  to: PeerEvent,
  asked: RoundState["asked"],
  brought?: JsonObject,
): void {
  for (const [key, method] of Object.entries(asked ?? {})) {
    const isMissing = brought && !Object.hasOwn(brought, key);
    const reason = isMissing ? "The client retried without an answer" : undefined;
    tell(diagnostics, { to, method }, brought && { reason });
  }
}

function tell(
  diagnostics: Diagnostics,
  { to, method, taskId }: Told,
  end?: Pick<AskEvent, "reason" | "durationMs">,
): void {
  const state = end ? (end.reason ? "failed" : "answered") : "asked";
  diagnostics.observe?.({ type: "ask", state, method, taskId, ...end, ...peerOf(to) });
}
