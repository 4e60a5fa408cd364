// The data of a session that nodes share: its record, and changes as differences, so that two nodes can change it at once.
import { readJson } from "../../base/wire/json.ts";
import { isObject, isTexts } from "../../base/wire/message.ts";
import {
  type ClientTexts,
  isLogLevel,
  type LogLevel,
  type Principal,
  readImplementation,
} from "../../protocol/model.ts";

/** The part of a session that its client changes. */
export interface SessionState {
  readonly initialized: boolean;
  readonly logLevel?: LogLevel | undefined;
  /** The URIs of the resources that it subscribes to. */
  readonly subscriptions: readonly string[];
}

/** The data that another node needs to continue a session. */
export interface SessionRecord extends SessionState, ClientTexts {
  readonly id: string;
  /** Grows with each change. */
  readonly version: number;
  readonly principal?: Principal | undefined;
  /** The address from which it was opened, for which it counts on all nodes; undefined if it has a principal. */
  readonly opener?: string | undefined;
  /** The date of the negotiated revision. */
  readonly revision: string;
  /** The position in the log of changes when the session began. */
  readonly changes?: string | undefined;
}

/** The state of a session before its client has sent anything else than `initialize`. */
export const firstState: SessionState = { initialized: false, subscriptions: [] };

/** The difference between two states of a session. */
export interface SessionChange {
  /** The session became initialized, which it stays. */
  readonly initialized: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The change from one state to another; undefined if they are equal. */
export function changeBetween(before: SessionState, after: SessionState): SessionChange | undefined {
  const change = {
    initialized: after.initialized && !before.initialized,
    logLevel: after.logLevel === before.logLevel ? undefined : after.logLevel,
    added: without(after.subscriptions, before.subscriptions),
    removed: without(before.subscriptions, after.subscriptions),
  };
  const { initialized, logLevel, added, removed } = change;
  return initialized || logLevel || added.length > 0 || removed.length > 0 ? change : undefined;
}

/** The URIs that the others lack; usually a session has none. */
function without(uris: readonly string[], others: readonly string[]): readonly string[] {
  if (uris.length === 0 || others.length === 0) return uris;
  const known = new Set(others);
  return uris.filter((uri) => !known.has(uri));
}

/** Applies a change to the newest state, which may differ from the state that it was made to. */
export function applyChange<State extends SessionState>(state: State, change: SessionChange): State {
  const { initialized, logLevel, added, removed } = change;
  const { subscriptions: had } = state;
  const has = added.length === 0 ? had : [...had, ...without(added, had)];
  return {
    ...state,
    initialized: state.initialized || initialized,
    logLevel: logLevel ?? state.logLevel,
    subscriptions: without(has, removed),
  };
}

/** Reads a change from another node. Returns undefined if it is invalid. */
export function readChange(value: unknown): SessionChange | undefined {
  if (!isObject(value)) return undefined;
  const { initialized, logLevel, added, removed } = value;
  const isValid =
    typeof initialized === "boolean" &&
    (logLevel === undefined || isLogLevel(logLevel)) &&
    isTexts(added) &&
    isTexts(removed);
  return isValid ? { initialized, logLevel, added, removed } : undefined;
}

/** The checks of each member of a record before use: another version of Halyard, or another program, may have written it. */
const checks: Readonly<Record<keyof SessionRecord, (value: unknown) => boolean>> = {
  id: isText,
  version: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  principal: (value) =>
    value === undefined || (isObject(value) && isText(value["issuer"]) && isText(value["subject"])),
  opener: (value) => value === undefined || isText(value),
  revision: isText,
  clientInfo: (value) => value === undefined || readImplementation(parsed(value)) !== undefined,
  clientCapabilities: (value) => value === undefined || isObject(parsed(value)),
  changes: (value) => value === undefined || isText(value),
  initialized: (value) => typeof value === "boolean",
  logLevel: (value) => value === undefined || isLogLevel(value),
  subscriptions: isTexts,
};

/** Returns the record of this session, or undefined if the value is not one. */
export function readRecord(id: string, value: unknown): SessionRecord | undefined {
  if (!isObject(value) || value["id"] !== id) return undefined;
  const isValid = Object.entries(checks).every(([member, check]) => check(value[member]));
  return isValid ? (value as unknown as SessionRecord) : undefined;
}

function parsed(text: unknown): unknown {
  return isText(text) ? readJson(text) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
