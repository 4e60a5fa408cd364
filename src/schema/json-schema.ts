// Plain JSON Schema: checked once at registration, validated by an interpreter that needs no code generation.
import { dereference, type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { isObject, type JsonObject } from "../wire/message.ts";
import { keywordProblem } from "./json-schema-keywords.ts";
import { failure, type Validation } from "./validation.ts";

/** A JSON Schema document. */
export type JsonSchema = JsonObject;

const drafts: Readonly<Record<string, SchemaDraft>> = {
  "https://json-schema.org/draft/2020-12/schema": "2020-12",
  "https://json-schema.org/draft/2019-09/schema": "2019-09",
  "http://json-schema.org/draft-07/schema": "7",
  "http://json-schema.org/draft-04/schema": "4",
};

/** Why `schema` cannot be used, or undefined: an unknown dialect, a `$ref` that leads out of it, a keyword misused. */
export function jsonSchemaProblem(schema: JsonSchema): string | undefined {
  if (draftOf(schema) === undefined) {
    return `has the dialect ${JSON.stringify(schema["$schema"])}, which is not supported: use ${Object.keys(drafts)[0]}`;
  }
  const outside = outsideReference(schema);
  if (outside !== undefined) {
    return `has the $ref "${outside}", which leads out of the schema and is never fetched: put it under $defs`;
  }
  return keywordProblem(schema);
}

/** A function that validates against `schema`. Throws when the schema itself cannot be read. */
export function compileJsonSchema(schema: JsonSchema): (value: unknown) => Validation {
  // The interpreter marks the schema it is given, so that it gets a copy: the author's may be frozen or shared.
  const copy = structuredClone(schema) as Schema;
  assertReferences(copy);
  const validator = new Validator(copy, draftOf(schema) ?? "2020-12", true);
  // A schema that refers to itself without end shows only when it is followed, so one value is tried now.
  validator.validate({});
  return (value) => {
    const { valid, errors } = validateAsJson(validator, value);
    if (valid) return { ok: true, value };
    // The interpreter lists each failure once per enclosing schema; the innermost says what is wrong.
    const innermost = errors.at(-1);
    const at = innermost?.instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".") ?? "";
    return failure([innermost?.error ?? "does not match the schema"], (message) => issue(at, message));
  };
}

/** The interpreter finds a reference that leads nowhere only when it follows it, which may be in a call. */
function assertReferences(schema: Schema): void {
  const nodes = dereference(schema);
  for (const node of Object.values(nodes)) {
    if (typeof node === "boolean" || node.__absolute_ref__ === undefined) continue;
    if (nodes[node.__absolute_ref__] === undefined)
      throw new TypeError(`the $ref "${node.$ref}" leads nowhere`);
  }
}

/** The interpreter throws at what is no JSON, such as an undefined member; then the value counts as JSON would write it. */
function validateAsJson(validator: Validator, value: unknown): ReturnType<Validator["validate"]> {
  try {
    return validator.validate(value);
  } catch {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? { valid: false, errors: [] } : validator.validate(JSON.parse(text));
  }
}

function issue(at: string, message: string): string {
  return at === "" ? message : `${at}: ${message}`;
}

function draftOf(schema: JsonSchema): SchemaDraft | undefined {
  const dialect = schema["$schema"];
  if (dialect === undefined) return "2020-12";
  if (typeof dialect !== "string") return undefined;
  const name = dialect.replace(/#$/, "");
  return Object.hasOwn(drafts, name) ? drafts[name] : undefined;
}

/** The first `$ref` that does not point into the document itself. */
function outsideReference(node: unknown): string | undefined {
  if (Array.isArray(node)) {
    for (const item of node) {
      const found = outsideReference(item);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(node)) return undefined;
  for (const [keyword, value] of Object.entries(node)) {
    const isReference = keyword === "$ref" || keyword === "$dynamicRef";
    if (isReference && typeof value === "string" && !value.startsWith("#")) return value;
    const found = outsideReference(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
