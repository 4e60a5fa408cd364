// The messages on the wire, newest last; a click opens one.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatTime } from "../base/format.ts";
import { Empty } from "../components/empty.tsx";
import { CopyButton } from "./copy-button.tsx";
import { forgetLines, type WireRow, wireRows } from "./wire-log.ts";

/** So many rows are drawn at once; a button shows those before. */
const shownAtOnce = 200;
const nearEndPixels = 40;

export function WireView(): VNode {
  const { rows, dropped } = wireRows.use();
  const [shown, setShown] = useState(shownAtOnce);
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [rows]);
  const older = Math.max(0, rows.length - shown);
  if (rows.length === 0)
    return (
      <Empty title="No messages yet">
        <p>Connect, or call something: each message appears here.</p>
      </Empty>
    );
  return (
    <>
      <div class="pane-tools">
        <span class="muted figure">
          {rows.length} {rows.length === 1 ? "message" : "messages"}
          {dropped > 0 && `, ${dropped} dropped`}
        </span>
        <CopyButton label="Copy all as NDJSON" text={() => rows.map(({ line }) => `${line}\n`).join("")} />
        <button type="button" class="quiet" onClick={forgetLines}>
          Clear
        </button>
      </div>
      <ol
        class="wire-rows"
        ref={list}
        aria-label="Messages on the wire"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEndPixels;
        }}
      >
        {older > 0 && (
          <li>
            <button type="button" onClick={() => setShown(shown + shownAtOnce)}>
              Show {Math.min(older, shownAtOnce)} older ones
            </button>
          </li>
        )}
        {rows.slice(older).map((row) => (
          <Row key={row.number} row={row} />
        ))}
      </ol>
    </>
  );
}

function Row({ row }: { readonly row: WireRow }): VNode {
  const [isOpen, setOpen] = useState(false);
  const { time, direction, stream, label, isError, message } = row;
  return (
    <li class={direction}>
      <button type="button" class="wire-row" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <time dateTime={time}>{formatTime(Date.parse(time), true)}</time>
        <span class="arrow" title={direction}>
          <span class="hidden">{direction}</span>
          <span aria-hidden="true">{direction === "sent" ? "→" : "←"}</span>
        </span>
        <span class={isError ? "wire-label bad" : "wire-label"} title={label}>
          {label}
        </span>
        <span class="muted">{stream}</span>
      </button>
      {isOpen && (
        <pre class="text" tabIndex={0} role="region" aria-label={`Message: ${label}`}>
          {JSON.stringify(message, undefined, 2)}
        </pre>
      )}
    </li>
  );
}
