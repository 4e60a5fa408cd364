// `npm run test:all` fails without the programs that `npm test` only misses.
import { expect, test } from "vitest";
import { isInstalled, type ProgramName, programs } from "./support/programs.ts";
import { isEverything } from "./support/tier.ts";

test.runIf(isEverything).each(Object.keys(programs) as ProgramName[])("%s is installed", (name) => {
  expect(isInstalled(name), `Install it, as with apt-get install ${programs[name].debianPackage}`).toBe(true);
});
