// The kinds that the options of a server and its definitions have in common.
import { type Kind, type Known, oneOf, wholeNumber } from "../../base/kinds.ts";
import type { CacheHint } from "../../protocol/model.ts";

/** What a client sees of an unexpected exception: an error id (`hidden`), or its message. */
export type ShownErrors = "hidden" | "message";

export const shownErrors: Kind<ShownErrors> = oneOf("hidden", "message");

export const knownCacheHint: Known<CacheHint> = {
  ttlMs: wholeNumber,
  scope: oneOf("public", "private"),
};
