// Publishes schemas as JSON Schema 2020-12: those of libraries, and plain ones with keywords of older drafts.
import type { ConfigurationError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { dialectOf, jsonSchemaProblem } from "./json-schema.ts";
import { toCurrentDraft } from "./json-schema/older-keywords.ts";
import { libraryOf, sourceOf } from "./libraries.ts";
import { isStandardSchema, type StandardSchema } from "./standard.ts";
import { unrepresentableIn } from "./unrepresentable.ts";

/** Converts the schema of a library to JSON Schema, for its input or its output, like `z.toJSONSchema`. */
export type ToJsonSchema = (
  schema: never,
  options: { readonly io: "input" | "output"; readonly target: "draft-2020-12" },
) => object;

const target = "draft-2020-12";

/** Creates the error for a problem with a schema. */
export type Fail = (problem: string, cause?: unknown) => ConfigurationError;

/** The schema for official clients: in 2020-12, unless it names draft-07 or 2019-09, which they support. */
export function inCurrentDraft(schema: JsonObject, fail: Fail): JsonObject {
  const { $schema, ...unnamed } = schema;
  const draft = dialectOf(schema);
  const given = draft === 4 ? unnamed : schema;
  const current =
    draft === undefined ? given : toCurrentDraft(given, $schema === undefined ? "unnamed" : draft);
  const problem = typeof current === "string" ? current : jsonSchemaProblem(current);
  if (problem !== undefined) throw fail(problem);
  return current as JsonObject;
}

/** The JSON Schema of a library's schema, or an error that names the property and what to write instead. */
export function published(
  schema: StandardSchema,
  direction: "input" | "output",
  toJsonSchema: ToJsonSchema | undefined,
  fail: Fail,
): JsonObject {
  const { jsonSchema, validate } = schema["~standard"];
  const source = sourceOf(schema);
  const problem = `(${source.name}) cannot be published as JSON Schema: `;
  if (!jsonSchema && !toJsonSchema) throw fail(problem + source.remedy);
  if (typeof validate !== "function")
    throw fail(`(${source.name}) cannot validate: pass a Standard Schema, which has validate`);
  const convert = (part: StandardSchema): unknown =>
    part["~standard"].jsonSchema?.[direction]({ target }) ??
    toJsonSchema?.(part as never, { io: direction, target });
  let json: unknown;
  try {
    json = convert(schema);
  } catch (cause) {
    const { path, isSchema } = failingPart(schema, convert);
    const where = path.length > 0 ? `${path.join(".")}: ` : "";
    const [what, remedy] = isSchema
      ? [reason(cause).replace(/\.$/, ""), libraryOf(schema).replace]
      : ["it is not a schema", "write one, such as z.string()"];
    throw fail(`${problem}${where}${what}: ${remedy}`, cause);
  }
  if (!isObject(json)) throw fail(`${problem}toJsonSchema returned no object`);
  const current = inCurrentDraft(json, fail);
  // Zod and Valibot refuse such a property themselves.
  const strange = ["zod", "valibot"].includes(schema["~standard"].vendor)
    ? undefined
    : unrepresentableIn(schema, current);
  if (strange === undefined) return current;
  throw fail(`${problem}${strange}: ${libraryOf(schema).replace}`);
}

/** A property that makes the conversion of a schema fail, if there is one. */
interface FailingPart {
  readonly path: readonly string[];
  readonly isSchema: boolean;
}

/** Finds the property whose own conversion fails, or which is not a schema. Only Zod's schemas expose their parts. */
function failingPart(
  schema: StandardSchema,
  convert: (part: StandardSchema) => unknown,
  outer: readonly unknown[] = [],
): FailingPart {
  const { shape, element } = schema as { readonly shape?: object; readonly element?: unknown };
  const around = [...outer, schema];
  for (const [name, part] of [...Object.entries(shape ?? {}), ["0", element] as const]) {
    if (part === undefined || around.includes(part)) continue;
    if (!isStandardSchema(part)) return { path: [name], isSchema: false };
    try {
      convert(part);
    } catch {
      const { path, isSchema } = failingPart(part, convert, around);
      return { path: [name, ...path], isSchema };
    }
  }
  return { path: [], isSchema: true };
}

export function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
