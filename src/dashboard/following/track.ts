// The data of one followed client: the entries of its timeline and their messages, both bounded.
import type { RecordedLine } from "../../client/index.ts";
import { type FollowedMessage, type FollowedStreamRef, withoutSecrets } from "../../window/index.ts";
import type { TimelineEntry } from "../answers.ts";
import { cut } from "../sampling/texts.ts";
import { isShortened } from "./kept.ts";
import { followingLimits } from "./limits.ts";

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** An entry that can still change. */
export interface Entry extends Writable<Omit<TimelineEntry, "points">> {
  readonly points: { readonly at: number; readonly what: string }[];
  /** When it changed last, as a mark. */
  changed: number;
}

/** What is known of an entry when it begins. */
export type Beginning = Pick<TimelineEntry, "lane" | "kind" | "startedAt"> &
  Partial<Pick<TimelineEntry, "label" | "endedAt" | "outcome" | "detail" | "link">>;

/** A message with its secrets, which are removed when it is shown. */
interface Line extends Pick<FollowedMessage, "at" | "direction" | "session" | "text"> {
  readonly stream: string;
  readonly entries: readonly string[];
}

/** Characters of each text of an entry. Past it, the text is cut. */
export const maxText = 200;

export class Track {
  readonly #node: string;
  readonly #mark: () => number;
  readonly #entries = new Map<string, Entry>();
  #lines: Line[] = [];
  #characters = 0;
  #count = 0;
  /** How many entries, and how many messages, were dropped. */
  dropped = 0;
  droppedMessages = 0;

  /** `node` begins the ids of its entries; `mark` returns the present mark. */
  constructor(node: string, mark: () => number) {
    this.#node = node;
    this.#mark = mark;
  }

  begin(beginning: Beginning): Entry {
    const entry: Entry = {
      id: `${this.#node}-${++this.#count}`,
      // The merged answer names the node.
      node: "",
      label: undefined,
      endedAt: undefined,
      outcome: undefined,
      detail: undefined,
      link: undefined,
      points: [],
      messages: 0,
      ...cutTexts(beginning),
      changed: this.#mark(),
    };
    this.#entries.set(entry.id, entry);
    if (this.#entries.size > followingLimits.maxEntries) this.#dropEntry();
    return entry;
  }

  /** Adds something without a duration. */
  addPoint(beginning: Beginning): Entry {
    return this.begin({ ...beginning, endedAt: beginning.startedAt });
  }

  /** Records that the entry has changed, or ends it. */
  update(entry: Entry, change: Partial<Omit<Entry, "id" | "changed">>): void {
    Object.assign(entry, cutTexts(change), { changed: this.#mark() });
  }

  /** Adds a point to a bar, which loses its oldest one if it has too many. */
  mark(entry: Entry, at: number, what: string): void {
    entry.points.push({ at, what: cut(what, maxText) });
    if (entry.points.length > followingLimits.maxPoints) entry.points.shift();
    entry.changed = this.#mark();
  }

  /** Keeps a message of these entries. */
  keep(message: FollowedMessage, entries: readonly (Entry | undefined)[]): void {
    const owners = entries.filter((entry) => entry !== undefined);
    for (const entry of owners) {
      entry.messages++;
      entry.changed = this.#mark();
    }
    if (isShortened(message)) this.droppedMessages++;
    const { at, direction, session, text, stream } = message;
    const line = { at, direction, session, text, stream: stream ? nameOf(stream) : "post" };
    this.#lines.push({ ...line, entries: owners.map(({ id }) => id) });
    this.#characters += text.length;
    const { maxMessages, maxCharacters } = followingLimits;
    while (this.#lines.length > maxMessages || this.#characters > maxCharacters) {
      this.#characters -= this.#lines.shift()?.text.length ?? 0;
      this.droppedMessages++;
    }
  }

  /** The entries that have changed after the mark, in the order of their changes. */
  after(mark: number): Entry[] {
    const changed = [...this.#entries.values()].filter((entry) => entry.changed > mark);
    return changed.toSorted((one, other) => one.changed - other.changed);
  }

  /** How many messages there are, or are behind these entries. */
  count(entries?: readonly string[]): number {
    return this.#linesOf(entries).length;
  }

  /** The newest messages, or those behind these entries, with at most so many characters, without their secrets. */
  async lines(entries: readonly string[] | undefined, maxCharacters: number): Promise<RecordedLine[]> {
    let left = maxCharacters;
    const all = this.#linesOf(entries);
    const lines = all.slice(all.findLastIndex(({ text }) => (left -= text.length) < 0) + 1);
    const recorded: RecordedLine[] = [];
    let characters = 0;
    for (const line of lines) {
      recorded.push(toRecorded(line));
      characters += line.text.length;
      if (characters < charactersPerTurn) continue;
      characters = 0;
      await new Promise((resolve) => setTimeout(resolve));
    }
    return recorded;
  }

  #linesOf(entries: readonly string[] | undefined): readonly Line[] {
    const wanted = entries && new Set(entries);
    return wanted ? this.#lines.filter((line) => line.entries.some((id) => wanted.has(id))) : this.#lines;
  }

  /** Drops the oldest entry that has ended, or the oldest one. */
  #dropEntry(): void {
    let oldest: string | undefined;
    for (const { id, endedAt } of this.#entries.values()) {
      oldest ??= id;
      if (endedAt === undefined) continue;
      oldest = id;
      break;
    }
    this.#entries.delete(oldest ?? "");
    this.dropped++;
  }
}

/** The change with all texts cut, because clients choose most of them. */
function cutTexts<Change extends object>(change: Change): Change {
  const members = Object.entries(change).map(([name, value]) => [
    name,
    typeof value === "string" ? cut(value, maxText) : value,
  ]);
  return Object.fromEntries(members) as Change;
}

/** Names the stream in this process and in recordings, such as `get 3`. */
export function nameOf({ kind, id }: FollowedStreamRef): string {
  return `${kind} ${id}`;
}

/** Characters whose secrets are removed before other work of the server gets its turn. */
const charactersPerTurn = 65_536;

function toRecorded({ at, direction, stream, session, text }: Line): RecordedLine {
  return { time: new Date(at).toISOString(), direction, stream, message: shown(text, session) };
}

/** Levels of a message that is shown. A tool may return anything, even what is nested too deeply for the stack. */
const maxLevels = 1000;

function shown(text: string, session: string | undefined): unknown {
  if (levelsIn(text) > maxLevels) return { leftOut: `more than ${maxLevels} levels` };
  return withoutSecrets(JSON.parse(text), session);
}

/** How deep the arrays and objects of a JSON text nest. */
function levelsIn(text: string): number {
  let [level, deepest] = [0, 0];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++level);
    else if (token === "]" || token === "}") level--;
  }
  return deepest;
}
