// Sending a request to the client of a call, for clients that take requests.
import { askFailed, type HalyardError } from "../../errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { Ask, Asks } from "../../push/asks.ts";
import type { Hub } from "../../push/hub.ts";
import type { Stream } from "../../push/listener.ts";
import type { JsonObject } from "../../wire/message.ts";

/** What it takes to ask a client, for each thing that may be missing. */
const remedies = {
  modern:
    "a modern client takes no requests: ask with ctx.elicit, ctx.sample or ctx.roots, in a tool, prompt or resource",
  session: 'it has no session: serve it with mode "both" or "stateful"',
  stream: "it must accept text/event-stream, or open the stream of its session",
};

export function noWayBack(method: string, missing: keyof typeof remedies): HalyardError {
  return askFailed(method, `this client cannot be asked: ${remedies[missing]}`);
}

/** The call that asks. */
type Asking = Ask["to"] & {
  readonly core: { readonly hub: Hub; readonly asks: Asks };
  readonly exchange: { readonly stream?: Stream | undefined };
  readonly protocol: Revision;
  readonly scopes: readonly string[] | undefined;
  readonly taskId: string | undefined;
  readonly askSignal: AbortSignal;
};

/** Asks on the stream of the call, else on another one of its session. */
export async function askClient(
  call: Asking,
  method: string,
  params: object | undefined,
  timeoutMs: number,
): Promise<JsonObject> {
  const { session, scopes, taskId, core } = call;
  const stream = call.exchange.stream ?? (session && core.hub.reach(session, scopes)?.stream);
  if (session !== undefined && stream) {
    return core.asks.ask({
      to: call,
      stream,
      taskId,
      scopes,
      method,
      params,
      timeoutMs,
      signal: call.askSignal,
    });
  }
  throw noWayBack(method, call.protocol.era === "modern" ? "modern" : session ? "stream" : "session");
}
