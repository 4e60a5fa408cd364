// Ends a run of the first tier with what it has left out, and how to run that.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, Vitest } from "vitest/node";
import { isInstalled, type ProgramName, programs } from "./programs.ts";

/** The names of the files that `npm test` leaves out: they take long, or install something from the registry. */
export const laterFiles = "test/**/*.{long,registry}.test.ts";
const laterName = /\.(?:long|registry)\.test\.ts$/;

export class LeftOut implements Reporter {
  #root = "";

  onInit({ config }: Vitest): void {
    this.#root = config.root;
  }

  onTestRunEnd(): void {
    const files = readdirSync(join(this.#root, "test"), { recursive: true, encoding: "utf8" });
    const later = files.filter((file) => laterName.test(file)).length;
    const missing = (Object.keys(programs) as ProgramName[]).filter((name) => !isInstalled(name));
    const packages = missing.map((name) => programs[name].debianPackage);
    console.log(
      ` Left out: ${later} files *.long.test.ts and *.registry.test.ts, type tests, and longer runs of others`,
    );
    if (missing.length > 0) console.log(` Skipped, because it is not installed: ${missing.join(", ")}`);
    const first = missing.length > 0 ? `apt-get install ${packages.join(" ")} && ` : "";
    console.log(` Everything: ${first}npm run test:all (one file: npx vitest run --mode all FILE)\n`);
  }
}
