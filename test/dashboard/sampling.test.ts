// What a dashboard samples: only while it is open, beside the author's own observer, with percentiles close to the exact ones.
import fc from "fast-check";
import { McpServer, type ServerEvent } from "halyard";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { recordingLogger } from "../support/log.ts";
import { modernMeta } from "../support/raw.ts";
import { type AskDashboard, type DashboardAnswer, lookAt, rowWith } from "../support/looking.ts";

interface Scene {
  readonly server: McpServer;
  readonly events: ServerEvent[];
  readonly ask: AskDashboard;
  /** Calls a tool that takes so many milliseconds, on the clock of the test. */
  call(name?: string, durationMs?: number): Promise<void>;
}

async function open(): Promise<Scene> {
  const page = dashboard({ onOpen: () => {} });
  const events: ServerEvent[] = [];
  const observe = (event: ServerEvent): void => void events.push(event);
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: recordingLogger(), observe });
  let takes = 0;
  const take = (): string => {
    if (takes > 0) vi.setSystemTime(Date.now() + takes);
    return "done";
  };
  server.tool("one", {}, take);
  server.tool("other", {}, take);
  const http = await serveHttp(server, { port: 0, graceMs: 50, dashboard: page });
  onTestFinished(() => http.close());
  const call = async (name = "one", durationMs = 0): Promise<void> => {
    takes = durationMs;
    const params = { name, _meta: modernMeta() };
    await server.handleRaw(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  };
  return { server, events, ask: lookAt(page), call };
}

function callsOf(answer: DashboardAnswer, name = "one"): unknown {
  return rowWith(answer, { method: "tools/call", name })?.["calls"];
}

/** The duration that this share of all durations does not exceed. */
function exact(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

test("nothing is sampled before the dashboard is open, and everything after", async () => {
  const { ask, call } = await open();
  await call();
  expect(callsOf(await ask("tools"))).toBe(0);
  await call();
  await call("other");
  const tools = await ask("tools");
  expect([callsOf(tools), callsOf(tools, "other")]).toEqual([1, 1]);
});

test("sampling ends ten seconds after the last question, and begins anew with the next", async () => {
  holdClocks("setInterval", "clearInterval");
  const { ask, call } = await open();
  await ask("now");
  await call();
  vi.advanceTimersByTime(9900);
  expect(callsOf(await ask("tools"))).toBe(1);
  vi.advanceTimersByTime(9900);
  expect(callsOf(await ask("tools"))).toBe(1);
  expect((await ask("now")).sampledMs).toBe(19_800);
  vi.advanceTimersByTime(10_100);
  await call();
  const { sampledMs, calls } = await ask("now");
  expect({ sampledMs, calls }).toEqual({ sampledMs: 0, calls: [] });
  expect(callsOf(await ask("tools"))).toBe(0);
});

test("the author's observer hears the same, whether the dashboard is open or not", async () => {
  holdClocks("setInterval", "clearInterval");
  const { ask, call, events } = await open();
  await call("one", 3);
  await ask("now");
  await call("one", 3);
  vi.advanceTimersByTime(10_100);
  await call("one", 3);
  const requests = events.filter(({ type }) => type === "request");
  expect(requests).toHaveLength(3);
  expect(requests[1]).toEqual(requests[0]);
  expect(requests[2]).toEqual(requests[0]);
});

test("percentiles are at most 5 % off", async () => {
  holdClocks("setInterval", "clearInterval");
  const { ask, call } = await open();
  await ask("now");
  const durations = fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(durations, async (all) => {
      // The dashboard has been closed for long: what was sampled before is gone.
      vi.advanceTimersByTime(11_000);
      await ask("now");
      // Clocks jump with each call; the timer that ends sampling does not.
      for (const durationMs of all) await call("one", durationMs);
      const row = rowWith(await ask("tools"), { name: "one" });
      expect(row).toMatchObject({ calls: all.length, longestMs: Math.max(...all) });
      expect(Number(row?.["p99"])).toBeLessThanOrEqual(Math.max(...all));
      for (const [name, share] of [
        ["p50", 0.5],
        ["p90", 0.9],
        ["p99", 0.99],
      ] as const) {
        const wanted = exact(all, share);
        expect(Math.abs(Number(row?.[name]) - wanted) / wanted).toBeLessThanOrEqual(0.05);
      }
    }),
    { numRuns: 20 },
  );
});

test("each second of the series has its calls and latencies", async () => {
  holdClocks("setInterval", "clearInterval");
  vi.setSystemTime(1_900_000_000_500);
  const { ask, call } = await open();
  await ask("now");
  vi.advanceTimersByTime(1000);
  for (const durationMs of [10, 20, 30]) await call("one", durationMs);
  vi.advanceTimersByTime(1000);
  await call("missing");
  vi.advanceTimersByTime(2000);
  const { series, callsPerSecond } = await ask("now");
  expect(series.calls).toHaveLength(300);
  expect(series.calls.slice(-4)).toEqual([null, 3, 1, 0]);
  expect(series.errors.slice(-4)).toEqual([null, 0, 1, 0]);
  expect(series).toMatchObject({ from: 1_900_000_004 - 300 });
  const p50 = series.p50.at(-3) ?? 0;
  expect(Math.abs(p50 - 20) / 20).toBeLessThanOrEqual(0.05);
  expect(series.p50.at(-1)).toBeNull();
  expect(callsPerSecond).toBeCloseTo(4 / 3);
});

test("of many calls in a second some stand for others, and all are counted", async () => {
  holdClocks("setInterval", "clearInterval");
  vi.setSystemTime(1_900_000_000_500);
  const { ask, call } = await open();
  expect(await ask("now")).toMatchObject({ isEstimate: false });
  vi.advanceTimersByTime(1000);
  for (let count = 0; count < 1800; count++) await call();
  vi.advanceTimersByTime(1000);
  const { series, isEstimate } = await ask("now");
  expect(series.calls.at(-1)).toBe(1800);
  expect(isEstimate).toBe(true);
  expect(callsOf(await ask("tools"))).toBe(1800);
});

test("500 names are counted one by one, the rest together", async () => {
  const { ask, call } = await open();
  await ask("now");
  for (let count = 0; count < 510; count++) await call(`made up ${count}`);
  const { total } = await ask("tools");
  // Two tools without a call, and one row for the last ten names.
  expect(total).toBe(503);
  expect(rowWith(await ask("tools", { search: "others" }), { method: "others" })).toMatchObject({
    calls: 10,
    errors: 10,
  });
});
