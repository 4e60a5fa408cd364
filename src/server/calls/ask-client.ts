// Sends a request to the client of a call; only legacy clients accept requests.
import { askFailed, type HalyardError } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { Ask, Asks } from "../push/asks.ts";
import type { Hub } from "../push/hub.ts";
import type { Stream } from "../push/listener.ts";
import type { JsonObject } from "../../base/wire/message.ts";

/** Why a client cannot be asked, and what to do. */
const remedies = {
  modern: "it is modern: call ctx.elicit, ctx.sample or ctx.roots in a tool, prompt or resource",
  session: 'it has no session: use mode "both" or "stateful"',
  stream: "it must accept text/event-stream or open a GET stream",
};

export function noWayBack(method: string, missing: keyof typeof remedies): HalyardError {
  return askFailed(method, `this client cannot receive requests: ${remedies[missing]}`);
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

/** Sends the request on the stream of the call, or else on another stream of its session, which may be on another node. */
export async function askClient(
  call: Asking,
  method: string,
  params: object | undefined,
  timeoutMs: number,
): Promise<JsonObject> {
  const { session, scopes, taskId, core } = call;
  const stream = call.exchange.stream ?? (session && (await core.hub.find(session, scopes))?.stream);
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
