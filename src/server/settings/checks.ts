// Checks that the options of a server and its definitions have in common.
import { ConfigurationError } from "../../errors.ts";
import type { Known } from "../../options.ts";
import type { CacheHint, Icon } from "../../protocol/model.ts";

export const knownCacheHint: Known<CacheHint> = { ttlMs: true, scope: true };

/** What a client sees of an unexpected exception: an error id (`hidden`), or its message. */
export type ShownErrors = "hidden" | "message";

export function checkCacheHint(subject: string, field: string, hint: CacheHint | undefined): void {
  const { ttlMs = 0, scope = "private" } = hint ?? {};
  const problem =
    !Number.isSafeInteger(ttlMs) || ttlMs < 0
      ? `has the ttlMs ${ttlMs}: use an integer of 0 or more`
      : scope !== "public" && scope !== "private"
        ? `has the scope ${scope}: use "public" or "private"`
        : undefined;
  if (problem) throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
}

/** The values of {@link ShownErrors}. */
export const shownErrors: readonly string[] = ["hidden", "message"];

/** What is wrong with an option that takes one of a few texts, if it is given. */
export function choiceProblem(value: unknown, allowed: readonly string[]): string | undefined {
  if (value === undefined || allowed.includes(value as string)) return undefined;
  return `must be ${allowed.map((each) => `"${each}"`).join(" or ")}`;
}

const iconSize = /^(?:any|\d+x\d+)$/;
const iconSource = /^(?:https?|data):/i;

export function iconProblem(icon: Icon): string | undefined {
  if (typeof icon.src !== "string" || !iconSource.test(icon.src))
    return "has an invalid src: use an http(s) or data URI";
  if (
    icon.sizes !== undefined &&
    !(Array.isArray(icon.sizes) && icon.sizes.every((size) => iconSize.test(size)))
  ) {
    return 'has invalid sizes: use a list like ["48x48", "any"]';
  }
  if (icon.theme !== undefined && icon.theme !== "light" && icon.theme !== "dark") {
    return 'has an unknown theme: use "light" or "dark"';
  }
  return undefined;
}
