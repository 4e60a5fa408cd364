// What the log of a session says to a client that connects: which messages belong to its stream, and which it has missed.
import type { LogEntry } from "../../backplane/engine.ts";
import { isSequence, positionOf, positionPattern, sequenceOf, startOfLog } from "../../backplane/position.ts";
import { readSessionEntry, type SessionEntry } from "../../push/session-log.ts";

/** The place of a client in a stream: what an event id says. */
export type StreamCursor =
  | { readonly kind: "get"; readonly start: number; readonly at: string; readonly changes: string }
  | { readonly kind: "post"; readonly start: number; readonly at: string };

/**
 * The event id of a cursor. `start` is the number of the stream, `at` its last entry that the client has, and `changes` the last entry
 * of the log of changes that it has.
 */
export function eventIdOf(cursor: StreamCursor): string {
  const { kind, start, at } = cursor;
  return kind === "get" ? `g${start}.${at}.${cursor.changes}` : `p${start}.${at}`;
}

const eventId = new RegExp(
  String.raw`^(?:g(?<get>\d{1,16})\.(?<seen>${positionPattern})\.(?<changes>${positionPattern})|p(?<post>\d{1,16})\.(?<at>${positionPattern}))$`,
);

/** Reads an event id; undefined if it is none. */
export function readEventId(text: string): StreamCursor | undefined {
  const { get, seen = "", changes = "", post, at = "" } = eventId.exec(text)?.groups ?? {};
  const start = Number(get ?? post);
  if (!isSequence(start)) return undefined;
  return get === undefined ? { kind: "post", start, at } : { kind: "get", start, at: seen, changes };
}

/** A message of a stream, and its place in the log. */
export interface KeptMessage {
  readonly text: string;
  readonly position: string;
  readonly sequence: number;
  readonly scopes: readonly string[] | undefined;
}

/** The GET stream that gets the messages, at some place in the log. */
interface Active {
  readonly stream: number;
  /** Undefined if that entry is no longer kept. */
  readonly node: string | undefined;
}

/** Follows the log from one entry to the next: which GET stream is active, and which messages belong to which. */
class Walk {
  active: Active | undefined;
  /** The messages that wait for the next GET stream. */
  waiting: KeptMessage[] = [];
  /** The last entry after which messages waited. */
  waitedSince: string = startOfLog;
  /** The `lost` entry that ended the last GET stream, if no other has become active since. */
  lost: Extract<SessionEntry, { k: "lost" }> | undefined;
  /** What the active stream got since it became active, or the last one before it was lost. */
  given: KeptMessage[] = [];
  /** The position in the log of changes when the last stream became active. */
  changes: string | undefined;
  /** The entry with which the active stream became active. */
  #activatedAt: string | undefined;
  readonly #stream: number;
  readonly #messages: KeptMessage[];

  /** Adds the messages that belong to `stream` to `messages`. */
  constructor(stream: number, messages: KeptMessage[]) {
    this.#stream = stream;
    this.#messages = messages;
  }

  next(logEntry: LogEntry): void {
    const entry = readSessionEntry(logEntry.text);
    const { sequence } = logEntry;
    if (entry?.k === "get") {
      this.#activate(entry, entry.s ?? sequence);
      this.#activatedAt = positionOf(logEntry);
    } else if (entry?.k === "lost") this.#lose(entry, logEntry);
    else if (entry?.k === "push") this.#push(messageOf(logEntry, entry));
  }

  #activate({ n, c }: Extract<SessionEntry, { k: "get" }>, stream: number): void {
    const { waiting } = this;
    this.active = { stream, node: n };
    this.waiting = [];
    this.lost = undefined;
    this.changes = c;
    this.given = waiting;
    if (stream === this.#stream) this.#messages.push(...waiting);
  }

  #lose(entry: Extract<SessionEntry, { k: "lost" }>, logEntry: LogEntry): void {
    // Another node may have resumed the stream before this one noticed that its client was gone.
    if (!isActive(this.active, entry.s, entry.n)) return;
    const { stream } = this.active ?? {};
    // What came after its client had gone was not written, and waits like all that follows.
    const isWritten = ({ sequence }: KeptMessage): boolean => sequence <= entry.to;
    const unwritten = this.given.filter((message) => !isWritten(message));
    this.waiting = unwritten;
    this.given = this.given.filter(isWritten);
    if (stream === this.#stream) this.#messages.splice(this.#messages.length - unwritten.length);
    this.active = undefined;
    this.lost = entry;
    const lastWritten = this.given.at(-1)?.position ?? this.#activatedAt;
    this.waitedSince = unwritten.length > 0 && lastWritten ? lastWritten : positionOf(logEntry);
  }

  #push(message: KeptMessage): void {
    if (this.active === undefined) return void this.waiting.push(message);
    this.given.push(message);
    if (this.active.stream === this.#stream) this.#messages.push(message);
  }
}

/** Whether that stream, on that node, is the active one. */
export function isActive(active: Active | undefined, stream: number, node: string): boolean {
  return active?.stream === stream && (active.node === undefined || active.node === node);
}

/** The message of an entry. */
export function messageOf(
  logEntry: LogEntry,
  { m, scopes }: { readonly m: string; readonly scopes?: KeptMessage["scopes"] },
): KeptMessage {
  return { text: m, position: positionOf(logEntry), sequence: logEntry.sequence, scopes };
}

/** What a client gets first on its GET stream. */
export interface MissedOnGet {
  /** The place after which the messages come. */
  readonly at: string;
  /** The place in the log of changes after which its changes come; undefined if those are unknown. */
  readonly changes: string | undefined;
  readonly messages: readonly KeptMessage[];
}

/** What a resumed GET stream has missed, from the entries since its cursor; undefined if some of them are no longer kept. */
export function missedOnResume(
  entries: readonly LogEntry[],
  cursor: Extract<StreamCursor, { kind: "get" }>,
): MissedOnGet | undefined {
  const [first] = entries;
  const isStart = cursor.at === startOfLog;
  if (first === undefined || (isStart ? first.previous !== 0 : positionOf(first) !== cursor.at))
    return undefined;
  const messages: KeptMessage[] = [];
  const walk = new Walk(cursor.start, messages);
  const seen = isStart ? undefined : readSessionEntry(first.text);
  if (!isStart && seen?.k !== "push" && seen?.k !== "get" && seen?.k !== "lost") return undefined;
  if (seen?.k === "push") walk.active = { stream: cursor.start, node: undefined };
  if (seen?.k === "get") walk.active = { stream: seen.s ?? first.sequence, node: seen.n };
  for (const entry of isStart ? entries : entries.slice(1)) walk.next(entry);
  return { at: cursor.at, changes: cursor.changes, messages };
}

/** Whether the entries from that number on are all that the engine keeps: the one before them is gone, or there was none. */
export function isWholeLog([first]: readonly LogEntry[], from: number): boolean {
  return from <= 1 || (first !== undefined && (first.previous === 0 || first.previous >= from));
}

/** The node that had that GET stream before the entry `own`, if an entry that is kept says so. */
export function holderOf(entries: readonly LogEntry[], stream: number, own: number): string | undefined {
  for (const { sequence, text } of entries.filter((entry) => entry.sequence < own).toReversed()) {
    const entry = readSessionEntry(text);
    const isOf = (entry?.k === "get" || entry?.k === "lost") && (entry.s ?? sequence) === stream;
    if (isOf) return entry.n;
  }
  return undefined;
}

/**
 * What a new GET stream gets first, from all entries that are kept: the messages that waited for it when the entry `own` opened it. If
 * the client may have missed messages on an earlier stream, `changes` is undefined.
 */
export function missedOnOpen(
  entries: readonly LogEntry[],
  own: LogEntry,
  created: string | undefined,
  isGone: (node: string) => boolean,
): MissedOnGet {
  const { walk, waited } = walkTo(entries, own, own.sequence);
  const { active, lost, given, changes } = walk;
  if (active === undefined && lost === undefined) return { ...waited(), changes: created };
  const isUnread = lost !== undefined && given.length === 0 && changes === lost.c;
  if (lost !== undefined) return { ...waited(), changes: isUnread ? lost.c : undefined };
  const isOpenElsewhere = active?.node !== undefined && !isGone(active.node);
  const entry = readSessionEntry(own.text);
  return { ...waited(), changes: isOpenElsewhere && entry?.k === "get" ? entry.c : undefined };
}

/** What the stream of a cursor that is no longer kept gets first: the messages that waited when the entry `own` resumed it. */
export function missedAfterGap(entries: readonly LogEntry[], own: LogEntry, stream: number): MissedOnGet {
  return { ...walkTo(entries, own, stream).waited(), changes: undefined };
}

/** Follows the log to `own`, which opens or resumes `stream`. `waited` follows it further, and returns what belongs to the stream. */
function walkTo(
  entries: readonly LogEntry[],
  own: LogEntry,
  stream: number,
): { readonly walk: Walk; waited(): Omit<MissedOnGet, "changes"> } {
  const messages: KeptMessage[] = [];
  const walk = new Walk(stream, messages);
  const before = entries.filter(({ sequence }) => sequence < own.sequence);
  const [first] = before;
  // Somebody may have read a stream that opened before the first kept entry.
  if (first !== undefined && first.previous !== 0) walk.active = { stream: 0, node: undefined };
  for (const entry of before) walk.next(entry);
  const waited = (): Omit<MissedOnGet, "changes"> => {
    const { waiting, waitedSince } = walk;
    messages.length = 0;
    for (const entry of entries.slice(before.length)) walk.next(entry);
    return { at: waiting.length > 0 ? waitedSince : positionOf(own), messages };
  };
  return { walk, waited };
}

/** What a resumed POST stream has missed. */
export interface MissedOnPost {
  readonly post: Extract<SessionEntry, { k: "post" }>;
  readonly messages: readonly KeptMessage[];
  /** Whether the last of them ends the stream. */
  readonly hasEnded: boolean;
}

/** What a resumed POST stream has missed, from the entries since it opened; undefined if some of them are no longer kept. */
export function missedOnPost(
  entries: readonly LogEntry[],
  { start, at }: Extract<StreamCursor, { kind: "post" }>,
): MissedOnPost | undefined {
  const [opening] = entries;
  const post = opening?.sequence === start ? readSessionEntry(opening.text) : undefined;
  const isKnown = entries.some((entry) => entry.sequence === sequenceOf(at) && positionOf(entry) === at);
  if (post?.k !== "post" || !isKnown) return undefined;
  const messages: KeptMessage[] = [];
  for (const logEntry of entries) {
    const entry = readSessionEntry(logEntry.text);
    if (entry?.k !== "send" || entry.s !== start) continue;
    const { m } = entry;
    if (logEntry.sequence > sequenceOf(at)) {
      if (m === undefined) return undefined;
      messages.push(messageOf(logEntry, { m }));
    }
    if (entry.end) return { post, messages, hasEnded: true };
  }
  return { post, messages, hasEnded: false };
}
