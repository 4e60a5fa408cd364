// The labels of entries, and the tones in which they are drawn.
import type { TimelineEntry } from "../../answers.ts";
import type { Tone } from "../components/badge.tsx";
import { formatLatency, formatTime } from "../base/format.ts";

const outcomes: Readonly<Record<string, Tone>> = {
  ok: "good",
  accept: "good",
  completed: "good",
  answered: "good",
  error: "bad",
  failed: "bad",
  cut: "bad",
  slow: "bad",
  expired: "bad",
  cancelled: "warn",
  cancel: "warn",
  decline: "warn",
  paused: "warn",
};

/** The tone of an outcome. */
export function toneOfOutcome(outcome: string | undefined): Tone {
  return outcomes[outcome ?? ""] ?? "plain";
}

/** The classes of a bar: the tone of its entry, or of a bad one among many. */
export function toneOf(entries: readonly TimelineEntry[]): string {
  const tones = entries.map(({ outcome, kind }) => (kind === "gap" ? "bad" : toneOfOutcome(outcome)));
  if (entries.length === 1) return tones[0] ?? "";
  return tones.includes("bad") ? "has-bad" : "";
}

/** An entry in one line: `tools/call slow, 12:03:04.120, 320 ms, ok`. */
export function describe(entry: TimelineEntry, now: number): string {
  const { kind, label, startedAt, endedAt, outcome, points } = entry;
  const name = label === undefined ? kind : `${kind} ${label}`;
  const duration = endedAt === startedAt ? undefined : durationOf(entry, now);
  const marks =
    points.length > 0 && entry.lane === "streams" ? points.map(({ what }) => what).join(", ") : undefined;
  return [name, formatTime(startedAt, true), duration, marks, outcome].filter(Boolean).join(", ");
}

/** How long it took, or how long it has been going on. Timelines are heard to the millisecond. */
export function durationOf({ startedAt, endedAt }: TimelineEntry, now: number): string {
  return endedAt === undefined
    ? `${formatLatency(now - startedAt)} so far`
    : endedAt - startedAt < 1
      ? "< 1 ms"
      : formatLatency(endedAt - startedAt);
}
