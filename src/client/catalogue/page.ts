// Reads one page of a list, and leaves out invalid entries.
import { clip } from "../../base/errors.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { ClientCore } from "../calls/core.ts";
import { InvalidResponse } from "../settings/errors.ts";
import { type Entries, entryProblem, kinds, type ListKind } from "./kinds.ts";

/** One page of a list. */
export interface Page<Kind extends ListKind> {
  readonly entries: readonly Entries[Kind][];
  /** The cursor of the next page, which may be `""`; undefined on the last page. */
  readonly next: string | undefined;
}

/** How many entries that are left out of a page, or of a list, are reported one by one. */
export const maxReports = 10;

/** Reads a page. Throws if it is malformed. An invalid entry is left out and reported. */
export function readPage<Kind extends ListKind>(
  kind: Kind,
  result: JsonObject,
  core: ClientCore,
): Page<Kind> {
  const { method, key } = kinds[kind];
  const { [kind]: entries, nextCursor } = result;
  if (!Array.isArray(entries)) throw new InvalidResponse(`${method}: the result has no array ${kind}`);
  if (nextCursor !== undefined && nextCursor !== null && typeof nextCursor !== "string")
    throw new InvalidResponse(`${method}: nextCursor is not a string`);
  const usable: Entries[Kind][] = [];
  let left = 0;
  entries.forEach((entry: unknown, index) => {
    const problem = entryProblem(kind, entry, core.peer);
    if (problem === undefined) return void usable.push(entry as Entries[Kind]);
    left++;
    if (left > maxReports) return;
    const name = (entry as { readonly [name: string]: unknown } | null)?.[key];
    const which = typeof name === "string" ? JSON.stringify(clip(name)) : String(index);
    ignore(core, `${method}: entry ${which} is left out: ${problem}`);
  });
  if (left > maxReports) ignore(core, `${method}: ${left - maxReports} more entries are left out`);
  return { entries: usable, next: nextCursor ?? undefined };
}

/** Reports that the client ignores something that the server sent. */
export function ignore(core: ClientCore, reason: string): void {
  core.observe({ type: "ignored", reason });
}
