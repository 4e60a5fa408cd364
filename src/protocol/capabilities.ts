// The algebra of client capabilities: what a peer declared, and what is missing from it.
import { isObject, type JsonObject } from "../wire/message.ts";
import type { ClientCapabilities } from "./model.ts";

/**
 * The part of `required` that `declared` lacks, or undefined when nothing is missing.
 * An empty `elicitation` means its form mode, as it did when there was no other.
 */
export function missingCapabilities(
  required: ClientCapabilities,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  return missing(required, withElicitationForm(declared));
}

/** The same part in words: `elicitation`, or `elicitation.url` of a client that declares elicitation of another kind. */
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
