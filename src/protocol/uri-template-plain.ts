// Most templates have plain variables and separators between them: those a regular expression matches, many times as fast.

import type { TemplatePart } from "./uri-template-parse.ts";
import { RESERVED, UNRESERVED } from "./uri-template-program.ts";

const inValue = new RegExp(`^[${UNRESERVED}%]`);
/** A longer one may be too large to compile. */
const maxSource = 10_000;
const special = /[\\^$.*+?()[\]{}|/]/g;

/**
 * Matches what follows the first literal, with a group for each variable; undefined for a template that is not so plain. Each
 * value ends where a character stands that it cannot have, so that there is one way to match, and no way back to try.
 */
export function plainPattern(parts: readonly TemplatePart[]): RegExp | undefined {
  let source = "";
  for (const [at, { literal, variables }] of parts.entries()) {
    const [variable, ...others] = variables;
    const isEnd = at === parts.length - 1 && literal === "" && variable === undefined;
    if (at > 0 && !isEnd) {
      // Nothing ends a value that may hold everything, or that no character follows which it cannot have.
      const isOpen = parts[at - 1]?.variables[0]?.operator.reserved;
      if (isOpen || literal === "" || inValue.test(literal)) return undefined;
      source += literal.replace(special, "\\$&");
    }
    if (variable === undefined) continue;
    const { operator, explode, max } = variable;
    if (others.length > 0 || explode || max < Infinity || operator.first + operator.sep !== ",")
      return undefined;
    source += `((?:[${UNRESERVED}${operator.reserved ? RESERVED : ""}]|%[\\dA-Fa-f]{2})*)`;
  }
  return source.length > maxSource ? undefined : new RegExp(`^${source}$`);
}
