// The official conformance suite against the fixture: no failure and no warning, in every scenario that applies.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Everything, startEverything } from "../support/everything.ts";
import { type Check, type Findings, runSuite } from "./suite.ts";

/** Skips all it has, whatever a server does. */
const alwaysSkipped = "tasks-status-notifications";

/** How many scenarios the suite has for each selection: one that ran nothing must not pass. */
const legs = [
  { selection: "--requirements 2025-11-25", scenarios: 33 },
  { selection: "--requirements 2026-07-28", scenarios: 50 },
  { selection: "--suite all --spec-version 2025-06-18", scenarios: 27 },
  { selection: "--suite all --spec-version 2025-03-26", scenarios: 1 },
];

let fixture: Everything;

beforeAll(async () => {
  fixture = await startEverything();
});

afterAll(async () => {
  await fixture.stop();
});

describe("the official conformance suite", () => {
  test.each(legs)(
    "finds nothing wrong with the fixture: $selection",
    async ({ selection, scenarios }) => {
      const found = await runSuite(fixture.url, selection.split(" "));
      console.log(`${selection}: ${summary(found)}`);
      expect(found.size).toBe(scenarios);
      expect([...found].flatMap(([scenario, checks]) => problems(scenario, checks))).toEqual([]);
    },
    120_000,
  );
});

/** What is wrong; a scenario in which nothing succeeded has shown nothing. */
function problems(scenario: string, checks: readonly Check[]): string[] {
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const told = bad.map(({ id, status, errorMessage }) => `${scenario}: ${status} ${id}: ${errorMessage}`);
  const isEmpty = scenario !== alwaysSkipped && !checks.some(({ status }) => status === "SUCCESS");
  return isEmpty ? [...told, `${scenario}: nothing succeeded`] : told;
}

function summary(findings: Findings): string {
  const checks = [...findings.values()].flat();
  const counts = (["SUCCESS", "FAILURE", "WARNING", "SKIPPED"] as const).map((status) => {
    return `${checks.filter((check) => check.status === status).length} ${status}`;
  });
  return `${findings.size} scenarios, ${counts.join(", ")}`;
}
