// Limits the rate of log lines that clients can cause, so that they cannot fill the disk.
import type { Logger } from "./logger.ts";

const maxLines = 10;
const periodMs = 1000;
const limitedLogs = new WeakMap<Logger, RateLimitedLog>();

/** Passes a limited number of warnings and errors per second to a logger. Each logger has one. */
export class RateLimitedLog {
  readonly #logger: Logger;
  #endsAt = 0;
  #lines = 0;
  #leftOut = 0;

  private constructor(logger: Logger) {
    this.#logger = logger;
  }

  static of(logger: Logger): RateLimitedLog {
    let limitedLog = limitedLogs.get(logger);
    if (!limitedLog) limitedLogs.set(logger, (limitedLog = new RateLimitedLog(logger)));
    return limitedLog;
  }

  warn(message: string, details?: object): void {
    this.#say("warn", message, details);
  }

  error(message: string, details?: object): void {
    this.#say("error", message, details);
  }

  /** Logs the line, or drops and counts it. The next line reports how many were dropped. */
  #say(level: "warn" | "error", message: string, details: object | undefined): void {
    const now = performance.now();
    if (now >= this.#endsAt) {
      this.#endsAt = now + periodMs;
      this.#lines = 0;
    }
    if (this.#lines >= maxLines) return void this.#leftOut++;
    this.#lines++;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    if (leftOut > 0) this.#logger[level](message, { ...details, leftOut });
    else if (!details) this.#logger[level](message);
    else this.#logger[level](message, details);
  }
}

/** Logs failures of repeated work: the first one, and no more of the same kind until the work has succeeded again. */
export class OutageLog {
  readonly #logger: Logger;
  readonly #failing = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `what` names the work in the log. */
  watch(what: string, work: Promise<unknown>): void {
    work.then(
      () => this.#failing.delete(what),
      (error: unknown) => {
        if (this.#failing.has(what)) return;
        this.#failing.add(what);
        RateLimitedLog.of(this.#logger).error(`${what} failed`, { error });
      },
    );
  }
}

/** Logs the rejection of a promise that is not awaited. `what` names the operation. */
export function logRejection(logger: Logger, what: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => RateLimitedLog.of(logger).error(`${what} failed`, { error }));
}
