// Reads from the log of a session what a client gets when it connects: the messages of its stream that it has missed.
import type { LogEntry } from "../../../cluster/engine/engine.ts";
import { positionOf, sequenceOf, startOfLog } from "../../../cluster/engine/log-entries.ts";
import { readSessionEntry, type SessionEntry } from "../../../server/push/session-entries.ts";
import type { StreamCursor } from "./cursor.ts";

/** A message of a stream, and its place in the log. */
export interface KeptMessage {
  readonly text: string;
  readonly position: string;
  readonly sequence: number;
  readonly scopes: readonly string[] | undefined;
}

/** The GET stream that gets the messages, at some place in the log. */
export interface Active {
  readonly stream: number;
  /** Undefined if that entry is no longer kept. */
  readonly node: string | undefined;
  /** The number of the entry that connected it, or of a later one that its client has; 0 if that is unknown. */
  readonly since: number;
}

type GetEntry = Extract<SessionEntry, { k: "get" }>;
type LostEntry = Extract<SessionEntry, { k: "lost" }>;

/** Follows the log from one entry to the next: which GET stream is active, and which messages belong to which. */
class Walk {
  active: Active | undefined;
  /** The messages that wait for the next GET stream. */
  waiting: KeptMessage[] = [];
  /** The last entry after which messages waited. */
  waitedSince: string = startOfLog;
  /** The `lost` entry that ended the last GET stream, if no other has become active since. */
  lost: LostEntry | undefined;
  /** The position after which the active stream may have written changes; undefined if it is unknown. */
  changes: string | undefined;
  /** Streams that carried messages which no resume and no gap has covered, by the number of the last one. */
  readonly uncovered = new Map<number, number>();
  /** Streams with changes that no resume and no gap has covered. */
  readonly uncoveredChanges = new Set<number>();
  /** The messages of the active stream since it became active, or of the last one before it was lost. */
  #given: KeptMessage[] = [];
  /** The entry with which the active stream became active, and what was uncovered of it then. */
  #activatedAt: string | undefined;
  #uncoveredBefore: number | undefined;
  readonly #stream: number;
  readonly #messages: KeptMessage[];

  /** Adds the messages that belong to `stream` to `messages`. */
  constructor(stream: number, messages: KeptMessage[], active?: Active) {
    this.#stream = stream;
    this.#messages = messages;
    this.active = active;
  }

  /** Whether the client may have missed messages or changes on its streams, apart from changes of the active one. */
  get isUncovered(): boolean {
    return this.uncovered.size + this.uncoveredChanges.size > 0;
  }

  next(logEntry: LogEntry): void {
    const entry = readSessionEntry(logEntry.text);
    if (entry?.k === "get") this.#activate(entry, logEntry);
    else if (entry?.k === "lost") this.#lose(entry, logEntry);
    else if (entry?.k === "push") this.#push(messageOf(logEntry, entry));
  }

  #activate(entry: GetEntry, logEntry: LogEntry): void {
    if (!countsAfter(this.active, entry)) return;
    const { waiting } = this;
    const stream = entry.s ?? logEntry.sequence;
    this.#cover(entry, stream);
    this.#activatedAt = positionOf(logEntry);
    this.#uncoveredBefore = this.uncovered.get(stream);
    this.active = activeBy(entry, logEntry);
    this.waiting = [];
    this.#given = [];
    this.lost = undefined;
    for (const message of waiting) this.#push(message);
  }

  /** A resume shows what the client has received of its stream. A new stream begins with a gap if anything is uncovered. */
  #cover({ s, has, c }: GetEntry, stream: number): void {
    const { active } = this;
    if (s === undefined) {
      const hasGap = this.isUncovered;
      this.uncovered.clear();
      this.uncoveredChanges.clear();
      // The client may miss the notifications about the gap too.
      if (hasGap) this.uncoveredChanges.add(stream);
      return;
    }
    if (active !== undefined && active.stream !== s) this.uncoveredChanges.add(active.stream);
    if (has === undefined) return;
    if ((this.uncovered.get(s) ?? 0) <= has) this.uncovered.delete(s);
    this.uncoveredChanges.delete(s);
    this.changes = c;
  }

  #lose(entry: LostEntry, logEntry: LogEntry): void {
    if (!endsActive(this.active, entry)) return;
    // Messages after the client disconnected were not written, and wait like all that follow.
    const isWritten = ({ sequence }: KeptMessage): boolean => sequence <= entry.to;
    const unwritten = this.#given.filter((message) => !isWritten(message));
    const last = this.#given.findLast(isWritten);
    const uncovered = last?.sequence ?? this.#uncoveredBefore;
    if (uncovered === undefined) this.uncovered.delete(entry.s);
    else this.uncovered.set(entry.s, uncovered);
    if (entry.told) this.uncoveredChanges.add(entry.s);
    if (entry.s === this.#stream) this.#messages.splice(this.#messages.length - unwritten.length);
    this.waiting = unwritten;
    this.#given = [];
    this.active = undefined;
    this.lost = entry;
    const lastWritten = last?.position ?? this.#activatedAt;
    this.waitedSince = unwritten.length > 0 && lastWritten ? lastWritten : positionOf(logEntry);
  }

  #push(message: KeptMessage): void {
    if (this.active === undefined) return void this.waiting.push(message);
    const { stream } = this.active;
    this.#given.push(message);
    this.uncovered.set(stream, message.sequence);
    if (stream === this.#stream) this.#messages.push(message);
  }
}

/** Stands for the stream that was active before the first entry that is kept. */
const unknownStream = 0;

/** Whether that stream, on that node, is the active one. */
function isActive(active: Active | undefined, stream: number, node: string): boolean {
  const isSame = active?.stream === stream || active?.stream === unknownStream;
  return isSame && (active.node === undefined || active.node === node);
}

/** The stream that an entry makes active. */
export function activeBy({ s, has, n }: GetEntry, { sequence }: LogEntry): Active {
  // A stream that takes over was connected before.
  const isConnected = s === undefined || has !== undefined;
  return { stream: s ?? sequence, node: n, since: isConnected ? sequence : 0 };
}

/**
 * Whether a `lost` entry is about the connection of the active stream. The client may have resumed it, there or on another node, before
 * the log had the end of an earlier connection: nothing was written to that one after the entry of the resume.
 */
export function endsActive(active: Active | undefined, { s, n, to }: LostEntry): boolean {
  return active !== undefined && isActive(active, s, n) && to >= active.since;
}

/** Whether an entry makes its stream active: of several streams that take over at once, only the first does. */
export function countsAfter(active: Active | undefined, { over }: GetEntry): boolean {
  if (over === undefined) return true;
  const [stream, node = ""] = over;
  return stream === undefined ? active === undefined : isActive(active, stream, node);
}

/** Whether the entry says that a client has resumed its stream on another node than this one. */
export function movesAway(entry: SessionEntry, node: string): entry is GetEntry & { readonly s: number } {
  return entry.k === "get" && entry.s !== undefined && entry.has !== undefined && entry.n !== node;
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
  /** The position after which the messages follow. */
  readonly at: string;
  /** The position in the log of changes after which its changes follow; undefined if it is unknown. */
  readonly changes: string | undefined;
  readonly messages: readonly KeptMessage[];
}

/**
 * What a resumed GET stream has missed when the entry `own` resumed it, from the entries since its cursor; undefined if some of them
 * are no longer kept.
 */
export function missedOnResume(
  entries: readonly LogEntry[],
  own: LogEntry,
  cursor: Extract<StreamCursor, { kind: "get" }>,
): MissedOnGet | undefined {
  const [first] = entries;
  const isStart = cursor.at === startOfLog;
  if (first === undefined || (isStart ? first.previous !== 0 : positionOf(first) !== cursor.at))
    return undefined;
  const seen = isStart ? undefined : readSessionEntry(first.text);
  if (!isStart && seen?.k !== "push" && seen?.k !== "get" && seen?.k !== "lost") return undefined;
  const messages: KeptMessage[] = [];
  const walk = new Walk(cursor.start, messages, activeAt(seen, first, cursor.start));
  for (const entry of upTo(own, isStart ? entries : entries.slice(1))) walk.next(entry);
  return { at: cursor.at, changes: cursor.changes, messages };
}

/** The stream that is active after the entry that the client of `stream` has seen last. */
function activeAt(seen: SessionEntry | undefined, at: LogEntry, stream: number): Active | undefined {
  if (seen?.k === "push") return { stream, node: undefined, since: at.sequence };
  return seen?.k === "get" ? activeBy(seen, at) : undefined;
}

function upTo({ sequence }: LogEntry, entries: readonly LogEntry[]): readonly LogEntry[] {
  return entries.filter((entry) => entry.sequence <= sequence);
}

/** Whether the entries from that number on are the whole log that the engine keeps, because there is none before them. */
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
 * What a new GET stream gets first, from all entries that are kept: the messages that waited for it when the entry `own` opened
 * it. If an earlier stream carried something that no resume and no gap has covered since, `changes` is undefined: it may be lost,
 * whether that stream is open or not. `created` is the position in the log of changes at which the session began, and
 * `haveChanged` returns whether changes after a position were meant for the client.
 */
export function missedOnOpen(
  entries: readonly LogEntry[],
  own: LogEntry,
  created: string | undefined,
  haveChanged: (position: string) => boolean,
): MissedOnGet {
  const walk = walkTo(entries, own.sequence, created);
  const { active, lost, changes, isUncovered } = walk;
  const mayBeLost =
    isUncovered ||
    (lost === undefined && active !== undefined && (changes === undefined || haveChanged(changes)));
  return { ...waitedIn(walk, own), changes: mayBeLost ? undefined : (lost?.c ?? changes) };
}

/** Whether a GET stream is open after these entries, which are all that are kept, or may be. */
export function hasActive(entries: readonly LogEntry[]): boolean {
  return walkTo(entries).active !== undefined;
}

/** What the stream of a cursor that is no longer kept gets first: the messages that waited when the entry `own` resumed it. */
export function missedAfterGap(entries: readonly LogEntry[], own: LogEntry): MissedOnGet {
  return { ...waitedIn(walkTo(entries, own.sequence), own), changes: undefined };
}

/** Follows the log to the entry before number `end`. */
function walkTo(entries: readonly LogEntry[], end = Number.POSITIVE_INFINITY, created?: string): Walk {
  // A stream may have opened before the first kept entry, and carried anything.
  const isWhole = entries.length === 0 || entries[0]?.previous === 0;
  const walk = new Walk(end, [], isWhole ? undefined : { stream: unknownStream, node: undefined, since: 0 });
  if (isWhole) walk.changes = created;
  else walk.uncoveredChanges.add(unknownStream);
  for (const entry of entries) if (entry.sequence < end) walk.next(entry);
  return walk;
}

/** The messages that wait there, and the place after which they come. */
function waitedIn({ waiting, waitedSince }: Walk, own: LogEntry): Omit<MissedOnGet, "changes"> {
  return { at: waiting.length > 0 ? waitedSince : positionOf(own), messages: waiting };
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
