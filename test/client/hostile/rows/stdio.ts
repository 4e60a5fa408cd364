// A stdio server that writes without end, on either stream, or does not read what it is sent.
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Row } from "../row.ts";
import { attackVictim, type Report } from "../victim.ts";

const server = fileURLToPath(new URL("../fixtures/flooding-server.mjs", import.meta.url));

async function flooded(kind: string, again: boolean, limits = {}): Promise<Report> {
  const report = await attackVictim({
    target: { command: process.execPath, args: [server, kind], graceMs: 100 },
    options: { revision: "2025-06-18", limits: { maxBytes: 1024 * 1024, ...limits } },
    flags: { again },
  });
  expect(report.outcome).toEqual({ ok: true });
  if (again) expect(report.again).toEqual({ ok: true });
  expect(report.polluted).toEqual([]);
  expect(report.peakMb).toBeLessThan(80);
  return report;
}

export const stdioRows: readonly Row[] = [
  {
    name: "half a million pings of a server that reads none of the answers take no memory",
    limit: "limits.maxQuestions",
    async attack() {
      const { keptMb } = await flooded("pings", false);
      expect(keptMb).toBeLessThan(8);
    },
  },
  {
    name: "standard error without end is kept up to its limit, and not the pieces that its lines came in",
    limit: "limits.maxStderrBytes",
    async attack() {
      const { keptMb } = await flooded("stderr", true);
      expect(keptMb).toBeLessThan(8);
    },
  },
  {
    name: "standard error in lines of one letter costs the same, however many of them are kept",
    limit: "limits.maxStderrBytes",
    async attack() {
      const few = await flooded("letters", true, { maxStderrBytes: 1024 });
      const many = await flooded("letters", true, { maxStderrBytes: 64 * 1024 });
      expect(many.cpuMs).toBeLessThan(4 * few.cpuMs);
    },
  },
  {
    name: "long lines of standard output that are no messages are not kept whole for the error of their server",
    async attack() {
      const { keptMb, seen } = await flooded("long garbage", true, { maxBytes: 8 * 1024 * 1024 });
      expect(seen).toBeGreaterThanOrEqual(5);
      expect(keptMb).toBeLessThan(8);
    },
  },
  {
    name: "a line of standard output without end is skipped",
    limit: "limits.maxBytes",
    async attack() {
      const { keptMb } = await flooded("line", true);
      expect(keptMb).toBeLessThan(8);
    },
  },
  {
    name: "lines of standard output that are no messages are reported a hundred times, and no more",
    async attack() {
      const { keptMb, seen } = await flooded("garbage", true);
      expect(keptMb).toBeLessThan(8);
      expect(seen).toBeLessThan(120);
    },
  },
];
