import { defineConfig } from "vitest/config";

/** Kills, outages and whole clusters, which take minutes: `.ci/run` runs them with HALYARD_CLUSTER=1. */
const slow = [
  "test/cluster/{conformance,kills,run,engine-cut-off,engine-deliveries,engine-slow}.test.ts",
  "test/redis/outages.test.ts",
  "test/server/tasks/cluster.test.ts",
];

// Tests import "halyard" as users do: the built package, found through its own exports.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: process.env["HALYARD_CLUSTER"] === "1" ? [] : slow,
    typecheck: { enabled: true, include: ["test/**/*.test-d.ts"], tsconfig: "test/tsconfig.json" },
    // Every message that a test client hears is checked against the official schema of its revision.
    globalSetup: ["test/support/schemas/compile.ts"],
    setupFiles: ["test/support/schemas/setup.ts"],
    testTimeout: 20_000,
    // A process that starts may take seconds where others are at work.
    expect: { poll: { timeout: 15_000, interval: 5 } },
    // Vitest leaves one core free, which on two would be half of the machine.
    maxWorkers: 2,
  },
});
