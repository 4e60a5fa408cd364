// The official conformance suite against `fetchHandler` on Bun and on Deno.
import { afterAll, beforeAll, describe, test } from "vitest";
import { legs, passLeg } from "../conformance/legs.ts";
import { installRuntimes, type Runtime, type Runtimes } from "./runtimes.ts";

const names: readonly Runtime[] = ["bun", "deno"];

describe.skipIf(process.env["HALYARD_RUNTIMES"] !== "1")("the official conformance suite", () => {
  let runtimes: Runtimes;

  beforeAll(async () => {
    runtimes = await installRuntimes();
  }, 300_000);

  afterAll(() => runtimes.remove());

  describe.each(names)("on %s", (runtime) => {
    let served: Awaited<ReturnType<Runtimes["serve"]>>;

    beforeAll(async () => {
      console.log(await runtimes.version(runtime));
      served = await runtimes.serve(runtime);
    }, 60_000);

    afterAll(() => served.stop());

    test.each(legs)("finds nothing wrong: $selection", (leg) => passLeg(served.url, leg), 120_000);
  });
});
