// What is left of questions and tasks that are over, measured in a process of its own.
import { describe, expect, test } from "vitest";
import { runFixture } from "../support/fixture.ts";

/** The heap in kilobytes at a tenth, at half and at the end; what waits still, and the handlers that began and ended. */
interface Report {
  readonly heaps: readonly number[];
  readonly pendingAsks: number;
  readonly handles: readonly string[];
  readonly runs: number;
  readonly ends: number;
}

/** Code that the engine compiles and caches meanwhile; of 10,000 things left behind, each would be 100 bytes. */
const leewayKb = 1000;

describe("the heap is as large as before after", () => {
  test.each([
    ["answered", "10,000 questions that were answered", 10_000],
    ["abandoned", "10,000 clients that went while they were asked", 10_000],
    // The client of a round need not come back, and a hostile one does not: 100,000 are the same, and take longer.
    ["unanswered", "10,000 modern rounds that nobody goes on with [MRTR-NO-ASSUME-RETRY]", 10_000],
    ["finished", "10,000 tasks that finished and had their time", 10_000],
    ["cancelled", "10,000 tasks that were cancelled", 10_000],
    ["expired", "10,000 tasks whose time was up while they ran, or asked", 10_000],
  ])(
    "%s: %s",
    async (kind, _, total) => {
      const report = await runFixture<Report>("asking-leaks", kind, String(total));
      const [early = 0, half = 0, end = 0] = report.heaps;
      expect(half - early).toBeLessThan(leewayKb);
      expect(end - half).toBeLessThan(leewayKb / 2);
      expect(report).toMatchObject({ pendingAsks: 0, handles: [] });
      expect(report.runs).toBeGreaterThan(total);
      expect(report.ends).toBe(report.runs);
    },
    60_000,
  );
});

test("a caller who stops waiting for the result of a long task leaves nothing behind in it", async () => {
  const { heaps, status } = await runFixture<Report & { status: string }>("held-results", "20000");
  const [early = 0, half = 0, end = 0] = heaps;
  expect(status).toBe("cancelled");
  expect(half - early).toBeLessThan(leewayKb);
  expect(end - half).toBeLessThan(leewayKb / 2);
}, 60_000);
