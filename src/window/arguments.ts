// Checks what is passed to the members of a window.
import { ConfigurationError } from "../base/errors.ts";
import {
  flag,
  func,
  type Kind,
  type Known,
  listOf,
  oneOf,
  problemOf,
  text,
  wholeNumber,
} from "../base/kinds.ts";
import { checkOptions } from "../base/options.ts";
import { peerText } from "./inside/peers.ts";
import type { FollowOptions } from "./follow/followed.ts";
import type { SnapshotOptions, Views } from "./snapshot/views.ts";

/** The most rows of a page. Past them, `next` leads to the rest. */
const maxLimit = 1000;

const rows: { readonly [Name in keyof Views]: true } = {
  sessions: true,
  streams: true,
  subscriptions: true,
  calls: true,
  tasks: true,
  tools: true,
  nodes: true,
};

const knownSnapshot: Known<SnapshotOptions> = {
  search: text,
  peer: peerText,
  era: oneOf("legacy", "modern"),
  topics: listOf(text, "a list of topics"),
  offset: wholeNumber,
  limit: {
    is: (value) => wholeNumber.is(value) && (value as number) <= maxLimit,
    mustBe: `a whole number from 0 to ${maxLimit}`,
    remedy: (value) =>
      typeof value === "number" && value > maxLimit
        ? "pass next of the page as offset for the rest"
        : undefined,
  },
};

const knownFollow: Known<FollowOptions> = {
  peer: peerText,
  everywhere: flag,
  maxWaiting: wholeNumber,
  maxCharacters: wholeNumber,
};

const snapshotKind: Kind = oneOf(...Object.keys(rows));
const observer: Kind = {
  ...func,
  remedy: () => "observe takes one function for all events: check event.type in it",
};
const follower: Kind = { ...func, remedy: () => "pass a function as the second argument" };

export function checkSnapshot(kind: unknown, options: unknown): void {
  check("snapshot", "kind", snapshotKind, kind);
  checkOptions({ subject: "snapshot" }, options, knownSnapshot);
}

export function checkFollow(options: unknown, given: unknown): void {
  checkOptions({ subject: "follow" }, options, knownFollow);
  check("follow", "follower", follower, given);
}

export function checkObserver(given: unknown): void {
  check("observe", "observer", observer, given);
}

export function checkHook(given: unknown): void {
  check("around", "hook", func, given);
}

export function checkEnd(peer: unknown): void {
  check("end", "peer", peerText, peer);
}

function check(subject: string, field: string, kind: Kind, value: unknown): void {
  const problem = problemOf(kind, value);
  if (problem !== undefined) throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
}
