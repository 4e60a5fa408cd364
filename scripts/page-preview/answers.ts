// Made-up answers to every question of the page, which change with time as real ones would.
import type { Answers, Ask, FromNodes, NodeRow, Now, Series } from "../../src/dashboard/answers.ts";
import { sessionRows, streamRows } from "./clients.ts";
import { counted, noise, pick, tools } from "./made-up.ts";
import { messageLines, timeline } from "./timeline.ts";
import { toolRows, topicRows } from "./catalogue.ts";

/** `empty`: nobody is connected. `one`: a single node. `many`: three nodes, of which one falls silent every now and then. */
export type Scene = "empty" | "one" | "many";

/** The members that questions have. */
export interface Told {
  readonly search?: string;
  readonly peer?: string;
  readonly after?: number;
}

/** Answers a question. */
export function tell(scene: Scene, ask: Ask, told: Told): Answers[Ask] {
  const isEmpty = scene === "empty";
  const from = nodes(scene);
  const found = <Row>(
    rows: readonly Row[],
    total = rows.length,
  ): FromNodes & { rows: Row[]; total: number } => {
    const matching = rows.filter((row) =>
      JSON.stringify(row)
        .toLowerCase()
        .includes((told.search ?? "").toLowerCase()),
    );
    const all = told.search === undefined || told.search === "" ? total : matching.length;
    return { ...from, rows: isEmpty ? [] : matching.slice(0, 200), total: isEmpty ? 0 : all };
  };
  const answers: { [Name in Ask]: () => Answers[Name] } = {
    about: () => ({
      name: "harbour",
      version: "2.4.1",
      revisions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
      newest: { modern: "2026-07-28", legacy: "2025-11-25" },
      endpoint: "http://127.0.0.1:3000/mcp",
      tryIt: true,
      actions: true,
      history: 0,
    }),
    now: () => now(isEmpty, from),
    sessions: () => found(sessionRows(), 10_042),
    streams: () => found(streamRows(), 3_120),
    tools: () => found(toolRows()),
    topics: () => found(topicRows()),
    timeline: () => ({ ...from, ...timeline(told.peer ?? "", told.after) }),
    messages: () => ({ ...from, lines: messageLines(), dropped: 0 }),
    recording: () => ({ ...from, lines: messageLines(), dropped: 2 }),
    end: () => ({ ended: 1 }),
  };
  return answers[ask]();
}

const began = Date.now();

function nodes(scene: Scene): FromNodes {
  const names =
    scene === "many"
      ? ["10.0.0.11:3000", "10.0.0.12:3000", "10.0.0.13:3000", "10.0.0.14:3000"]
      : ["127.0.0.1:3000"];
  const cycle = (Date.now() / 1_000) % 60;
  const third = cycle < 35 ? "answers" : cycle < 50 ? "silent" : "left";
  return {
    nodes: names.map((name, index): NodeRow => {
      const state = index === 2 ? third : index === 3 ? "deaf" : "answers";
      return {
        id: `node-${index}`,
        name,
        isSelf: index === 0,
        state,
        silentMs: state === "silent" ? (cycle - 35) * 1_000 : state === "left" ? (cycle - 35) * 1_000 : 0,
        roundTripMs: index === 0 ? 0.1 : state === "answers" ? 1 + noise(index) : undefined,
        version: "2.4.1",
        uptimeMs: 1_000 * 3_600 * (3 + index * 29) + (Date.now() - began),
        loopDelayMs: 1 + 6 * noise(index, 2),
        memoryBytes: 91_000_000 + 8_000_000 * noise(index, 5),
        counts: counted(scene === "empty" ? 0 : 1 / names.length, index),
      };
    }),
  };
}

function now(isEmpty: boolean, from: FromNodes): Now {
  const last = Math.floor(Date.now() / 1_000);
  const series = seriesUntil(last, isEmpty ? 0 : 1);
  const lastMinute = series.calls.slice(-60);
  return {
    ...from,
    counts: counted(isEmpty ? 0 : 1),
    series,
    callsPerSecond: lastMinute.reduce<number>((sum, calls) => sum + (calls ?? 0), 0) / 60,
    refusals: isEmpty
      ? []
      : [
          {
            reason: "The session has ended. Initialize again",
            status: 404,
            errorCode: -32_001,
            count: 128,
            agoMs: 4_200,
          },
          {
            reason: 'The host "evil.example" is not allowed',
            status: 403,
            errorCode: -32_000,
            count: 31,
            agoMs: 61_000,
          },
          {
            reason: "Too many requests: 100 in 60 s",
            status: 429,
            errorCode: -32_000,
            count: 7,
            agoMs: 312_000,
          },
        ],
    calls: isEmpty ? [] : lastCalls(last),
    sampledMs: Date.now() - began,
    isEstimate: false,
  };
}

function lastCalls(last: number): Now["calls"] {
  return Array.from({ length: 30 }, (_, index) => {
    const seed = last * 2 - index;
    const row = sessionRows()[Math.abs(seed * 7) % 40];
    const isError = seed % 11 === 0;
    return {
      peer: row?.peer ?? "",
      method: seed % 5 === 0 ? "resources/read" : "tools/call",
      name: seed % 5 === 0 ? "file:///harbour/berths.json" : pick(tools, seed),
      client: row?.client,
      revision: row?.revision ?? "",
      durationMs: 0.4 + 900 * noise(seed, 3) ** 8,
      outcome: isError ? "error" : seed % 17 === 0 ? "cancelled" : "ok",
      errorCode: isError ? -32_602 : undefined,
      agoMs: index * 480 + (Date.now() % 500),
      node: row?.node ?? "",
    };
  });
}

function seriesUntil(last: number, scale: number): Series {
  const from = last - 300;
  const at = (value: (second: number) => number | null): (number | null)[] =>
    Array.from({ length: 300 }, (_, index) =>
      index < 40 && scale > 0 ? null : from + index < began / 1_000 - 260 ? null : value(from + index),
    );
  const calls = (second: number): number =>
    Math.round(scale * (40 + 18 * Math.sin(second / 23) + 9 * Math.sin(second / 7) + 14 * noise(second)));
  const latency = (base: number, spread: number, salt: number) => (second: number) =>
    scale === 0 ? null : base + spread * noise(second, salt) + base * 0.5 * (1 + Math.sin(second / 31));
  return {
    from,
    calls: at(calls),
    errors: at((second) => Math.round(scale * 6 * noise(second, 9) ** 6)),
    p50: at(latency(2, 1, 1)),
    p90: at(latency(9, 6, 2)),
    p99: at((second) => {
      const value = latency(28, 30, 3)(second);
      return value === null ? null : value + (noise(second, 8) > 0.985 ? 220 : 0);
    }),
  };
}
