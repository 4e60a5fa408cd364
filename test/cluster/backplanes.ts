// Servers of one process as the nodes of a cluster, on each engine: in memory, Redis and NATS.
import { afterAll, beforeAll } from "vitest";
import {
  type BackplaneRow,
  backplanes,
  type RunningBackplane,
  startBackplane,
} from "../support/backplanes.ts";

const names: ReadonlySet<string> = new Set([
  "memory",
  "Redis, @redis/client",
  "NATS with @nats-io/transport-node",
]);

/** One backplane for each engine. */
export const engineRows: readonly BackplaneRow[] = backplanes.filter(({ name }) => names.has(name));

/** Starts the engine of a row for the tests of a `describe`. */
export function onEngine(row: BackplaneRow): { readonly backplane: RunningBackplane["backplane"] } {
  let running: RunningBackplane | undefined;
  beforeAll(async () => {
    running = await startBackplane(row);
  }, 60_000);
  afterAll(() => running?.close());
  return {
    get backplane() {
      if (running === undefined) throw new Error("The engine has not started");
      return running.backplane;
    },
  };
}
