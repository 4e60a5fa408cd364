// The entry that a link to a timeline names: a call has no id that its timeline knows, so the link says which call it was, and when.
import type { TimelineEntry } from "../../answers.ts";
import { formatTime } from "../base/format.ts";

/** A call as the list of last calls knows it. */
export interface WantedCall {
  readonly method: string;
  readonly name: string | undefined;
  /** Milliseconds since 1970, by the clock of the page. */
  readonly endedAt: number;
}

/** The part of a timeline's address that selects this call. */
export function wantedOf({ method, name = "", endedAt }: WantedCall): string {
  return `${Math.round(endedAt)} ${method} ${name}`;
}

export function readWanted(text: string | undefined): WantedCall | undefined {
  const [, endedAt, method = "", name] = /^(\d{1,15}) (\S+) (.*)$/.exec(text ?? "") ?? [];
  return endedAt === undefined ? undefined : { endedAt: Number(endedAt), method, name: name || undefined };
}

/** Milliseconds by which the times of a call may differ between the list and the timeline: answers take time. */
const tolerance = 2_000;

/** The entry of a call: of its method and name, the one that ended closest to its time. */
export function findWanted(
  entries: readonly TimelineEntry[],
  { method, name, endedAt }: WantedCall,
  aheadMs: number,
): TimelineEntry | undefined {
  const distance = (entry: TimelineEntry): number =>
    Math.abs((entry.endedAt ?? Infinity) - endedAt - aheadMs);
  const [nearest] = entries
    .filter(({ kind, label }) => kind === method && label === name)
    .toSorted((one, other) => distance(one) - distance(other));
  return nearest && distance(nearest) < tolerance ? nearest : undefined;
}

export function describeMissing({ method, name, endedAt }: WantedCall): string {
  return `The call of ${name ?? method} ended at ${formatTime(endedAt)}, before this client was followed.`;
}
