// The list of revisions, for tests that run on each of them.
import { revisions } from "../protocol/revisions/index.ts";

/**
 * The date and era of every protocol revision, newest first.
 *
 * @example
 * ```ts
 * import { protocolRevisions } from "halyard/testing";
 *
 * for (const { date, era } of protocolRevisions) console.log(date, era);
 * ```
 */
export const protocolRevisions: readonly { readonly date: string; readonly era: "modern" | "legacy" }[] =
  revisions.map(({ date, era }) => ({ date, era }));
