// Warnings of log messages and notifications that cannot be sent.
import { HalyardError } from "../../base/errors.ts";
import { mismatch } from "../../base/kinds.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { logLevels } from "../../protocol/model.ts";

/** Warns that a log message has no level, and is not sent. */
export function warnOfLevel(logger: Logger, subject: string, level: unknown): void {
  logger.warn(`${subject}: ${levelProblem(level)}`);
}

export function levelProblem(level: unknown): string {
  return `level ${mismatch(`one of ${logLevels.join(", ")}`, level)}`;
}

/** Warns that a notification was not sent. */
export function warnUnwritable(logger: Logger, method: string, error: unknown): void {
  const isUnreachable = error instanceof HalyardError && error.code === "BACKPLANE_UNAVAILABLE";
  const problem = isUnreachable ? error.message : "not serialisable as JSON, or too large";
  logger.warn(`Did not send ${method}: ${problem}`, { error });
}
