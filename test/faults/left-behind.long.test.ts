// What is left of callers and calls that are gone, measured in a process of its own.
import { expect, test } from "vitest";
import { runFixture } from "../support/fixture.ts";

/** The heap in kilobytes at a tenth, at half and at the end; what failed, and the sessions that are left. */
interface Report {
  readonly heaps: readonly number[];
  readonly failures: number;
  readonly sessions: number;
}

test.each([
  ["4,000 principals, each with a session that has ended", "sessions", 4000, 0],
  ["10,000 owners, each with a task whose time was up", "tasks", 10_000, 0],
  ["10,000 calls of one session that were answered on streams", "calls", 10_000, 1],
])(
  "the heap is as large as before after %s",
  async (_, kind, total, sessions) => {
    const report = await runFixture<Report>("left-behind", kind, String(total));
    expect(report).toMatchObject({ failures: 0, sessions });
    const [early = 0, half = 0, end = 0] = report.heaps;
    // Code that the engine compiles and caches meanwhile. Whatever stays of each of them would be megabytes.
    expect(half - early).toBeLessThan(1500);
    expect(end - half).toBeLessThan(500);
  },
  60_000,
);
