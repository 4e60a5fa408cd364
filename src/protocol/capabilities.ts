// Compares the client capabilities that something requires with those that a client declared.
import { isObject, type JsonObject } from "../base/wire/message.ts";
import type { ClientCapabilities } from "./model.ts";

/**
 * The part of `required` that `declared` lacks, or undefined if nothing is missing.
 * An empty `elicitation` means form mode, the only mode of earlier revisions.
 */
export function missingCapabilities(
  required: ClientCapabilities,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  return missing(required, withElicitationForm(declared));
}

/** Names the missing part: `elicitation`, or `elicitation.url` if the client declares another mode of elicitation. */
export function namesOfMissing(lacking: ClientCapabilities, declared: ClientCapabilities): string {
  const names = Object.entries(lacking).map(([name, inner]) =>
    isObject(declared[name]) ? `${name}.${Object.keys(inner as object).join()}` : name,
  );
  return names.join(", ");
}

function missing(required: JsonObject, declared: JsonObject): JsonObject | undefined {
  const lacking: Record<string, unknown> = {};
  for (const [name, wanted] of Object.entries(required)) {
    const have = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (have === undefined || have === false) lacking[name] = wanted;
    else if (isObject(wanted)) {
      const inner = missing(wanted, isObject(have) ? have : {});
      if (inner) lacking[name] = inner;
    }
  }
  return Object.keys(lacking).length > 0 ? lacking : undefined;
}

function withElicitationForm(declared: ClientCapabilities): ClientCapabilities {
  const { elicitation } = declared;
  if (!isObject(elicitation) || Object.keys(elicitation).length > 0) return declared;
  return { ...declared, elicitation: { form: {} } };
}
