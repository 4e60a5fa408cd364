// The timeline of one client on all nodes. Asking for it follows the client.
import type { Timeline, TimelineEntry } from "../answers.ts";
import type { Entry } from "../following/track.ts";
import { bytesOf, maxBusBytes } from "./bus-size.ts";
import { sessions, sessionsOn } from "./sessions.ts";
import type { SharedView } from "./view.ts";

interface TimelinePart extends Omit<Timeline, "nodes" | "peer" | "session" | "now"> {
  /** The rows of the client in the view of sessions. */
  readonly sessions: ReturnType<typeof sessionsOn>;
}

export const timeline: SharedView<"timeline", TimelinePart> = {
  answer(node, { peer, after = 0 }) {
    const { track, since } = node.clients.follow(peer);
    const changed = track.after(after);
    const entries = upTo(maxBusBytes, changed);
    const last = entries.at(-1);
    const mark = entries.length < changed.length && last ? last.changed : node.clients.mark();
    const { dropped } = track;
    return {
      sessions: sessionsOn(node, { peer }),
      since,
      entries: entries.map(toEntry),
      mark,
      dropped,
    };
  },

  merge(parts, { peer }, self) {
    const { rows } = sessions.merge(
      parts.map((each) => ({ ...each, part: each.part.sessions })),
      {},
      self,
    );
    const all = parts.map(({ part }) => part);
    const entries = parts.flatMap(({ node, aheadMs, part }) =>
      part.entries.map((entry) => onClockOf(entry, node, aheadMs)),
    );
    return {
      peer,
      session: rows.find((row) => row.peer === peer),
      since: Math.min(...parts.map(({ part, aheadMs }) => part.since - aheadMs)),
      now: Date.now(),
      entries: entries.toSorted((one, other) => one.startedAt - other.startedAt),
      // With the mark of another node, a node whose clock is behind would miss changes.
      mark: Math.min(...all.map(({ mark }) => mark)),
      dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
    };
  },
};

/** The first entries, which fit into one answer. The next answer has the rest. */
function upTo(bytes: number, entries: readonly Entry[]): readonly Entry[] {
  let left = bytes;
  const end = entries.findIndex((entry) => (left -= bytesOf(entry)) < 0);
  return end < 0 ? entries : entries.slice(0, Math.max(1, end));
}

function toEntry(entry: Entry): TimelineEntry {
  const { changed: _, ...shown } = entry;
  return shown;
}

/** The entry with its node, and with times as the clock of the node that was asked has them. */
function onClockOf(entry: TimelineEntry, node: string, aheadMs: number): TimelineEntry {
  const shifted = (at: number): number => Math.round(at - aheadMs);
  return {
    ...entry,
    node,
    startedAt: shifted(entry.startedAt),
    endedAt: entry.endedAt === undefined ? undefined : shifted(entry.endedAt),
    points: entry.points.map(({ at, what }) => ({ at: shifted(at), what })),
  };
}
