// The known contents of each log, because NATS limits the number of messages of a subject, and not their bytes.
import { inBackground } from "../../base/async/timers.ts";
import { maxLogBytes } from "../engine/engine.ts";

/** Logs that are remembered. Those that were used least recently are forgotten first. */
const maxKnown = 10_000;

/** Milliseconds between two sweeps for expired logs. */
const lookMs = 10_000;

interface Window {
  /** The number of the first message that is counted, and the bytes from there on. */
  start: number;
  bytes: number;
  /** When the log expires, as far as this node knows. */
  endsAt: number;
}

/** Removes messages of a log. */
interface LogRemover {
  /** Removes the messages before this number. */
  drop(log: string, before: number): void;
  /** Removes the log if it has expired. */
  expire(log: string): void;
}

/**
 * Drops the messages before a window as soon as the window alone fills a log, and begins the next one. So the server holds less
 * than two full logs of messages that this node has written or received.
 */
export class LogWindows {
  readonly #remover: LogRemover;
  readonly #windows = new Map<string, Window>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(remover: LogRemover) {
    this.#remover = remover;
  }

  /** Counts a message that the server has stored, in a log that keeps so many bytes. */
  add(log: string, sequence: number, bytes: number, maxBytes: number = maxLogBytes): void {
    const window = this.#windowOf(log);
    if (window.bytes === 0) window.start = sequence;
    window.bytes += bytes;
    if (window.bytes < Math.min(maxBytes, maxLogBytes)) return;
    this.#remover.drop(log, window.start);
    window.bytes = 0;
  }

  /** Called when the log is kept for that time from now on. */
  keep(log: string, keepMs: number): void {
    const window = this.#windowOf(log);
    window.endsAt = performance.now() + keepMs;
    this.#timer ??= inBackground(setInterval(() => this.#look(), lookMs));
  }

  delete(log: string): void {
    this.#windows.delete(log);
    if (this.#windows.size === 0) this.clear();
  }

  /** Forgets all logs. */
  clear(): void {
    this.#windows.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The window of a log, as the newest. */
  #windowOf(log: string): Window {
    const window = this.#windows.get(log) ?? { start: 0, bytes: 0, endsAt: Number.POSITIVE_INFINITY };
    this.#windows.delete(log);
    this.#windows.set(log, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= maxKnown) break;
      this.#windows.delete(oldest);
    }
    return window;
  }

  #look(): void {
    const now = performance.now();
    for (const [log, { endsAt }] of this.#windows) {
      if (endsAt > now) continue;
      this.delete(log);
      this.#remover.expire(log);
    }
  }
}
