import { defineConfig } from "vitest/config";

// Tests import "halyard" as users do: the built package, found through its own exports.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
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
