// How a check ends: silently, or with every problem it found and a non-zero exit code.

/** Ends the process with an error when there are problems; each should name its remedy. */
export function endWith(problems: readonly string[], success: string): void {
  if (problems.length === 0) {
    console.log(success);
    return;
  }
  for (const problem of problems) console.error(`✗ ${problem}`);
  process.exitCode = 1;
}
