// Work that nobody waits for: what goes wrong there is said in the log, and ends nothing else.
import { CalmLog } from "./calm-log.ts";
import type { Logger } from "./logger.ts";

/** Lets go of a promise. `what` says what was being done. */
export function letRun(logger: Logger, what: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => CalmLog.of(logger).error(`${what} failed`, { error }));
}
