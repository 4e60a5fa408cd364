// The official conformance suite against the fixture, in every scenario that applies.
import { afterAll, beforeAll, describe, test } from "vitest";
import { type Everything, startEverything } from "../support/everything.ts";
import { legs, passLeg } from "./legs.ts";

let fixture: Everything;

beforeAll(async () => {
  fixture = await startEverything();
});

afterAll(async () => {
  await fixture.stop();
});

describe("the official conformance suite", () => {
  test.each(legs)(
    "finds nothing wrong with the fixture: $selection",
    (leg) => passLeg(fixture.url, leg),
    120_000,
  );
});
