// Wraps the author's logger and observer, so that their exceptions and rejections cannot fail a request.
import { identityOf } from "../protocol/principal.ts";
import { RateLimitedLog } from "./rate-limited-log.ts";
import type { ServerEvent } from "./events.ts";
import type { Logger } from "./logger.ts";
import { isThenable } from "../base/async/promises.ts";

/** Ignores errors of the logger: they must not fail a request, and there is nowhere to log them. */
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

/** Logs errors of the observer, and reduces each principal to its identity, without the claims of its token. */
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

/** Runs a function of the author. It may be asynchronous, although its promise is not awaited. */
export function guard(run: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const returned = run();
    if (isThenable(returned)) returned.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}
