// The entries of a session's log, which all nodes read in the same order: they decide which stream gets a message, and on which node.
import { type EntryChecks, isSequence, readLogEntry } from "../../cluster/engine/log-entries.ts";
import { isRequestId, isTexts, type RequestId } from "../../base/wire/message.ts";

/** The number of a stream: the sequence number of the entry that opened it. */
type StreamNumber = number;

/** The GET stream that another one replaces, and its node; empty if none is active. */
export type Replaced = readonly [] | readonly [StreamNumber, string];

/**
 * - `get`: messages belong to a GET stream on node `n` from here on. Without `s` it is a new one. With `has` its client resumed `s`,
 *   and has the entries of the stream up to that number, and the changes up to the position `c`. With `over`, an open stream takes
 *   over from the stream and node of `over`, or from none: the entry counts only if those are still active.
 * - `lost`: the client of that GET stream has disconnected. Messages wait for the next `get`, those after the entry `to` too: they
 *   were not written. `c` is the position in the log of changes up to which that client has been told, and `told` says that it was
 *   told of changes on this connection.
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
      readonly has?: number | undefined;
      readonly c?: string | undefined;
      readonly over?: Replaced | undefined;
    }
  | {
      readonly k: "lost";
      readonly s: StreamNumber;
      readonly n: string;
      readonly c: string;
      readonly to: number;
      readonly told?: boolean | undefined;
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
  get: ({ s, n, has, c, over }) =>
    (s === undefined || isSequence(s)) &&
    typeof n === "string" &&
    (has === undefined || Number.isSafeInteger(has)) &&
    (c === undefined || typeof c === "string") &&
    (over === undefined || isReplaced(over)),
  lost: ({ s, n, c, to }) =>
    isSequence(s) && typeof n === "string" && typeof c === "string" && Number.isSafeInteger(to),
  push: ({ m, scopes }) => typeof m === "string" && areScopes(scopes),
  post: ({ n, ids, scopes }) =>
    typeof n === "string" && Array.isArray(ids) && ids.every(isRequestId) && areScopes(scopes),
  take: ({ s, n }) => isSequence(s) && typeof n === "string",
  send: ({ s, m }) => isSequence(s) && (m === undefined || typeof m === "string"),
};

function isReplaced(value: unknown): value is Replaced {
  if (!Array.isArray(value)) return false;
  const [stream, node] = value as unknown[];
  return value.length === 0 || (isSequence(stream) && typeof node === "string");
}

/** Reads an entry. Returns undefined if it is invalid, or of a kind that this version does not know. */
export function readSessionEntry(text: string): SessionEntry | undefined {
  return readLogEntry<SessionEntry>(text, checks);
}

/** Whether a value from another node is a list of scopes, or undefined. */
export function areScopes(value: unknown): value is readonly string[] | undefined {
  return value === undefined || isTexts(value);
}
