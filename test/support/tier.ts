// Which of two tiers runs: `npm test`, or everything with `npm run test:all` (`vitest run --mode all`).

/** Whether everything runs. A program that is missing then fails the tests that need it. */
export const isEverything: boolean = process.env["HALYARD_TIER"] === "all";
