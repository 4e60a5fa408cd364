// Opens a stream of events with GET, from the start or after the last event, and reads it to its end.
import type { CallBudget } from "../channel/channel.ts";
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { type ReceivedStream, isEventStream } from "./event-stream.ts";
import { isTransientFailure, readRetryAfter } from "./failure.ts";
import type { HttpLink } from "./link.ts";
import type { HttpReply } from "./send.ts";
import type { Silence } from "./silence.ts";

/** The outcome of a connection. */
export interface GetOutcome {
  /** `ended` after it opened, `failed` for now, or `refused` because the server does not offer it. */
  readonly kind: "ended" | "failed" | "refused";
  readonly reason: string;
  readonly status?: number;
  /** How long the server asks to wait. */
  readonly floorMs?: number | undefined;
}

export interface GetOptions {
  readonly signal: AbortSignal;
  readonly budget?: CallBudget | undefined;
  /** Watches the connection from the request on, because the headers of its reply may never arrive. */
  readonly silence?: Silence;
  readonly onOpen?: () => void;
}

/** Rejects only when the signal is aborted. */
export async function readByGet(
  link: HttpLink,
  events: ReceivedStream,
  options: GetOptions,
): Promise<GetOutcome> {
  const { signal, budget, silence, onOpen } = options;
  const { lastId } = events;
  let isOpen = false;
  try {
    const headers = link.headers.ofGet(lastId);
    const reply = await link.requester.send({ url: link.url, method: "GET", headers, signal, budget });
    if (reply.status !== 200 || !isEventStream(reply)) return refusalOf(reply);
    isOpen = true;
    silence?.heard();
    onOpen?.();
    await events.read(reply, silence);
    return { kind: "ended", reason: "the server ended it" };
  } catch (error) {
    if (signal.aborted) throw error;
    const { message: reason, status } = error as Error & { status?: number };
    if (error instanceof InvalidResponse) link.receiver.ignored(reason);
    const isTransientLoss = error instanceof ConnectionLost;
    return {
      kind: isTransientLoss ? (isOpen ? "ended" : "failed") : "refused",
      reason,
      ...(status && { status }),
    };
  }
}

function refusalOf(reply: HttpReply): GetOutcome {
  const { status } = reply;
  const floorMs = readRetryAfter(reply.header("retry-after"));
  reply.cancel();
  // A success without an event stream may be an extra reply to an earlier request on the same connection.
  const isStray = status < 300 && reply.mayBeStray;
  if (isStray) reply.distrust?.();
  const kind = isStray || isTransientFailure(status) ? "failed" : "refused";
  return { kind, status, floorMs, reason: `the server answered ${status}` };
}
