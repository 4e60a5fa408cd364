// A made-up client's timeline: calls, questions, pushes, a task, and a stream that is cut and resumed every minute.
import type { Timeline, TimelineEntry } from "../../src/dashboard/answers.ts";
import type { RecordedLine } from "../../src/client/recording.ts";
import { sessionRows } from "./clients.ts";
import { noise, pick, tools } from "./made-up.ts";

const began = Date.now() - 90_000;
const node = "10.0.0.11:3000";

export function timeline(peer: string, after: number | undefined): Omit<Timeline, "nodes"> {
  const now = Date.now();
  const all = [...streams(now), ...calls(now), ...pushes(now)].filter(({ startedAt }) => startedAt <= now);
  return {
    peer,
    session: sessionRows().find((row) => row.peer === peer),
    since: began,
    now,
    entries: all
      .filter(
        ({ startedAt, endedAt }) =>
          after === undefined || (endedAt ?? now) >= after - 5_000 || startedAt >= after,
      )
      .toSorted((one, other) => one.startedAt - other.startedAt),
    mark: now,
    dropped: 0,
  };
}

function entry(
  given: Partial<TimelineEntry> & Pick<TimelineEntry, "id" | "lane" | "kind" | "startedAt">,
): TimelineEntry {
  return {
    node,
    label: undefined,
    endedAt: undefined,
    outcome: undefined,
    points: [],
    messages: 2,
    detail: undefined,
    ...given,
  };
}

/** A stream for each minute: cut after 50 s, resumed 4 s later. */
function streams(now: number): TimelineEntry[] {
  return Array.from({ length: Math.ceil((now - began) / 60_000) }, (_, index) => {
    const startedAt = began + index * 60_000 - (index === 0 ? 0 : 6_000);
    const cutAt = began + index * 60_000 + 50_000;
    const isCut = cutAt <= now;
    return entry({
      id: `stream-${index}`,
      lane: "streams",
      kind: "get",
      startedAt,
      endedAt: isCut ? cutAt : undefined,
      outcome: isCut ? "cut" : undefined,
      points: index === 0 ? [] : [{ at: startedAt, what: "resumed" }],
      detail: `after event ${index * 41}`,
    });
  });
}

/** A call every 2.6 s; some ask a question, one is a long task. */
function calls(now: number): TimelineEntry[] {
  return Array.from({ length: Math.floor((now - began) / 2_600) + 1 }, (_, index) => {
    const startedAt = began + index * 2_600 + 400 * noise(index);
    const name = pick(tools, index);
    const isLong = name === "long_crossing";
    const durationMs = isLong ? 9_000 : name === "ask_pilot" ? 5_200 : 20 + 700 * noise(index, 2) ** 3;
    const isOver = startedAt + durationMs <= now;
    const call = entry({
      id: `call-${index}`,
      lane: isLong ? "tasks" : "calls",
      kind: "tools/call",
      label: name,
      startedAt,
      endedAt: isOver ? startedAt + durationMs : undefined,
      outcome: isOver ? (index % 9 === 4 ? "error" : index % 13 === 6 ? "cancelled" : "ok") : undefined,
      points: isLong
        ? [1, 2, 3]
            .map((part) => ({ at: startedAt + part * 2_200, what: `progress ${part} of 4` }))
            .filter(({ at }) => at <= now)
        : [],
    });
    if (name !== "ask_pilot") return [call];
    const askedAt = startedAt + 300;
    const isAnswered = askedAt + 4_600 <= now;
    return [
      call,
      entry({
        id: `question-${index}`,
        lane: "questions",
        kind: "elicitation/create",
        label: "Which pilot?",
        startedAt: askedAt,
        endedAt: isAnswered ? askedAt + 4_600 : undefined,
        outcome: isAnswered ? "ok" : undefined,
      }),
    ];
  }).flat();
}

function pushes(now: number): TimelineEntry[] {
  return Array.from({ length: Math.floor((now - began) / 3_700) + 1 }, (_, index) => {
    const startedAt = began + index * 3_700 + 900;
    return entry({
      id: `push-${index}`,
      lane: "pushes",
      kind: "notifications/resources/updated",
      label: `file:///harbour/berths/${index % 5}.json`,
      startedAt,
      endedAt: startedAt,
      messages: 1,
      detail: `event ${index}`,
    });
  });
}

export function messageLines(): RecordedLine[] {
  const time = new Date(began).toISOString();
  const params = { name: "book_berth", arguments: { berth: 12, boat: "Aurora", token: "[redacted]" } };
  return [
    {
      time,
      direction: "sent",
      stream: "post-3",
      message: { jsonrpc: "2.0", id: 3, method: "tools/call", params },
    },
    {
      time,
      direction: "received",
      stream: "post-3",
      message: { jsonrpc: "2.0", id: 3, result: { content: [{ type: "text", text: "Berth 12 is yours" }] } },
    },
  ];
}
