// A logger that keeps its entries.
import type { Logger } from "halyard";

export interface LogEntry {
  readonly level: keyof Logger;
  readonly message: string;
  readonly details: Record<string, unknown> | undefined;
}

export function recordingLogger(): Logger & { readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const at =
    (level: keyof Logger) =>
    (message: string, details?: object): void =>
      void entries.push({ level, message, details: details as Record<string, unknown> | undefined });
  return { entries, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
