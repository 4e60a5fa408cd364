// The facts of an entry, and its messages when the user opens them.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Messages, TimelineEntry } from "../../answers.ts";
import { ask } from "../base/api.ts";
import { formatCount, formatLatency, formatTime } from "../base/format.ts";
import { Badge } from "../components/badge.tsx";
import { describe, durationOf, toneOfOutcome } from "./wording.ts";

export interface PanelProps {
  readonly peer: string;
  /** One, or several that are drawn as one bar. */
  readonly entries: readonly TimelineEntry[];
  readonly now: number;
  /** The entries of other nodes about the same thing. */
  readonly linked: readonly TimelineEntry[];
  readonly onSelect: (entries: readonly TimelineEntry[]) => void;
  readonly onClose: () => void;
}

export function Panel({ entries, onClose, ...props }: PanelProps): VNode {
  const [entry] = entries as readonly [TimelineEntry];
  const title = entries.length > 1 ? `${entries.length} entries` : entry.kind;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.scrollIntoView({ block: "nearest" }), [entry.id]);
  return (
    <aside class="panel" aria-label="Entry" ref={panel}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {entries.length > 1 ? (
        <Several {...props} entries={entries} />
      ) : (
        <>
          <Facts entry={entry} now={props.now} />
          <Wire key={entry.id} peer={props.peer} entry={entry} linked={props.linked} />
        </>
      )}
    </aside>
  );
}

const maxListed = 100;

function Several({ entries, now, onSelect }: Pick<PanelProps, "entries" | "now" | "onSelect">): VNode {
  return (
    <ul class="several">
      {entries.slice(0, maxListed).map((entry) => (
        <li key={entry.id}>
          <button type="button" class="quiet" onClick={() => onSelect([entry])}>
            {describe(entry, now)}
          </button>
        </li>
      ))}
      {entries.length > maxListed && <li class="muted">and {entries.length - maxListed} more: zoom in</li>}
    </ul>
  );
}

function Facts({ entry, now }: { readonly entry: TimelineEntry; readonly now: number }): VNode {
  const { label, startedAt, endedAt, outcome, node, detail, points } = entry;
  const facts: readonly (readonly [string, VNode | string | undefined])[] = [
    ["Name", label],
    ["Began", formatTime(startedAt, true)],
    ["Took", endedAt === startedAt ? undefined : durationOf(entry, now)],
    ["Outcome", outcome && <Badge tone={toneOfOutcome(outcome)}>{outcome}</Badge>],
    ["Node", node],
    ["Detail", detail],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd class={typeof value === "string" ? "figure" : undefined}>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {points.length > 0 && (
        <ol class="points" aria-label="Points">
          {points.map(({ at, what }, index) => (
            <li key={index}>
              <span class="figure">+{formatLatency(at - startedAt)}</span> {what}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const shownAtOnce = 50;

/** The messages. Their arguments and results are requested only on demand. */
function Wire({
  peer,
  entry,
  linked,
}: {
  readonly peer: string;
  readonly entry: TimelineEntry;
  readonly linked: readonly TimelineEntry[];
}): VNode {
  const [wanted, setWanted] = useState(0);
  const [messages, setMessages] = useState<Messages>();
  const [error, setError] = useState<string>();
  const count = [entry, ...linked].reduce((sum, { messages: each }) => sum + each, 0);
  useEffect(() => {
    if (wanted === 0) return undefined;
    const abort = new AbortController();
    const ids = [entry, ...linked].map(({ id }) => id);
    ask("messages", { peer, entries: ids }, abort.signal).then(setMessages, (reason: Error) => {
      if (!abort.signal.aborted) setError(reason.message);
    });
    return () => abort.abort();
  }, [wanted > 0, count]);
  if (count === 0) return <p class="muted">It has no messages.</p>;
  if (wanted === 0)
    return (
      <button type="button" onClick={() => setWanted(shownAtOnce)}>
        Show messages ({formatCount(count)})
      </button>
    );
  const lines = messages?.lines ?? [];
  return (
    <div class="wire" aria-label="Messages" role="group">
      {error !== undefined && <p class="bad">{error}</p>}
      {messages !== undefined && lines.length === 0 && <p class="muted">The messages are no longer kept.</p>}
      {lines.slice(0, wanted).map((line, index) => (
        <Line key={index} line={line} />
      ))}
      {lines.length > wanted && (
        <button type="button" onClick={() => setWanted(wanted + shownAtOnce)}>
          Show {formatCount(Math.min(shownAtOnce, lines.length - wanted))} more
        </button>
      )}
    </div>
  );
}

function Line({ line }: { readonly line: Messages["lines"][number] }): VNode {
  const isSent = line.direction === "sent";
  return (
    <article>
      <p class="muted">
        <b class={isSent ? "sent" : "received"}>{isSent ? "client →" : "← server"}</b>{" "}
        <span class="figure">{formatTime(Date.parse(line.time), true)}</span> {line.stream}
      </p>
      <pre>{JSON.stringify(line.message, null, 2)}</pre>
    </article>
  );
}
