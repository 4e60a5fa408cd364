// The streams of a client: a bar for each, with a point for each cut and each resume; its session and gaps as points.
import type {
  GapEvent,
  SessionEvent,
  FollowedMessage,
  FollowedStream,
  FollowedStreamRef,
} from "../../window/index.ts";
import { OpenEntries } from "./open-entries.ts";
import { type Entry, nameOf, type Track } from "./track.ts";

/** Why a connection closes whose stream may be resumed. */
const interruptions: ReadonlySet<string | undefined> = new Set(["cut", "slow", "paused"]);

export class Streams {
  readonly #track: Track;
  readonly #open = new OpenEntries<{ readonly entry: Entry }>();

  constructor(track: Track) {
    this.#track = track;
  }

  /** `carried` is the entry of the call whose reply the stream is: a listen request and its stream share one entry. */
  changed({ at, stream, state, reason }: FollowedStream, carried: Entry | undefined): void {
    const { link, kind } = stream;
    const name = nameOf(stream);
    const known = this.#open.get(name)?.entry;
    if (state === "closed") {
      if (known) this.#close(name, known, at, reason, link !== undefined);
      return;
    }
    const entry =
      known ?? (kind === "listen" ? carried : undefined) ?? this.#begin(stream, at, carried?.label);
    this.#open.add(name, { entry });
    this.#track.update(entry, { endedAt: undefined, outcome: undefined, link: linkOf(link) ?? entry.link });
    if (state === "resumed") this.#track.mark(entry, at, "resumed");
  }

  /** A stream that was open before its client was followed is a bar from its first message on. */
  carried({ at, stream, eventId }: FollowedMessage): Entry | undefined {
    if (stream === undefined) return undefined;
    const name = nameOf(stream);
    const known = this.#open.get(name)?.entry;
    const entry = known ?? this.#open.add(name, { entry: this.#begin(stream, at, undefined) });
    if (eventId !== undefined) {
      const detail = `last event ${shortEventId(eventId)}`;
      this.#track.update(entry, { detail, link: entry.link ?? linkOf(stream.link) });
    }
    return entry;
  }

  /** A stream with the response to a POST ends with it, even while its client is disconnected. */
  answered({ at, stream }: FollowedMessage, label: string | undefined): void {
    const entry = stream?.kind === "post" ? this.#open.get(nameOf(stream))?.entry : undefined;
    if (entry === undefined) return;
    const isAway = entry.outcome !== undefined;
    this.#track.update(entry, { label: label ?? entry.label, ...(isAway && { endedAt: at }) });
  }

  session({ state, reason }: SessionEvent, at: number): void {
    this.#point("session", state, at, reason);
    if (state !== "ended") return;
    for (const { entry } of this.#open.takeAll())
      this.#track.update(entry, { endedAt: at, outcome: "ended" });
  }

  gap({ session }: GapEvent, at: number): void {
    this.#point("gap", session === undefined ? "everybody" : "this client", at, undefined);
  }

  #point(kind: string, label: string, startedAt: number, outcome: string | undefined): void {
    this.#track.addPoint({ lane: "streams", kind, label, startedAt, outcome });
  }

  #begin({ kind, link }: FollowedStreamRef, startedAt: number, label: string | undefined): Entry {
    return this.#track.begin({ lane: "streams", kind, label, startedAt, link: linkOf(link) });
  }

  #close(name: string, entry: Entry, at: number, reason = "ended", isResumable: boolean): void {
    if (isResumable && interruptions.has(reason)) {
      this.#track.mark(entry, at, reason);
      return this.#track.update(entry, { outcome: reason });
    }
    this.#open.take(name);
    this.#track.update(entry, { endedAt: at, outcome: reason });
  }
}

function linkOf(id: string | undefined): string | undefined {
  return id && `stream ${id}`;
}

/** An event id without the middle of its long parts. */
export function shortEventId(id: string): string {
  return id.length <= 20 ? id : `${id.slice(0, 8)}…${id.slice(-10)}`;
}
