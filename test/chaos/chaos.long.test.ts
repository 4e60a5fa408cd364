// Behind a proxy that cuts at any byte, nothing is lost that the client was not told to read again, and nothing comes twice.
// HALYARD_CHAOS_SECONDS=60 continues with new seeds for so long, for each client and revision; HALYARD_CHAOS_SEED is the first.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { legacyDates } from "../support/raw.ts";
import { clientRows } from "./client.ts";
import { chaos, type ChaosReport } from "./run.ts";

const seconds = Number(process.env["HALYARD_CHAOS_SECONDS"] ?? 0);
const firstSeed = Number(process.env["HALYARD_CHAOS_SEED"] ?? 1);

const cells = legacyDates.flatMap((revision, major) =>
  clientRows.map((row, minor) => ({
    revision,
    row,
    client: row.name,
    at: major * clientRows.length + minor,
  })),
);

/** What is wrong. A client that has given up its stream, after two GETs that failed, does not hear what comes then. */
function faultsOf({ lost, doubled, gaveUp }: ChaosReport): string[] {
  return [...(gaveUp ? [] : lost.map((what) => `lost ${what}`)), ...doubled.map((what) => `twice ${what}`)];
}

// The listener that the fetch edge is served by reports there each client that has gone.
beforeAll(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterAll(() => void vi.restoreAllMocks());

describe.concurrent("cut at any byte", () => {
  test.each(cells)(
    "$client hears everything once, or that it has to read again · $revision [RESUME-REPLAY, RESUME-NO-CROSS-STREAM]",
    async ({ revision, row, at }) => {
      const until = performance.now() + seconds * 1000;
      let cuts = 0;
      for (let first = firstSeed; first === firstSeed || performance.now() < until; first += cells.length) {
        const report = await chaos(row, { seed: first + at, revision, steps: seconds > 0 ? 600 : 100 });
        expect(faultsOf(report), `HALYARD_CHAOS_SEED=${first}`).toEqual([]);
        cuts += report.cuts;
      }
      expect(cuts).toBeGreaterThan(0);
    },
    60_000 + seconds * 2000,
  );
});
