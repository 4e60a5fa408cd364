// A change that nodes share: as it is written to the shared log, and read back.
import { type EntryChecks, readLogEntry, smallEntryText } from "../../cluster/engine/log-entries.ts";
import { isObject } from "../../base/wire/message.ts";
import { areScopes } from "./session-entries.ts";

/**
 * - `publish`: a notification for the subscribers of its topic. `print` is the fingerprint of the list that it announces.
 * - `broadcast`: a notification for every session.
 * - `start`: the first entry, so that there is a position before the first change.
 * - `missed`: a node could not add its changes, so that every topic may have changed.
 */
export type CatalogueChange =
  | {
      readonly k: "publish";
      readonly method: string;
      readonly key?: string | undefined;
      readonly params?: object | undefined;
      readonly scopes?: readonly string[] | undefined;
      readonly print?: string | undefined;
    }
  | { readonly k: "broadcast"; readonly method: string; readonly params?: object | undefined }
  | { readonly k: "start" }
  | { readonly k: "missed" };

/** A change in the log. Its id begins with the node that wrote it, so that no two entries are equal. */
export type ChangeEntry = CatalogueChange & { readonly id: string };

const checks: EntryChecks<CatalogueChange["k"]> = {
  publish: ({ method, key, params, scopes, print }) =>
    typeof method === "string" &&
    isText(key) &&
    (params === undefined || isObject(params)) &&
    areScopes(scopes) &&
    isText(print),
  broadcast: ({ method, params }) => typeof method === "string" && (params === undefined || isObject(params)),
  start: () => true,
  missed: () => true,
};

/** Reads an entry. Returns undefined if it is invalid, or of a kind that this version does not know. */
export function readCatalogueChange(text: string): ChangeEntry | undefined {
  const entry = readLogEntry<ChangeEntry>(text, checks);
  return typeof entry?.id === "string" ? entry : undefined;
}

/** The text of an entry. Throws if a log cannot keep that much, or if it is not JSON. */
export function encodeChange(entry: ChangeEntry): string {
  return smallEntryText(entry, "method" in entry ? entry.method : entry.k);
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
