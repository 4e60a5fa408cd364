// Records the messages of a client as lines of JSON, without secrets.
import { parseWithin } from "../wire/json.ts";
import { isObject } from "../wire/message.ts";
import type { Tap } from "./channel/channel.ts";
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

/**
 * The keys whose values are left out, in lower case and without `-` and `_`. Texts, numbers and arrays under such a key are replaced;
 * objects are searched on, so that the schema of a field `password` stays readable.
 */
const secretKeys: ReadonlySet<string> = new Set(
  (
    "sessionid mcpsessionid token accesstoken refreshtoken idtoken authtoken bearertoken apitoken sessiontoken csrftoken " +
    "password passwd passphrase pin otp secret clientsecret privatekey secretkey accesskey apikey xapikey " +
    "authorization proxyauthorization credential credentials cookie setcookie requeststate"
  ).split(" "),
);

const redacted = "[redacted]";

/** Passes each message to `record` as a line of JSON. */
export function recorder(record: (line: string) => void, limits: ClientLimits): Tap {
  return (direction, stream, text) => {
    const parsed = parseWithin(text, limits);
    const message = parsed.ok ? withoutSecrets(parsed.value) : `[unreadable: ${text.length} characters]`;
    const line: RecordedLine = { time: new Date().toISOString(), direction, stream, message };
    record(JSON.stringify(line));
  };
}

/** A copy of the value in which the secrets are replaced. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    isSecret(key, inner) ? redacted : withoutSecrets(inner),
  ]);
  return Object.fromEntries(entries);
}

/** Whether the value of a member is left out. */
export function isSecret(key: string, value: unknown): boolean {
  if (value === null || typeof value === "boolean" || isObject(value)) return false;
  return secretKeys.has(key.replaceAll(/[-_]/g, "").toLowerCase());
}
