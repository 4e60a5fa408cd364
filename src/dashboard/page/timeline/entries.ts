// The entries of a followed client: polled, and kept on the page even after the server has dropped them.
import { useEffect, useState } from "preact/hooks";
import type { NodeRow, Timeline, TimelineEntry } from "../../answers.ts";
import { ask, type AskError } from "../base/api.ts";
import { isPaused, seenNodes, trouble } from "../base/polling.ts";

export interface Followed {
  /** The last answer; undefined until the first. */
  readonly timeline: Timeline | undefined;
  /** In the order of their beginning. */
  readonly entries: readonly TimelineEntry[];
  readonly error: AskError | undefined;
  /** Milliseconds that the server's clock is ahead of this one. */
  readonly aheadMs: number;
}

const everyMs = 1_000;
/** How often a hidden tab polls: the server drops a client that is not asked about for a minute. */
const hiddenEveryMs = 20_000;
const maxEntries = 6_000;

/** Follows the client for as long as the component is on screen, slowly while the tab is hidden. */
export function useFollowed(peer: string): Followed {
  const [followed, setFollowed] = useState<Followed>(nothing);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let answered: Followed = nothing;
    const poll = async (): Promise<void> => {
      clearTimeout(timer);
      const after = nextMark(answered.timeline);
      const next = await ask("timeline", { peer, ...(after && { after }) }, abort.signal).then(
        (timeline) => taken(answered, timeline),
        (error: AskError) => ({ ...answered, error }),
      );
      if (abort.signal.aborted) return;
      answered = next;
      // The server drops a client that is not asked about, so a paused page keeps polling.
      if (!isPaused.get()) setFollowed(next);
      trouble.set(next.error);
      if (next.timeline) seenNodes.set(next.timeline.nodes);
      timer = setTimeout(() => void poll(), document.hidden ? hiddenEveryMs : everyMs);
    };
    const wake = (): void => {
      if (!document.hidden && timer !== undefined) void poll();
    };
    document.addEventListener("visibilitychange", wake);
    void poll();
    return () => {
      document.removeEventListener("visibilitychange", wake);
      clearTimeout(timer);
      abort.abort();
      setFollowed(nothing);
    };
  }, [peer]);
  return followed;
}

const nothing: Followed = { timeline: undefined, entries: [], error: undefined, aheadMs: 0 };

/** A node that did not answer may have changes that are missing, so everything is requested until all nodes answer. */
function nextMark(timeline: Timeline | undefined): number | undefined {
  const isWhole = timeline?.nodes.every(({ state }: NodeRow) => state !== "silent");
  return isWhole ? timeline?.mark : undefined;
}

function taken({ entries }: Followed, timeline: Timeline): Followed {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  for (const entry of timeline.entries) byId.set(entry.id, entry);
  const sorted = [...byId.values()].toSorted((one, other) => one.startedAt - other.startedAt);
  return {
    timeline,
    entries: sorted.slice(-maxEntries),
    error: undefined,
    aheadMs: timeline.now - Date.now(),
  };
}
