// The author's logger and observer, so that what they throw or reject harms nothing.
import { identityOf } from "../protocol/principal.ts";
import { RateLimitedLog } from "./rate-limited-log.ts";
import type { ServerEvent } from "./events.ts";
import type { Logger } from "./logger.ts";
import { isThenable } from "../async/promises.ts";

/** A logger that fails must not fail what it tells of, and there is nowhere left to tell that it did. */
export function guardedLogger(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (...entry: [message: string, details?: object]): void =>
      guard(
        () => logger[level](...entry),
        () => {},
      );
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** An observer that fails must not fail what it observes; and it sees who is calling, not what their token says. */
export function guardedObserver(
  observe: (event: ServerEvent) => void,
  logger: Logger,
): (event: ServerEvent) => void {
  const onFailure = (error: unknown): void => RateLimitedLog.of(logger).error("observe() failed", { error });
  return (event) =>
    guard(
      () => observe("principal" in event ? { ...event, principal: identityOf(event.principal) } : event),
      onFailure,
    );
}

/** Runs a function of the author's, which may be an async one though nobody waits for it. */
function guard(run: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const returned = run();
    if (isThenable(returned)) returned.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}
