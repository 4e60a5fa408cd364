// How much one listen request may name: looked at before any of it is.
import { resourceUpdated } from "../protocol/notifications.ts";
import { maxUriLength } from "../protocol/uri.ts";
import type { ServerLimits } from "./options.ts";

/** Why the keys of a member of a listen filter cannot be taken; undefined if they can. */
export function keysProblem(
  { member, notification }: { readonly member: string; readonly notification: string },
  keys: unknown,
  { maxSubscribedKeys, maxSubscribedLength }: ServerLimits,
): string | undefined {
  if (!Array.isArray(keys)) return `${member} must be a list of strings`;
  if (keys.length > maxSubscribedKeys) return `${member} may name ${maxSubscribedKeys} at most`;
  if (!isTexts(keys)) return `${member} must be a list of strings`;
  if (sumOf(keys, ({ length }) => length) > maxSubscribedLength) {
    return `${member} may have ${maxSubscribedLength} characters at most`;
  }
  const isLong = notification === resourceUpdated && keys.some(({ length }) => length > maxUriLength);
  return isLong ? `${member} has a URI of more than ${maxUriLength} characters` : undefined;
}

function isTexts(keys: readonly unknown[]): keys is readonly string[] {
  return keys.every((key) => typeof key === "string");
}

/** What the texts count for together. */
export function sumOf(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((sum, text) => sum + count(text), 0);
}
