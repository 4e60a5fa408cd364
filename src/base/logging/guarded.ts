// Calls functions of the author, such as its logger, so that their exceptions and rejections cannot fail a request.
import { isThenable } from "../async/promises.ts";
import type { Logger } from "./logger.ts";

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

/** Runs a function of the author. It may be asynchronous, although its promise is not awaited. */
export function guard(run: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const returned = run();
    if (isThenable(returned)) returned.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}
