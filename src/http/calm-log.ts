// What strangers make a server say: so many lines a second, or they could fill the disk with them.
import type { Logger } from "../server/logger.ts";

const maxLines = 10;
const periodMs = 1000;

export class CalmLog {
  readonly #logger: Logger;
  #endsAt = 0;
  #lines = 0;
  #leftOut = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Says it, or counts it; how many were left out comes with the next one that is said. */
  say(level: "warn" | "error", message: string, details?: object): void {
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
