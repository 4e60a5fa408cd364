// The four lists of a server: the request for each, and the checks of its entries.
import type { Prompt, Resource, ResourceTemplate, Tool } from "../settings/received.ts";
import { findParamHeaders } from "../../protocol/param-headers.ts";
import { isObject } from "../../base/wire/message.ts";
import type { ServerFacts } from "../connection/peer.ts";

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
export function entryProblem(kind: ListKind, entry: unknown, peer: ServerFacts): string | undefined {
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
