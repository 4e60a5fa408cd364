// The official conformance suite against the fixture: no failure and no warning, in every scenario that applies.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Everything, startEverything } from "../support/everything.ts";
import { type Check, type Findings, runSuite } from "./suite.ts";

/** Scenarios of parts of the protocol that Halyard does not have yet. */
const laterParts = /^(?:tasks-|input-required-result-)/;

/** How many scenarios the suite has for each selection: one that ran nothing must not pass. */
const legs = [
  { selection: "--requirements 2025-11-25", scenarios: 33, later: 0 },
  { selection: "--requirements 2026-07-28", scenarios: 26, later: 24 },
  { selection: "--suite all --spec-version 2025-06-18", scenarios: 27, later: 0 },
  { selection: "--suite all --spec-version 2025-03-26", scenarios: 1, later: 0 },
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
    async ({ selection, scenarios, later }) => {
      const found = await runSuite(fixture.url, selection.split(" "));
      const judged = [...found].filter(([scenario]) => !laterParts.test(scenario));
      console.log(`${selection}: ${summary(new Map(judged))}, ${found.size - judged.length} for later`);
      expect({ scenarios: judged.length, later: found.size - judged.length }).toEqual({ scenarios, later });
      expect(judged.flatMap(([scenario, checks]) => problems(scenario, checks))).toEqual([]);
    },
    120_000,
  );
});

/** What is wrong; a scenario in which nothing succeeded has shown nothing. */
function problems(scenario: string, checks: readonly Check[]): string[] {
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const told = bad.map(({ id, status, errorMessage }) => `${scenario}: ${status} ${id}: ${errorMessage}`);
  const isEmpty = !checks.some(({ status }) => status === "SUCCESS");
  return isEmpty ? [...told, `${scenario}: nothing succeeded`] : told;
}

function summary(findings: Findings): string {
  const checks = [...findings.values()].flat();
  const counts = (["SUCCESS", "FAILURE", "WARNING", "SKIPPED"] as const).map((status) => {
    return `${checks.filter((check) => check.status === status).length} ${status}`;
  });
  return `${findings.size} scenarios, ${counts.join(", ")}`;
}
