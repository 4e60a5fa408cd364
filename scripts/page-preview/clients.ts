// Made-up clients and their streams.
import type { SessionRow, StreamRow } from "../../src/dashboard/answers.ts";
import { clients, nodeNames, noise, pick } from "./made-up.ts";

const people = ["ada@example.com", "grace@example.com", "127.0.0.1", "service:berths", "10.4.2.17"] as const;
const legacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export function sessionRows(): SessionRow[] {
  const second = Math.floor(Date.now() / 1_000);
  return Array.from({ length: 240 }, (_, index) => {
    const isModern = index % 3 === 0;
    const isSlow = index === 4;
    return {
      peer: `p${((index * 2_654_435_761) % 2 ** 32).toString(36)}`,
      era: isModern ? "modern" : "legacy",
      transport: index % 13 === 5 ? "sse" : "http",
      revision: isModern ? "2026-07-28" : pick(legacy, index),
      client:
        index === 7 ? undefined : index === 9 ? '<script>alert("text")</script> 1.0' : pick(clients, index),
      who: pick(people, index * 3),
      node: pick(nodeNames, index),
      idleMs: noise(index) ** 3 * 900_000 + (Date.now() % 1_000),
      running: noise(index, second) > 0.9 ? 1 : 0,
      streams: index % 4,
      subscriptions: index % 5,
      logLevel: index % 6 === 0 ? "info" : undefined,
      queuedBytes: isSlow ? 1_200_000 + (second % 60) * 80_000 : index % 9 === 0 ? 4_210 : 0,
      resumes: index % 11 === 0 ? 3 : 0,
      gaps: index % 22 === 0 ? 1 : 0,
    };
  });
}

const kinds = ["get", "post", "listen", "sse"] as const;

export function streamRows(): StreamRow[] {
  const second = Math.floor(Date.now() / 1_000);
  return sessionRows().map((row, index) => ({
    peer: row.peer,
    kind: pick(kinds, index),
    state: index % 8 === 3 ? "lost" : "open",
    client: row.client,
    who: row.who,
    revision: row.revision,
    node: row.node,
    ageMs: noise(index, 4) * 4_000_000,
    lastEventId: index % 4 === 2 ? undefined : `…${(index * 7 + second).toString(36)}-${second % 97}`,
    kept: index % 4 === 2 ? undefined : { messages: index % 40, bytes: (index % 40) * 812 },
    unsentBytes: index === 4 ? 640_000 + (second % 60) * 9_000 : 0,
    queuedBytes: row.queuedBytes,
    writtenBytes: 18_000 * (1 + index) + (second % 10_000),
    isBehind: index === 4,
    resumes: row.resumes,
    gaps: row.gaps,
    subscriptions: row.subscriptions,
  }));
}
