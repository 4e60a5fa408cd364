// What strangers make a server say: so many lines a second, or they could fill the disk with them.
import type { Logger } from "./logger.ts";

const maxLines = 10;
const periodMs = 1000;
const calmLogs = new WeakMap<Logger, CalmLog>();

/** Takes warnings and errors for a logger. There is one for each logger, whoever says something. */
export class CalmLog {
  readonly #logger: Logger;
  #endsAt = 0;
  #lines = 0;
  #leftOut = 0;

  private constructor(logger: Logger) {
    this.#logger = logger;
  }

  static of(logger: Logger): CalmLog {
    let calmLog = calmLogs.get(logger);
    if (calmLog === undefined) calmLogs.set(logger, (calmLog = new CalmLog(logger)));
    return calmLog;
  }

  warn(message: string, details?: object): void {
    this.#say("warn", message, details);
  }

  error(message: string, details?: object): void {
    this.#say("error", message, details);
  }

  /** Says it, or counts it; how many were left out comes with the next one that is said. */
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
    else if (details === undefined) this.#logger[level](message);
    else this.#logger[level](message, details);
  }
}
