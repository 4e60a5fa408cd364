// Everything that is settled before a handler runs: who asks, whether they may, and whether their revision has the method.
import { clip, errorCodes, invalidRequest, ProtocolError } from "../../errors.ts";
import type { RequestRow } from "../../protocol/revision.ts";
import { type RpcError, rpcErrorOf, type RpcRequest } from "../../wire/message.ts";
import { type Exchange, grantOf } from "../context/connection.ts";
import { Call } from "./call.ts";
import type { Core } from "./core.ts";
import type { MethodHandler } from "./seams.ts";
import { type KnownPeer, resolvePeer } from "./peer.ts";
import { assertScopes } from "../catalogue/scopes.ts";

/** A call that may run, or why there is none. */
export type Opened =
  | { readonly ok: true; readonly call: Call; readonly handler: MethodHandler }
  | { readonly ok: false; readonly error: RpcError };

export function openCall(core: Core, request: RpcRequest, exchange: Exchange): Opened {
  const { connection } = exchange;
  try {
    if (connection.sharesPipe && connection.inFlight.has(request.id)) {
      throw invalidRequest("A request with this id is still being answered");
    }
    const { limits } = core.settings;
    if (connection.running >= limits.maxInFlight) {
      throw invalidRequest(`More than ${limits.maxInFlight} requests at once: wait for an answer`);
    }
    const peer = resolvePeer(core, request, exchange);
    const { row, handler } = findMethod(core, request.method, peer, exchange);
    const scopes = exchange.checkedScopes ?? assertScopes(core.catalogue, request, grantOf(exchange), limits);
    const mustWait =
      core.settings.requireInitialized && peer.revision.era === "legacy" && !connection.initialized;
    if (mustWait && !row.beforeInitialized) {
      throw invalidRequest("Send notifications/initialized first");
    }
    const needed = scopes.length > 0 ? scopes : undefined;
    return { ok: true, handler, call: new Call(core, request, exchange, peer, row, needed) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { ok: false, error: rpcErrorOf(error) };
  }
}

function findMethod(
  core: Core,
  method: string,
  { revision }: KnownPeer,
  exchange: Exchange,
): { row: RequestRow; handler: MethodHandler } {
  const row = revision.requests.get(method);
  const isThere =
    row !== undefined &&
    (row.feature === undefined || core.features.isOffered(row.feature, revision, exchange));
  const handler = isThere ? core.methods.get(method) : undefined;
  if (row !== undefined && handler !== undefined) return { row, handler };
  const added = core.catalogue.findMethod(method, revision.era);
  if (added !== undefined)
    return { row: added.row, handler: { run: (call) => added.run(call.params, call) } };
  throw new ProtocolError(errorCodes.methodNotFound, `Unknown method: ${clip(method)}`);
}
