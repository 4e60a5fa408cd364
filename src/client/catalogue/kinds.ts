// The four lists of a server: the request for each, and how a page of one is read.
import type { Prompt, Resource, ResourceTemplate, Tool } from "../settings/received.ts";
import { findParamHeaders } from "../../protocol/param-headers.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { ServerFacts } from "../settings/server-facts.ts";
import { clip } from "../../base/errors.ts";
import type { ClientCore } from "../calls/core.ts";
import { InvalidResponse } from "../settings/errors.ts";

/** The entries of each list. */
export interface Entries {
  readonly tools: Tool;
  readonly prompts: Prompt;
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
}

/** A list of the server. */
export type ListKind = keyof Entries;

interface KindRow {
  readonly method: string;
  /** The member that every entry must have, a string. */
  readonly key: string;
  /** Whether the key identifies the entry: of two entries with the same key, the first one counts. */
  readonly isName: boolean;
  /** The method of the client that iterates over the entries. */
  readonly each: string;
}

export const kinds: { readonly [Kind in ListKind]: KindRow } = {
  tools: { method: "tools/list", key: "name", isName: true, each: "eachTool" },
  prompts: { method: "prompts/list", key: "name", isName: true, each: "eachPrompt" },
  resources: { method: "resources/list", key: "uri", isName: false, each: "eachResource" },
  resourceTemplates: {
    method: "resources/templates/list",
    key: "uriTemplate",
    isName: false,
    each: "eachResourceTemplate",
  },
};

/** Whether calls repeat arguments as HTTP headers: where the names of tools are repeated too. */
export function hasParamHeaders({ hasHeaders, revision }: ServerFacts): boolean {
  return hasHeaders && revision.requests.get("tools/call")?.mirrors !== undefined;
}

/** Why an entry cannot be used, or undefined. */
function entryProblem(kind: ListKind, entry: unknown, peer: ServerFacts): string | undefined {
  if (!isObject(entry)) return "it is not an object";
  const { key } = kinds[kind];
  if (typeof entry[key] !== "string") return `it has no ${key}`;
  if (kind !== "tools") return undefined;
  const { inputSchema } = entry;
  if (!isObject(inputSchema)) return "it has no inputSchema";
  if (!hasParamHeaders(peer)) return undefined;
  const headers = findParamHeaders(inputSchema);
  return headers.ok ? undefined : `its inputSchema ${headers.problem}`;
}

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
