// Adds the members that every modern result has: its type, the server info and the cache hint.
import { encodeShape } from "../../protocol/codec.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { CacheHint } from "../../protocol/model.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Call } from "./call.ts";
import type { ListMethod } from "../settings/options.ts";

/** Completes a result for its revision; a result that is already complete stays unchanged. */
export function stampResult(result: JsonObject, call: Call): JsonObject {
  const isDone = call.protocol.era === "legacy" || result["resultType"] !== undefined;
  return isDone ? result : stampOwnResult({ ...result }, call);
}

/** Like `stampResult`, but changes the object in place: copying it costs more than serialising it. */
export function stampOwnResult(result: Record<string, unknown>, call: Call): JsonObject {
  if (call.protocol.era === "legacy") return result;
  const meta = serverMeta(call);
  result["resultType"] = "complete";
  result["_meta"] = result["_meta"] === undefined ? meta : { ...(result["_meta"] as object), ...meta };
  if (!call.row.cacheable || result["ttlMs"] !== undefined) return result;
  return Object.assign(result, cacheFields(call.core.settings.cache[call.method as ListMethod]));
}

/** Stamps a result that does not complete its request, such as questions to the client. Clients must not cache it. */
export function stampAs(resultType: string, result: JsonObject, call: Call): JsonObject {
  return { resultType, ...result, _meta: serverMeta(call) };
}

/** The members for a cache hint. By default clients must neither keep nor share the result. */
export function cacheFields(hint: CacheHint | undefined): { ttlMs: number; cacheScope: string } {
  return { ttlMs: hint?.ttlMs ?? 0, cacheScope: hint?.scope ?? "private" };
}

function serverMeta({ core: { info, serverMetas }, protocol }: Call): JsonObject {
  let meta = serverMetas.get(protocol);
  if (meta === undefined) {
    meta = { [metaKeys.serverInfo]: encodeShape(info, "implementation", protocol) };
    serverMetas.set(protocol, meta);
  }
  return meta;
}
