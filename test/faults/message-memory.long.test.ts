// The most memory that costly messages take, for each byte that is sent, in processes of their own. `npm run bench:memory` measures more of them.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runFixture } from "../support/fixture.ts";

interface Report {
  readonly sentMb: number;
  readonly growthMb: number;
  readonly factor: number;
}

const measure = (side: "server" | "client", row: string, sizeMb: number): Promise<Report> =>
  runFixture<Report>("memory/message-memory", side, row, String(sizeMb));

// The kernel of Linux counts the peak of a process.
describe.skipIf(!existsSync("/proc/self/clear_refs"))("32 megabytes of costly messages", () => {
  test.each([
    "waiting calls: empty objects",
    "waiting calls: nested arrays",
    "waiting calls: objects with an index as key",
    "sessions of clients with long names",
    "listen requests with many URIs",
    "tasks that never end",
    "bodies without an end, a byte in each chunk",
  ])(
    "take less than 20 times as much memory of a server · %s",
    async (row) => {
      const { sentMb, factor } = await measure("server", row, 32);
      expect(sentMb).toBeGreaterThanOrEqual(32);
      expect(factor).toBeLessThan(20);
    },
    60_000,
  );

  test("that a server refuses leave little behind, because it does not parse them", async () => {
    const { growthMb } = await measure("server", "waiting calls: nested arrays", 32);
    // 128 MB are the limit of all calls together; what is refused would take 900.
    expect(growthMb).toBeLessThan(300);
  }, 60_000);

  test.each([
    "results: empty objects",
    "results: nested arrays",
    "results: objects with an index as key",
    "log messages of empty objects",
    "questions that wait, of empty objects",
    "changes that nobody takes",
  ])(
    "take less than 20 times as much memory of a client · %s",
    async (row) => {
      const { sentMb, factor } = await measure("client", row, 32);
      expect(sentMb).toBeGreaterThanOrEqual(32);
      expect(factor).toBeLessThan(20);
    },
    60_000,
  );

  test.each([
    "pages of tools with long names",
    "pages of tools with empty objects",
    "pages of tools with nested arrays",
  ])(
    "take no more of a client that lists than maxListBytes and a few pages · %s",
    async (row) => {
      const { growthMb } = await measure("client", row, 128);
      expect(growthMb).toBeLessThan(250);
    },
    60_000,
  );
});
