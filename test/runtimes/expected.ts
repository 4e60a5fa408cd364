// What the checks see, the same on every runtime.
import { protocolRevisions } from "halyard/testing";

const dates = protocolRevisions.map(({ date }) => date);
const modern = protocolRevisions.filter(({ era }) => era === "modern").map(({ date }) => date);
const [newestLegacy = "", olderLegacy = ""] = dates.slice(modern.length);
const oldest = dates.at(-1) ?? "";

const changes = [
  ["tools", "", "changed"],
  ["resource", "note:///today", "changed"],
];

/** Messages of progress came later than progress itself. */
function calls(revision: string): object {
  return {
    revision,
    echo: "Grüße 🚢",
    big: 3_000_000,
    sent: 1_000_000,
    steps: "Three steps",
    progress: revision === oldest ? [null, null, null] : ["Step 1", "Step 2", "Step 3"],
    failed: true,
    cancelled: "CallTimeout",
    report: "A report",
    resource: [{ uri: "note:///today", text: "Buy milk" }],
    together: ["a", "b", "c", "d"],
  };
}

const byRevision = (seen: (date: string) => object): Record<string, object> =>
  Object.fromEntries(dates.map((date) => [date, { changes, ...calls(date), ...seen(date) }]));

const canAsk = new Set([...modern, newestLegacy, olderLegacy]);
const hasTasks = new Set([...modern, newestLegacy]);
const listChanged = "notifications/tools/list_changed";

export const expected = {
  http: {
    revisions: byRevision((date) => ({
      asked: canAsk.has(date) ? "Hello Ada" : -32021,
      task: hasTasks.has(date) ? "A report" : "NO_TASKS",
    })),
    legacySse: calls(oldest),
    // A resumed stream begins with the event that it continues, without its message.
    resumed: { before: ["0 ", `1 ${listChanged}`], after: ["1 ", `2 ${listChanged}`] },
    unreachable: { code: "CONNECTION_LOST", reason: "unreachable", mayHaveRun: false },
  },
  command: {
    revisions: byRevision(() => ({})),
    restarted: { lost: ["CONNECTION_LOST", "exited", true], isAnother: true, isGone: true },
    noises: { answer: "quiet", ignored: ["noise: before"], missing: [] },
  },
  "sign-in": { who: ["alice", "alice"], redirect: ["http://127.0.0.1:port/callback"], mode: "600" },
  dashboard: {
    page: [200, "text/html; charset=utf-8", "<title>Halyard</title>"],
    script: [200, true],
    asked: 200,
    refused: 401,
    after: "closed",
  },
  losing: {
    lost: ["CONNECTION_LOST", true],
    left: "AbortError",
    again: "first",
    runs: { cut: 1, wait: 1, stopped: 1 },
  },
  closing: {
    answered: [{ type: "text", text: "Three steps" }],
    isWhole: true,
    late: "refused",
    open: { sessions: 0, streams: 0, inFlight: 0, unsentBytes: 0 },
  },
  "slow-reader": { isCounted: true, isCut: true },
} as const;
