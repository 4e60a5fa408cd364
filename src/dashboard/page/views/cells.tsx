// What several tables show in a cell: a client, a count, a bar, and the bytes that wait for a reader.
import type { VNode } from "preact";
import type { StreamRow } from "../../answers.ts";
import { formatBytes, formatCount, nothing } from "../base/format.ts";
import { hrefOf } from "../base/router.ts";
import { Badge, type Tone } from "../components/badge.tsx";

/** A reader with more unread bytes than this is behind: the server stops writing and queues further messages. */
export const behindBytes = 65_536;

export interface ClientProps {
  readonly peer: string;
  readonly client: string | undefined;
  readonly who?: string | undefined;
  /** Whether the client does not read its queued messages. */
  readonly isBehind?: boolean;
}

/** A client, with a link to its timeline. */
export function Client({ peer, client = "unnamed client", who, isBehind = false }: ClientProps): VNode {
  return (
    <>
      {isBehind && (
        <Badge tone="warn" title="It does not read what waits for it">
          behind
        </Badge>
      )}{" "}
      <a
        class="client"
        href={hrefOf("session", peer)}
        title={[client, who, "open its timeline"].filter(Boolean).join(" · ")}
      >
        {client}
        {who && <span class="muted"> {who}</span>}
      </a>
    </>
  );
}

interface TextProps {
  readonly of: string | undefined;
  /** The explanation when there is no text. */
  readonly missing?: string;
}

/** A text that may be cut off. */
export function Text({ of, missing }: TextProps): VNode {
  return of === undefined ? (
    <span class="muted" title={missing}>
      {nothing}
    </span>
  ) : (
    <span title={of}>{of}</span>
  );
}

/** A text of figures, such as a date or an address. */
export function Figures(props: TextProps): VNode {
  return (
    <span class="figure">
      <Text {...props} />
    </span>
  );
}

/** A count. Zero is shown faintly, so that other counts stand out. */
export function Count({ of, tone }: { readonly of: number; readonly tone?: Tone }): VNode {
  return <span class={of === 0 ? "muted" : tone}>{formatCount(of)}</span>;
}

/** Bytes that wait for a reader. */
export function Bytes({ of, isBehind }: { readonly of: number; readonly isBehind: boolean }): VNode {
  return <span class={isBehind ? "warn" : of === 0 ? "muted" : undefined}>{formatBytes(of)}</span>;
}

export interface BarProps {
  /** From 0 to 1. */
  readonly share: number;
  /** A share that is marked on the bar. */
  readonly mark?: number;
  readonly tone?: Tone;
}

export function Bar({ share, mark, tone = "plain" }: BarProps): VNode {
  return (
    <span class={`gauge ${tone}`} aria-hidden="true">
      <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      {mark !== undefined && <i style={{ left: `${mark * 100}%` }} />}
    </span>
  );
}

export type WaitingProps = Pick<StreamRow, "unsentBytes" | "queuedBytes" | "isBehind">;

/** The bytes that a stream's client has not read. */
export function Waiting({ unsentBytes, queuedBytes, isBehind }: WaitingProps): VNode {
  const bytes = unsentBytes + queuedBytes;
  const title =
    `${formatBytes(unsentBytes)} in the connection, ${formatBytes(queuedBytes)} in the queue. ` +
    `The mark is ${formatBytes(behindBytes)}: beyond it a reader is behind.`;
  return (
    <span class="measure" title={title}>
      <Bar share={waitingShare(bytes)} mark={0.5} tone={isBehind ? "warn" : "plain"} />
      <span class="value">
        <Bytes of={bytes} isBehind={isBehind} />
      </span>
    </span>
  );
}

/** Half of the bar up to where a reader is behind; from there each eighth is twice as much, up to 1 MB. */
function waitingShare(bytes: number): number {
  return bytes <= behindBytes ? bytes / behindBytes / 2 : 0.5 + Math.log2(bytes / behindBytes) / 8;
}
