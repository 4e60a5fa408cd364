// Removes secrets from messages and texts before they are shown.
import {
  textWithoutSecrets as redactedText,
  withoutSecrets as redacted,
} from "../client/redaction/messages.ts";
import { Secrets } from "../client/redaction/secrets.ts";

/**
 * A copy of a message in which the values of fields with secret names, tokens and the id of the session are replaced, wherever they
 * appear.
 *
 * @example
 * ```ts
 * import { withoutSecrets } from "halyard/window";
 *
 * console.log(withoutSecrets({ method: "tools/call", params: { password: "hunter2" } }));
 * ```
 */
export function withoutSecrets(message: unknown, session?: string): unknown {
  const secrets = new Secrets();
  secrets.add("session-id", session);
  return redacted(message, secrets);
}

/**
 * A text, such as a URI, in which secrets are replaced as in messages.
 *
 * @example
 * ```ts
 * import { textWithoutSecrets } from "halyard/window";
 *
 * console.log(textWithoutSecrets("https://example.com/report?token=abcdef"));
 * ```
 */
export function textWithoutSecrets(text: string): string {
  return redactedText(text);
}
