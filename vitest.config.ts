import { defineConfig } from "vitest/config";

/** Kills, outages and whole clusters, which take minutes: `.ci/run` runs them with HALYARD_CLUSTER=1. */
const clusters = [
  "test/cluster/{conformance,kills,run,engine-budget,engine-cut-off,engine-data-loss,engine-deliveries,engine-slow}.test.ts",
  "test/cluster/redis/outages.test.ts",
  "test/server/tasks/cluster.test.ts",
];

/** Other files of many seconds, with which `npm test` would take more than six minutes: `.ci/run` runs them with HALYARD_SLOW=1. */
const slow = [
  "test/backplane/contract.test.ts",
  "test/browser/{client,cross-origin,example,oauth,oauth-trouble,outages}.test.ts",
  "test/client/hostile/hostile-servers.test.ts",
  "test/client/interop/everything.test.ts",
  "test/client/oauth/{examples,refresh-races,store-processes}.test.ts",
  "test/client/stdio/shutdown.test.ts",
  "test/compilers/declarations.test.ts",
  "test/conformance/client.test.ts",
  "test/dashboard/{timeline-page,attacks-memory,silence}.test.ts",
  "test/dashboard/browser/{cluster,many-sessions,reading,safety,timeline,try-it,views}.test.ts",
  "test/faults/{asking-memory,http-memory,left-behind,message-memory}.test.ts",
  "test/hostile/hostile.test.ts",
  "test/interop/{asking,conversations,official-clients,tasks}.test.ts",
  "test/protocol/new-revision.test.ts",
];

/** The files that this run leaves out. */
const exclude = Object.entries({ HALYARD_CLUSTER: clusters, HALYARD_SLOW: slow }).flatMap(([flag, files]) =>
  process.env[flag] === "1" ? [] : files,
);

// Tests import "halyard" as users do: the built package, found through its own exports.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude,
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
