// How long a result stays fresh, and which principals may share it: from the cache hints of modern servers, and from the notifications that legacy
// servers promise.
import type { JsonObject } from "../../base/wire/message.ts";
import type { ClientCore } from "../calls/core.ts";

/** The longest time that a result stays fresh, whatever its server says. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * The lists whose changes legacy servers announce, by method, with the capability whose `listChanged` promises it. Templates have
 * no notification.
 */
const announced: { readonly [method: string]: "tools" | "prompts" | "resources" } = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
};

/** Whether results of this method can be cached at the moment. */
export function isCacheable(method: string, core: ClientCore): boolean {
  const { revision, capabilities } = core.peer;
  if (revision.requests.get(method)?.cacheable) return true;
  const kind = revision.era === "legacy" ? announced[method] : undefined;
  return kind !== undefined && core.isListening && capabilities[kind]?.listChanged === true;
}

/** How long a result stays fresh, and whether it is for the current credentials only. */
export interface Freshness {
  readonly timeMs: number;
  readonly isPrivate: boolean;
}

/** Reads the freshness of a result. A time that is not a positive number counts as 0, an unknown scope as private. */
export function freshnessOf(result: JsonObject, core: ClientCore): Freshness {
  if (core.peer.revision.era === "legacy") return { timeMs: longestMs, isPrivate: true };
  const { ttlMs, cacheScope, resultType = "complete" } = result;
  const isFresh = typeof ttlMs === "number" && ttlMs > 0 && resultType === "complete";
  return { timeMs: isFresh ? Math.min(ttlMs, longestMs) : 0, isPrivate: cacheScope !== "public" };
}
