import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { laterFiles, LeftOut } from "./test/support/left-out.ts";

/** Tests that cut, halt and kill, or start other SDKs and clusters. They run after the others, without those as neighbours. */
const outages = ["test/{chaos,client/chaos,cluster,interop}/**/*.test.ts"];
/** Tests that install something from the registry, which would slow down the others: they run last. */
const installing = ["test/**/*.registry.test.ts"];

// Tests import "halyard" as users do: the built package, found through its own exports.
export default defineConfig(({ mode }) => {
  // `npm run test:all` is `--mode all`. The variable tells the tests, and this file when a project reads it again.
  process.env["HALYARD_TIER"] ??= mode === "all" ? "all" : "first";
  const isEverything = process.env["HALYARD_TIER"] === "all";
  const later = isEverything ? [] : [laterFiles];

  /** The projects of one group run together, the groups one after the other. */
  function project(
    groupOrder: number,
    name: string,
    test: TestProjectInlineConfiguration["test"],
  ): TestProjectInlineConfiguration {
    return { extends: true, test: { name, sequence: { groupOrder }, ...test } };
  }

  return {
    test: {
      projects: [
        project(0, "tests", {
          include: ["test/**/*.test.ts"],
          exclude: [...outages, ...installing, ...later],
          // `npm run check:types` checks these files too.
          typecheck: {
            enabled: isEverything,
            include: ["test/**/*.test-d.ts"],
            tsconfig: "test/tsconfig.json",
          },
        }),
        project(1, "outages", {
          include: outages,
          exclude: [...installing, ...later],
          // Seen once each in many runs on a busy machine: an update that NATS delivered late, and a call that ran again after a reply
          // that refused it. What passes the second time is reported as repeated.
          retry: isEverything ? 1 : 0,
        }),
        project(2, "registry", { include: installing, exclude: later }),
      ],
      reporters: [
        "default",
        ...(process.env["GITHUB_ACTIONS"] === "true" ? ["github-actions"] : []),
        ...(isEverything ? [] : [new LeftOut()]),
      ],
      // Every message that a test client hears is checked against the official schema of its revision.
      globalSetup: ["test/support/schemas/compile.ts"],
      setupFiles: ["test/support/schemas/setup.ts"],
      testTimeout: 20_000,
      // A process that starts may take seconds where others are at work.
      expect: { poll: { timeout: 15_000, interval: 5 } },
      // Vitest leaves one core free, which on two would be half of the machine.
      maxWorkers: 2,
      // Node loads the package, as it does for users. Vitest would transform it for each test file.
      server: { deps: { external: [/\/dist\//] } },
    },
  };
});
