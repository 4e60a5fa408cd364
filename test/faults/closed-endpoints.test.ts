// Endpoints that come and go while their server stays in its cluster.
import { expect, test } from "vitest";
import { runFixture } from "../support/fixture.ts";

test("a closed endpoint leaves nothing in memory, although its server stays in the cluster", async () => {
  const { kept } = await runFixture<{ kept: number }>("closed-endpoints", "20");
  // The newest may still be on a stack.
  expect(kept).toBeLessThanOrEqual(1);
});
