// What a flood or an absent reader costs, measured in a process of its own.
import { describe, expect, test } from "vitest";
import { runFixture } from "../support/fixture.ts";

describe("memory", () => {
  test("100,000 initialize requests end in a heap as large as 20,000", async () => {
    const report = await runFixture<{ heaps: number[]; failures: number; sessions: number }>(
      "initialize-flood",
      "100000",
    );
    expect(report.failures).toBe(0);
    expect(report.sessions).toBe(10_000);
    const [first = 0, ...later] = report.heaps;
    expect(later).toHaveLength(4);
    for (const heap of later) expect(heap).toBeLessThan(first * 1.1 + 1024);
  }, 60_000);

  test("clients that declare thousands of empty objects cost what their text is long", async () => {
    const report = await runFixture<{ heaps: number[]; failures: number }>(
      "initialize-flood",
      "1000",
      "2500",
    );
    expect(report.failures).toBe(0);
    const [first = 0] = report.heaps;
    // In KB, for each of 800 sessions. Their text is 7.5 KB, here and in the store; as objects they are 190 KB.
    expect(((report.heaps.at(-1) ?? 0) - first) / 800).toBeLessThan(40);
  }, 60_000);

  test.each([
    { kind: "session", what: "distinct messages to an unread session are cut off", streams: 0 },
    { kind: "listen", what: "changes to an unread listen stream merge", streams: 1 },
  ])(
    "200,000 $what, and memory stays bounded",
    async ({ kind, streams }) => {
      const report = await runFixture<Growth>("unread-stream", kind);
      expect(report.streams).toBe(streams);
      expect(report.heapGrowth).toBeLessThan(8);
      expect(report.externalGrowth).toBeLessThan(8);
      // 200,000 messages are about 48 MB; the rest is the collector's leeway.
      expect(report.rssGrowth).toBeLessThan(120);
    },
    60_000,
  );
});

test("40 batches of 7 KB whose results are 100 MB each cost a small part of that", async () => {
  const { growth, longest, statuses } = await runFixture<{
    growth: number;
    longest: number;
    statuses: number[];
  }>("batch-flood");
  expect(statuses).toEqual([200]);
  expect(longest).toBeLessThanOrEqual(4);
  // In MB. Without a limit, the results alone are 4000.
  expect(growth).toBeLessThan(500);
}, 60_000);

describe("a body of 512 KiB with a byte in each chunk", () => {
  test.each(["serveHttp", "nodeHandler", "fetchHandler", "HTTP+SSE", "stdio"])(
    "takes a small multiple of its size while it is read · %s",
    async (mount) => {
      const { growth, answer } = await runFixture<{ growth: number; answer: string }>("tiny-chunks", mount);
      expect(growth).toBeLessThan(8);
      expect(answer).toMatch(mount === "stdio" ? /^\{"jsonrpc":"2.0"/ : /^HTTP\/1.1 20/);
    },
    60_000,
  );
});

/** In megabytes; and the streams that are still open. */
type Growth = Record<"heapGrowth" | "externalGrowth" | "rssGrowth" | "streams", number>;
