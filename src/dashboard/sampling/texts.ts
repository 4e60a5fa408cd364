// Cuts texts that clients choose, and removes the secrets in them.
import { copyOf } from "../../base/errors.ts";
import { textWithoutSecrets } from "../../window/index.ts";

/** Cuts a text that a client chose. */
export function cut(text: string, length: number): string {
  // Copied, because a slice would keep the whole text in memory.
  return text.length <= length ? text : `${copyOf(text.slice(0, length - 1))}…`;
}

/** Cuts the name or URI of a subject, or a reason that may contain one, after removing the secrets in its query. */
export function cutSubject(text: string, length: number): string {
  // A much longer text is cut anyway.
  return cut(textWithoutSecrets(text.slice(0, 10 * length)), length);
}

/** The text that a search compares. */
export function searchedText(words: readonly (string | undefined)[]): string {
  return words.join(" ").toLowerCase();
}
