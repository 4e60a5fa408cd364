// The messages on the wire, as the client records them: without secrets, and only the newest.
import type { RecordedLine } from "halyard/client";
import { storeOf } from "../base/store.ts";

export interface WireRow {
  readonly number: number;
  /** As it was recorded: a line of JSON. */
  readonly line: string;
  readonly time: string;
  readonly direction: RecordedLine["direction"];
  readonly stream: string;
  readonly message: unknown;
  /** What the message is, such as `tools/call search` or `result of tools/list`. */
  readonly label: string;
  readonly isError: boolean;
}

const maxRows = 1_000;
const maxCharacters = 8_000_000;

/** The rows that are kept, oldest first, and how many were dropped. */
export const wireRows = storeOf<{ readonly rows: readonly WireRow[]; readonly dropped: number }>({
  rows: [],
  dropped: 0,
});

let count = 0;
/** The method of each request without a response, by its sender and id. */
const asked = new Map<string, string>();
/** Rows that are not shown yet, because many messages a second are shown together. */
let waiting: WireRow[] = [];
const showAfterMs = 50;

/** Keeps a line of the client's recording. */
export function keepLine(line: string): void {
  const { time, direction, stream, message } = JSON.parse(line) as RecordedLine;
  const { label, isError } = describe(message, direction);
  count += 1;
  if (waiting.length === 0) setTimeout(show, showAfterMs);
  waiting.push({ number: count, line, time, direction, stream, message, label, isError });
}

function show(): void {
  const { rows, dropped } = wireRows.get();
  const all = [...rows, ...waiting];
  const kept = within(all);
  waiting = [];
  wireRows.set({ rows: kept, dropped: dropped + all.length - kept.length });
}

export function forgetLines(): void {
  wireRows.set({ rows: [], dropped: 0 });
}

/** The newest rows that fit. */
function within(rows: readonly WireRow[]): readonly WireRow[] {
  let characters = 0;
  const first = rows.findLastIndex((row, index) => {
    characters += row.line.length;
    return characters > maxCharacters || rows.length - index > maxRows;
  });
  return rows.slice(first + 1);
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown; readonly uri?: unknown } | null;
  readonly result?: { readonly isError?: unknown } | null;
  readonly error?: { readonly code?: unknown } | null;
}

function describe(
  value: unknown,
  direction: RecordedLine["direction"],
): { readonly label: string; readonly isError: boolean } {
  if (Array.isArray(value)) return { label: `batch of ${value.length}`, isError: false };
  if (typeof value !== "object" || value === null) return { label: String(value), isError: true };
  const { id, method, params, result, error } = value as Message;
  if (typeof method === "string") {
    const about = params?.name ?? params?.uri;
    const label = typeof about === "string" ? `${method} ${about}` : method;
    if (id !== undefined) asked.set(`${direction} ${JSON.stringify(id)}`, label);
    return { label, isError: false };
  }
  const key = `${direction === "sent" ? "received" : "sent"} ${JSON.stringify(id)}`;
  const request = asked.get(key) ?? "an unknown request";
  asked.delete(key);
  if (error) return { label: `error ${String(error.code)} of ${request}`, isError: true };
  return { label: `result of ${request}`, isError: result?.isError === true };
}
