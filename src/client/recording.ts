// Records the messages of a client as lines of JSON, without secrets.
import { parseWithin } from "../base/wire/json.ts";
import type { Tap } from "./channel/channel.ts";
import { withoutSecrets } from "./redaction/messages.ts";
import { Secrets } from "./redaction/secrets.ts";
import type { ClientLimits } from "./settings/limits.ts";

/** One line of a recording. */
export interface RecordedLine {
  /** ISO 8601. */
  readonly time: string;
  readonly direction: "sent" | "received";
  /** The stream that carried the message. */
  readonly stream: string;
  /** The message, or a batch of them, without secrets; of a text that is not JSON only the length. */
  readonly message: unknown;
}

/** Passes each message to `record` as a line of JSON. `known`: the secrets of the client. */
export function recorder(record: (line: string) => void, limits: ClientLimits, known: Secrets): Tap {
  const seen = new Secrets();
  return (direction, stream, text) => {
    const parsed = parseWithin(text, limits);
    const message = parsed.ok
      ? withoutSecrets(parsed.value, seen, known)
      : `[unreadable: ${text.length} characters]`;
    const line: RecordedLine = { time: new Date().toISOString(), direction, stream, message };
    record(JSON.stringify(line));
  };
}
