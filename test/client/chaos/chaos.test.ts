// Behind a proxy that breaks whatever passes, each call has one outcome that is true, and no change is lost without "read again".
// HALYARD_CHAOS=1, as in .ci/run, breaks 2,000 exchanges; HALYARD_CHAOS_SEED repeats a failure.
import { describe, expect, test } from "vitest";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { chaos } from "./run.ts";

const isLong = process.env["HALYARD_CHAOS"] === "1";
const seed = Number(process.env["HALYARD_CHAOS_SEED"] ?? 1);

const rows = [
  { name: "modern", revision: newestModern, dropsIds: false, cuts: isLong ? 1000 : 20 },
  { name: "legacy, streams resumable", revision: newestLegacy, dropsIds: false, cuts: isLong ? 500 : 20 },
  { name: "legacy, streams not resumable", revision: newestLegacy, dropsIds: true, cuts: isLong ? 500 : 20 },
];

describe.concurrent("a client behind a proxy that breaks things", () => {
  test.each(rows)("keeps its promises · $name", { timeout: 400_000 }, async ({ name, ...row }) => {
    const report = await chaos({ seed, ...row });
    if (isLong) console.info(name, JSON.stringify(report, undefined, 2));
    expect(report.violations, `HALYARD_CHAOS_SEED=${seed}`).toEqual([]);
  });
});
