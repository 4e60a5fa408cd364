// The timeline of one client: its calls, its questions, pushes to it, its streams and tasks.
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { lanes, type NodeRow, type Timeline as Answer, type TimelineEntry } from "../../answers.ts";
import { formatCount, formatDuration, formatTime } from "../base/format.ts";
import { type Binding, useKeys } from "../base/keyboard.ts";
import { Badge } from "../components/badge.tsx";
import { Empty } from "../components/empty.tsx";
import { Actions } from "../timeline/actions.tsx";
import { Chart } from "../timeline/chart.tsx";
import { useFollowed } from "../timeline/entries.ts";
import { EntryTable } from "../timeline/entry-table.tsx";
import { asTasks, endedElsewhere } from "../timeline/layout.ts";
import { Panel } from "../timeline/panel.tsx";
import { describeMissing, findWanted, readWanted, type WantedCall } from "../timeline/wanted.ts";
import { useNow, useTimeWindow } from "../timeline/window.ts";

/** `rest` has the name of the client, which stands in the address. */
export function Timeline({ rest: [peer = "", link] }: { readonly rest: readonly string[] }): VNode {
  const { timeline, entries: heard, error, aheadMs } = useFollowed(peer);
  const entries = useMemo(() => asTasks(endedElsewhere(heard)), [heard]);
  const now = useNow(aheadMs, 250);
  const window = useTimeWindow(now);
  const { chosen, isOpen, open, close } = useSelection(entries, window.reveal);
  const missing = useWanted(link, heard, { aheadMs, open, reveal: window.reveal });
  if (timeline === undefined)
    return error === undefined ? <p class="muted">Asking…</p> : <Empty title={error.message} />;
  const { since } = timeline;
  const marks = marksOf(timeline.nodes);
  const all = { from: Math.min(since, entries[0]?.startedAt ?? since), to: now };
  return (
    <section class="timeline">
      <Head timeline={timeline} now={now} />
      {missing && <p class="muted">{describeMissing(missing)}</p>}
      <Actions peer={peer} window={window} all={all} mayEnd={timeline.session?.era === "legacy"} />
      <div class="timeline-body">
        <div class="timeline-main">
          <Chart
            entries={entries}
            window={window}
            now={now}
            since={since}
            selected={chosen[0]?.id}
            nodeMarks={marks}
            onSelect={open}
          />
          {entries.length === 0 && (
            <Empty title={`Following since ${formatTime(since)}. Nothing has happened yet`}>
              <p>Call a tool with this client, or push something to it: it appears here as it happens.</p>
            </Empty>
          )}
          {entries.length > 0 && (
            <EntryTable
              entries={entries}
              now={now}
              marks={marks}
              chosen={isOpen ? chosen[0]?.id : undefined}
              onOpen={(entry) => open([entry])}
            />
          )}
        </div>
        {isOpen && (
          <Panel
            peer={peer}
            entries={chosen}
            now={now}
            linked={linkedTo(chosen, entries)}
            onSelect={open}
            onClose={close}
          />
        )}
      </div>
    </section>
  );
}

interface Selection {
  /** One entry, or several that are drawn as one bar. */
  readonly chosen: readonly TimelineEntry[];
  /** Whether its facts are shown. */
  readonly isOpen: boolean;
  open(entries: readonly TimelineEntry[]): void;
  /** Returns false if nothing was open. */
  close(): boolean;
}

/** What is chosen, by click or by the arrow keys. */
function useSelection(entries: readonly TimelineEntry[], reveal: (at: number) => void): Selection {
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [isOpen, setOpen] = useState(false);
  const chosen = entries.filter(({ id }) => selected.includes(id));
  const close = (): boolean => {
    setOpen(false);
    return isOpen;
  };
  const move = (entry: TimelineEntry): void => {
    setSelected([entry.id]);
    reveal(entry.startedAt);
  };
  useKeys([
    ...moving(entries, chosen.at(-1), move),
    { keys: "Escape", what: "Leave, or go back", run: close },
  ]);
  return {
    chosen,
    isOpen: isOpen && chosen.length > 0,
    open(wanted) {
      setSelected(wanted.map(({ id }) => id));
      setOpen(true);
    },
    close,
  };
}

interface Finder {
  readonly aheadMs: number;
  readonly open: Selection["open"];
  readonly reveal: (at: number) => void;
}

/** Selects the call that the address names, once it is there. Returns it until then. */
function useWanted(
  link: string | undefined,
  entries: readonly TimelineEntry[],
  { aheadMs, open, reveal }: Finder,
): WantedCall | undefined {
  const [wanted, setWanted] = useState<WantedCall>();
  useEffect(() => setWanted(readWanted(link)), [link]);
  useEffect(() => {
    const found = wanted && findWanted(entries, wanted, aheadMs);
    if (found === undefined) return;
    setWanted(undefined);
    open([found]);
    reveal(found.startedAt);
  }, [wanted, entries]);
  return wanted;
}

function Head({ timeline, now }: { readonly timeline: Answer; readonly now: number }): VNode {
  const { session, since, dropped, peer, nodes } = timeline;
  const marks = marksOf(nodes);
  return (
    <header class="timeline-head">
      <h2>{session?.client ?? session?.who ?? `Client ${peer}`}</h2>
      {session === undefined ? (
        <Badge tone="warn">not here now</Badge>
      ) : (
        <>
          <Badge tone="accent">{session.revision ?? session.era}</Badge>
          {session.who !== undefined && <span class="muted">{session.who}</span>}
          <span class="muted">
            idle <span class="figure">{formatDuration(session.idleMs)}</span>
          </span>
        </>
      )}
      {marks === undefined ? (
        <span class="muted">{session?.node}</span>
      ) : (
        nodes.map(({ id, name }) => (
          <span key={id} class="muted node-mark">
            <b>{marks.get(name)}</b> {name}
          </span>
        ))
      )}
      <span class="muted">
        followed since <span class="figure">{formatTime(since)}</span> ({formatDuration(now - since)})
      </span>
      {dropped > 0 && <span class="warn">{formatCount(dropped)} earlier entries were dropped</span>}
    </header>
  );
}

/** A letter for each node, if there is more than one. */
function marksOf(nodes: readonly NodeRow[]): ReadonlyMap<string, string> | undefined {
  if (nodes.length < 2) return undefined;
  const names = nodes.map(({ name }) => name).toSorted();
  return new Map(names.map((name, index) => [name, String.fromCharCode(65 + (index % 26))]));
}

function linkedTo(chosen: readonly TimelineEntry[], entries: readonly TimelineEntry[]): TimelineEntry[] {
  const [one] = chosen;
  if (chosen.length !== 1 || one?.link === undefined) return [];
  return entries.filter(({ id, link, node }) => link === one.link && id !== one.id && node !== one.node);
}

/** Left and right go from entry to entry of a lane, up and down to the next lane; Enter opens, as with every button. */
function moving(
  entries: readonly TimelineEntry[],
  current: TimelineEntry | undefined,
  move: (entry: TimelineEntry) => void,
): Binding[] {
  const show = (entry: TimelineEntry | undefined): boolean => {
    if (entry !== undefined) move(entry);
    return entry !== undefined;
  };
  const along = (by: number) => (): boolean => {
    if (current === undefined) return show(entries.at(-1));
    const same = entries.filter(({ lane }) => lane === current.lane);
    return show(same[same.findIndex(({ id }) => id === current.id) + by]);
  };
  const across = (by: number) => (): boolean => {
    if (current === undefined) return show(entries.at(-1));
    const from = lanes.indexOf(current.lane);
    const others = by > 0 ? lanes.slice(from + 1) : lanes.slice(0, from).toReversed();
    const lane = others.find((each) => entries.some((entry) => entry.lane === each));
    return show(
      nearest(
        entries.filter((entry) => entry.lane === lane),
        current.startedAt,
      ),
    );
  };
  return [
    { keys: "ArrowLeft", what: "Entry before", run: along(-1) },
    { keys: "ArrowRight", what: "Next entry", run: along(1) },
    { keys: "ArrowUp", what: "Lane above", run: across(-1) },
    { keys: "ArrowDown", what: "Lane below", run: across(1) },
  ];
}

function nearest(entries: readonly TimelineEntry[], at: number): TimelineEntry | undefined {
  const distance = ({ startedAt }: TimelineEntry): number => Math.abs(startedAt - at);
  return entries.toSorted((one, other) => distance(one) - distance(other))[0];
}
