// The entries of a session's log, which all nodes read in the same order: they decide which stream gets a message, and on which node.
import { isSequence } from "../backplane/position.ts";
import { type EntryChecks, readEntry } from "../backplane/stored.ts";
import { isRequestId, isTexts, type RequestId } from "../wire/message.ts";

/** The number of a stream: the sequence number of the entry that opened it. */
type StreamNumber = number;

/**
 * - `get`: a GET stream opened on node `n`, or an earlier one (`s`) was resumed there. Messages belong to it from here on. `c` is the
 *   position in the log of changes at that time.
 * - `lost`: the client of that GET stream has disconnected. Messages wait for the next `get`, those after the entry `to` too: they
 *   were not written. `c` is the position in the log of changes up to which that client has been told.
 * - `push`: a message for the session.
 * - `post`: the reply to the requests with these ids, usually one, became a stream, and node `n` runs the calls.
 * - `take`: that POST stream was resumed on node `n`.
 * - `send`: a message on a POST stream; with `end` the last. The first `end` counts. Without `m`, the message is larger than nodes
 *   share: only a client that is connected to the node of the call gets it.
 */
export type SessionEntry =
  | {
      readonly k: "get";
      readonly s?: StreamNumber | undefined;
      readonly n: string;
      readonly c?: string | undefined;
    }
  | {
      readonly k: "lost";
      readonly s: StreamNumber;
      readonly n: string;
      readonly c: string;
      readonly to: number;
    }
  | { readonly k: "push"; readonly m: string; readonly scopes?: readonly string[] | undefined }
  | {
      readonly k: "post";
      readonly n: string;
      readonly ids: readonly RequestId[];
      readonly scopes?: readonly string[] | undefined;
    }
  | { readonly k: "take"; readonly s: StreamNumber; readonly n: string }
  | { readonly k: "send"; readonly s: StreamNumber; readonly m?: string; readonly end?: true };

const checks: EntryChecks<SessionEntry["k"]> = {
  get: ({ s, n, c }) =>
    (s === undefined || isSequence(s)) && typeof n === "string" && (c === undefined || typeof c === "string"),
  lost: ({ s, n, c, to }) =>
    isSequence(s) && typeof n === "string" && typeof c === "string" && Number.isSafeInteger(to),
  push: ({ m, scopes }) => typeof m === "string" && areScopes(scopes),
  post: ({ n, ids, scopes }) =>
    typeof n === "string" && Array.isArray(ids) && ids.every(isRequestId) && areScopes(scopes),
  take: ({ s, n }) => isSequence(s) && typeof n === "string",
  send: ({ s, m }) => isSequence(s) && (m === undefined || typeof m === "string"),
};

/** Reads an entry. Returns undefined if it is invalid, or of a kind that this version does not know. */
export function readSessionEntry(text: string): SessionEntry | undefined {
  return readEntry<SessionEntry>(text, checks);
}

/** Whether a value from another node is a list of scopes, or undefined. */
export function areScopes(value: unknown): value is readonly string[] | undefined {
  return value === undefined || isTexts(value);
}
