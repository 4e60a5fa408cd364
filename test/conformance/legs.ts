// The legs of the official conformance suite, and what counts as passing one: no failure and no warning.
import { expect } from "vitest";
import { type Check, type Findings, runSuite } from "./suite.ts";

/** Skips all it has, whatever a server does. */
const alwaysSkipped = "tasks-status-notifications";

export interface Leg {
  readonly selection: string;
  /** How many scenarios the suite has for this selection: one that ran nothing must not pass. */
  readonly scenarios: number;
}

export const legs: readonly Leg[] = [
  { selection: "--requirements 2025-11-25", scenarios: 33 },
  { selection: "--requirements 2026-07-28", scenarios: 50 },
  { selection: "--suite all --spec-version 2025-06-18", scenarios: 27 },
  { selection: "--suite all --spec-version 2025-03-26", scenarios: 1 },
];

/** Runs a leg against the server at `url`, and fails the test if it finds anything wrong. */
export async function passLeg(url: string, { selection, scenarios }: Leg): Promise<void> {
  const found = await runSuite(url, selection.split(" "));
  console.log(`${selection}: ${summary(found)}`);
  expect(found.size).toBe(scenarios);
  expect([...found].flatMap(([scenario, checks]) => problems(scenario, checks))).toEqual([]);
}

/** What is wrong; a scenario in which nothing succeeded has shown nothing. */
export function problems(scenario: string, checks: readonly Check[]): string[] {
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
