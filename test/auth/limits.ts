// The limits of authorization: those that docs/reference/limits.md lists, and the fixed times, which it does not.
import { limitOf as listedLimitOf } from "../support/limits-page.ts";

/** Seconds that no option changes. */
const fixedTimes: Readonly<Record<string, number>> = {
  "seconds between fetches of keys": 30,
  "seconds that keys are kept": 600,
  "seconds after a failed fetch": 1,
  "seconds for an answer": 5,
  "seconds for a refused one": 10,
};

export function limitOf(name: string): number {
  return fixedTimes[name] ?? listedLimitOf("Authorization", name);
}
