// The contract of backplanes, on every engine with every client; and that it finds engines that break it.
import { backplaneContract } from "halyard/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { backplanes, type RunningBackplane, startBackplane } from "../support/backplanes.ts";

describe.each(backplanes)("backplaneContract · $name", (row) => {
  let running: RunningBackplane;
  beforeAll(async () => {
    running = await startBackplane(row);
  });
  afterAll(() => running?.close());

  test.each(backplaneContract())("$title", ({ run }) => run(() => running.backplane));
});
