// Replaces what recordings leave out, and the same secrets in texts that are JSON and in the queries of URLs.
import { isSecret } from "../../client/recording.ts";
import { readJson } from "../../wire/json.ts";
import { isObject } from "../../wire/message.ts";

/** As in recordings. */
const redacted = "[redacted]";

/** A copy of the value in which the secrets are replaced. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return textWithoutSecrets(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    isSecret(key, inner) ? redacted : withoutSecrets(inner),
  ]);
  return Object.fromEntries(entries);
}

/** A text in which secrets are replaced. Tools repeat their structured results as text. */
export function textWithoutSecrets(text: string): string {
  if (/^\s*[[{]/.test(text)) {
    const value = readJson(text);
    const short = value === undefined ? undefined : JSON.stringify(withoutSecrets(value));
    // A text without secrets keeps its spaces and line breaks.
    if (short !== undefined) return short === JSON.stringify(value) ? text : short;
  }
  return text.replaceAll(/([?&#;])([\w.-]{1,40})=([^&#;\s"'<>]+)/g, (whole, before: string, key: string) =>
    isSecret(key, "") ? `${before}${key}=${redacted}` : whole,
  );
}
