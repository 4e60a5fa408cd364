// The values that a schema lists, in every spelling that revisions and schema libraries use.
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/** A value that can be chosen. */
export interface Choice {
  readonly value: unknown;
  readonly title: string | undefined;
}

/** The choices of `const`, `enum` with or without `enumNames`, `oneOf` or `anyOf`; undefined if the schema lists none. */
export function choicesOf(schema: JsonObject): readonly Choice[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  if (schema["const"] !== undefined) return [{ value: schema["const"], title: undefined }];
  if (Array.isArray(values)) {
    const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value: unknown, index) => ({ value, title: titleOf(names[index]) }));
  }
  const options: unknown = oneOf ?? anyOf;
  if (!Array.isArray(options) || options.length === 0 || !options.every(isConstant)) return undefined;
  return options.map((option) => ({ value: option["const"], title: titleOf(option["title"]) }));
}

function isConstant(option: unknown): option is JsonObject {
  return isObject(option) && Object.hasOwn(option, "const");
}

function titleOf(title: unknown): string | undefined {
  return typeof title === "string" && title !== "" ? title : undefined;
}
