// Made-up tools and topics with their figures.
import type { ToolRow, TopicRow } from "../../src/dashboard/answers.ts";
import { sessionRows } from "./clients.ts";
import { nodeNames, noise, pick, tools } from "./made-up.ts";

export function toolRows(): ToolRow[] {
  const second = Math.floor(Date.now() / 1_000);
  const named = tools.map((name, index) => toolRow("tools/call", name, index, second));
  const methods = ["resources/read", "tools/list", "prompts/get", "initialize"];
  return [...named, ...methods.map((method, index) => toolRow(method, undefined, index + 10, second))];
}

function toolRow(method: string, name: string | undefined, seed: number, second: number): ToolRow {
  const p50 = 0.5 + 60 * noise(seed) ** 4;
  const errors = seed % 3 === 1 ? 12 + (second % 40) : 0;
  const isUnused = seed === 13;
  const running = isUnused ? 0 : Math.floor(4 * noise(second, seed));
  return {
    method,
    name,
    calls: isUnused ? 0 : 4_000 * (1 + (seed % 4)) + (second % 1_000),
    errors,
    cancelled: seed % 5,
    p50: isUnused ? undefined : p50,
    p90: isUnused ? undefined : p50 * 3.1,
    p99: isUnused ? undefined : p50 * 9.4,
    longestMs: isUnused ? undefined : p50 * 41,
    errorCodes:
      errors === 0
        ? []
        : [
            { code: -32_602, count: errors - 2 },
            { code: -32_000, count: 2 },
          ],
    running,
    runningMs: running === 0 ? undefined : 900 * noise(second, seed),
  };
}

export function topicRows(): TopicRow[] {
  const rows = sessionRows();
  const topics: [string, string | undefined][] = [
    ["notifications/tools/list_changed", undefined],
    ["notifications/resources/list_changed", undefined],
    ...Array.from({ length: 24 }, (_, index): [string, string] => [
      "notifications/resources/updated",
      `file:///harbour/berths/${index}.json`,
    ]),
  ];
  return topics.map(([notification, key], index) => ({
    notification,
    key,
    listeners: index === 0 ? 9_874 : 1 + (index % 7),
    who: rows.slice(index, index + 3).map(({ peer, client }) => ({ peer, client })),
    pushes: Array.from({ length: index % 6 }, (_, push) => ({
      agoMs: push * 41_000 + (Date.now() % 8_000),
      delivered: 1 + (index % 7),
      node: pick(nodeNames, push),
    })),
    pushed: index * 31,
    merged: index % 4 === 0 ? index * 9 : 0,
  }));
}
