// The author's logger and observer, so that what they throw harms nothing.
import { identityOf } from "../protocol/principal.ts";
import type { ServerEvent } from "./events.ts";
import type { Logger } from "./logger.ts";

/** A logger that fails must not fail what it tells of, and there is nowhere left to tell that it did. */
export function guardedLogger(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (...entry: [message: string, details?: object]): void => {
      try {
        logger[level](...entry);
      } catch {}
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** An observer that fails must not fail what it observes; and it sees who is calling, not what their token says. */
export function guardedObserver(
  observe: (event: ServerEvent) => void,
  logger: Logger,
): (event: ServerEvent) => void {
  return (event) => {
    try {
      observe("principal" in event ? { ...event, principal: identityOf(event.principal) } : event);
    } catch (error) {
      logger.error("observe() failed", { error });
    }
  };
}
