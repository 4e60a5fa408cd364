// The data of a log message, as JSON can write it.
import type { Logger } from "../../base/logging/logger.ts";
import { jsonProblem } from "../catalogue/result-checks.ts";

/** The data as it is sent: an `Error` as its name and message. Undefined, with a warning, if JSON would lose or refuse a part. */
export function logData(logger: Logger, subject: string, data: unknown): unknown {
  if (data instanceof Error && !("toJSON" in data)) return { name: data.name, message: data.message };
  const problem = jsonProblem(data, "data");
  if (problem === undefined) return data ?? null;
  logger.warn(`${subject}: ${problem}`);
  return undefined;
}
