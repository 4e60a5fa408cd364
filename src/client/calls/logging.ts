// The level of the server's log messages: a legacy server gets it once for each session, a modern one with each request.
import { isLogLevel, type LogLevel } from "../../protocol/model.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { LogEntry } from "../settings/handlers.ts";
import type { CallSender } from "./calls.ts";
import type { CallOptions } from "../settings/call-options.ts";

export class Logging {
  readonly #calls: CallSender;
  #level: LogLevel | undefined;

  constructor(calls: CallSender, onLog: ((entry: LogEntry) => void) | undefined) {
    this.#calls = calls;
    calls.onReopened(() => this.#restore());
    if (onLog)
      calls.onNotification("notifications/message", ({ params }) => this.#receive(params ?? {}, onLog));
  }

  /** Sets the level. A legacy server without logging rejects it. */
  async set(level: LogLevel, options?: CallOptions): Promise<void> {
    this.#calls.logLevel = level;
    this.#level = level;
    if (this.#calls.peer.revision.era === "legacy")
      await this.#calls.request("logging/setLevel", { level }, options);
  }

  /** Sets the level of the `logLevel` option, if the server supports logging. */
  async begin(level: LogLevel): Promise<void> {
    this.#calls.logLevel = level;
    this.#level = level;
    await this.#restore().catch((error: unknown) =>
      this.#calls.observe({ type: "ignored", reason: `logging/setLevel failed: ${String(error)}` }),
    );
  }

  async #restore(): Promise<void> {
    const { capabilities } = this.#calls.peer;
    if (this.#level !== undefined && capabilities.logging !== undefined) await this.set(this.#level);
  }

  #receive({ level, logger, data }: JsonObject, onLog: (entry: LogEntry) => void): void {
    if (!isLogLevel(level)) return;
    try {
      onLog({ level, logger: typeof logger === "string" ? logger : undefined, data });
    } catch (error) {
      this.#calls.thrown(onLog, `onLog threw: ${String(error)}`);
    }
  }
}
