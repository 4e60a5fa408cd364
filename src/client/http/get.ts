// Opens a stream of events with GET, anew or where it broke off, and reads it to its end.
import type { CallBudget } from "../channel/channel.ts";
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { type EventStream, isEventStream } from "./event-stream.ts";
import { isTransient, readRetryAfter } from "./failure.ts";
import type { Link } from "./link.ts";
import type { HttpReply } from "./send.ts";
import type { Silence } from "./silence.ts";

/** How a connection went. */
export interface GetOutcome {
  /** It opened and ended; it could not be opened for now; the server does not offer it. */
  readonly kind: "ended" | "failed" | "refused";
  readonly reason: string;
  readonly status?: number;
  /** How long the server asks to wait. */
  readonly floorMs?: number | undefined;
}

export interface GetOptions {
  readonly signal: AbortSignal;
  readonly budget?: CallBudget | undefined;
  /** Watches the connection, from the request on: the head of its reply may never come. */
  readonly silence?: Silence;
  readonly onOpen?: () => void;
}

/** Rejects only when the signal is aborted. */
export async function readByGet(link: Link, events: EventStream, options: GetOptions): Promise<GetOutcome> {
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
  // One without a body is no reply to this request, and may be one too many for an earlier one on its connection.
  const isStray = status < 300 && reply.mayBeStray;
  if (isStray) reply.distrust?.();
  const kind = isStray || isTransient(status) ? "failed" : "refused";
  return { kind, status, floorMs, reason: `the server answered ${status}` };
}
