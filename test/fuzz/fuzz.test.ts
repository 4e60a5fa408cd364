// Random broken inputs for HALYARD_FUZZ_SECONDS: nothing crashes, hangs, leaks or stays open.
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { allowBeyondSchema } from "../support/schemas/witness.ts";
import { isEverything } from "../support/tier.ts";
import { type Report, runCampaign, tryBatch } from "./campaign.ts";
import { everythingHttp, everythingStdio } from "./everything-targets.ts";
import { decodeInput, type Input } from "./input.ts";
import { localFetch, localHttp } from "./local-targets.ts";
import type { Target } from "./target.ts";

const seconds = Number(process.env["HALYARD_FUZZ_SECONDS"] ?? (isEverything ? 60 : 5));
const seed = Number(process.env["HALYARD_FUZZ_SEED"] ?? 1);
const repeated = process.env["HALYARD_FUZZ_INPUT"];

/** The targets and their shares of the time. */
const targets: readonly [target: Target, share: number][] = [
  [everythingHttp, 0.4],
  [localHttp, 0.25],
  [localFetch, 0.15],
  [everythingStdio, 0.2],
];

// The schema check does not see the sockets of inputs, so they may agree on another revision than the client that listens.
beforeEach(() => allowBeyondSchema(""));

interface Found {
  readonly target: string;
  readonly inputs: readonly Input[];
}

const found = JSON.parse(readFileSync(new URL("corpus/found.json", import.meta.url), "utf8")) as Found[];

/** Growth above this is a leak. Sessions whose id was never read have room of their own: they stay until they have been idle. */
const heapSlack = 8 * 1024 * 1024;
const sessionSlack = 8 * 1024;

function countOf({ inputs }: Report): number {
  return Object.values(inputs).reduce((sum, some) => sum + some, 0);
}

/** Prints a line of progress. */
function summary(report: Report): string {
  const kinds = Object.entries(report.inputs).map(([kind, count]) => `${kind} ${count}`);
  const megabytes = (heap = 0): string => (heap / 2 ** 20).toFixed(1);
  const heap =
    report.after.heap && `, heap ${megabytes(report.before.heap)} to ${megabytes(report.after.heap)} MB`;
  const slow = report.unconfirmed.length > 0 ? `, once: ${report.unconfirmed.join("; ")}` : "";
  return `fuzz ${report.target}: ${countOf(report)} inputs, seed ${report.seed} (${kinds.join(", ")})${heap ?? ""}${slow}`;
}

describe.runIf(repeated === undefined)("fuzzing", () => {
  test.each(targets.map(([target, share]) => ({ target, share, name: target.name })))(
    "$name survives every input, and holds no more than before",
    async ({ target, share }) => {
      const known = found.filter((it) => it.target === target.name).flatMap((it) => it.inputs);
      const report = await runCampaign(target, { seed, milliseconds: seconds * 1000 * share, known });
      const { before, after } = report;
      console.log(summary(report));
      expect(countOf(report)).toBeGreaterThan(0);
      for (const [name, held] of Object.entries(after.handles)) {
        // The system takes its time with connections that have just been closed.
        const slack = name === "files" ? 4 : 0;
        expect(held, name).toBeLessThanOrEqual((before.handles[name] ?? 0) + slack);
      }
      const allowed = heapSlack + (after.sessions - before.sessions) * sessionSlack;
      expect((after.heap ?? 0) - (before.heap ?? 0)).toBeLessThan(allowed);
    },
    seconds * 1000 + 120_000,
  );
});

test.runIf(repeated !== undefined)("the input of HALYARD_FUZZ_INPUT does no harm", async () => {
  const { target: name, inputs } = decodeInput(repeated ?? "");
  const [target] = targets.find(([it]) => it.name === name) ?? [];
  const running = await target?.start();
  const problem = running && (await tryBatch(running, inputs));
  await running?.close();
  expect(problem).toBeUndefined();
});
