// The official schemas with every object closed: a key that the schema does not name is a mistake, unless the key stands in
// a place that is open by design.
import { readFileSync } from "node:fs";

/** A JSON Schema, as far as the official ones use it. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly unevaluatedProperties?: boolean;
  readonly const?: unknown;
  readonly required?: readonly string[];
}

export type Definitions = Readonly<Record<string, Schema>>;

/** The definitions of `spec/schemas/<name>.json`, as they are. */
export function readDefinitions(name: string): Definitions {
  const text = readFileSync(new URL(`../../../spec/schemas/${name}.json`, import.meta.url), "utf8");
  const { $defs, definitions } = JSON.parse(text.replaceAll("#/definitions/", "#/$defs/")) as {
    $defs?: Definitions;
    definitions?: Definitions;
  };
  return $defs ?? definitions ?? {};
}

/** What authors and vendors may add keys to: metadata, and the schemas of tools. */
const openProperties: ReadonlySet<string> = new Set(["_meta", "inputSchema", "outputSchema"]);

/** The same definitions, closed. */
export function closeAll(definitions: Definitions): Definitions {
  const entries = Object.entries(definitions).map(([name, schema]) => {
    return [name, name.endsWith("MetaObject") ? schema : close(schema, definitions)] as const;
  });
  return Object.fromEntries(entries);
}

function close(schema: Schema, definitions: Definitions): Schema {
  if (schema.allOf !== undefined) {
    const parts = schema.allOf.map((part) => closeInside(part, definitions));
    return { ...schema, allOf: parts, unevaluatedProperties: false };
  }
  const inside = closeParts(schema, definitions);
  const isClosed = Object.keys(schema.properties ?? {}).length > 0;
  return isClosed ? { ...inside, additionalProperties: false } : inside;
}

/** A part of an `allOf`: another part may name the keys that this one does not. */
function closeInside(schema: Schema, definitions: Definitions): Schema {
  const target = schema.$ref === undefined ? schema : resolve(schema.$ref, definitions);
  const { additionalProperties: _, allOf, anyOf, ...rest } = target;
  const each = (parts: readonly Schema[]): Schema[] => parts.map((part) => closeInside(part, definitions));
  return {
    ...closeParts(rest, definitions),
    ...(allOf && { allOf: each(allOf) }),
    ...(anyOf && { anyOf: each(anyOf) }),
  };
}

/** Closes what is below a schema, and not the schema itself. */
function closeParts(schema: Schema, definitions: Definitions): Schema {
  const { anyOf, items, properties, additionalProperties } = schema;
  const closed = (part: Schema): Schema => close(part, definitions);
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(items && { items: closed(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: closed(additionalProperties) }),
    ...(properties && { properties: mapProperties(properties, closed) }),
  };
}

function mapProperties(
  properties: Readonly<Record<string, Schema>>,
  closed: (schema: Schema) => Schema,
): Record<string, Schema> {
  const entries = Object.entries(properties).map(([name, schema]) => {
    return [name, openProperties.has(name) ? opened(schema) : closed(schema)] as const;
  });
  return Object.fromEntries(entries);
}

function opened(schema: Schema): Schema {
  return schema.$ref === undefined ? { ...schema, additionalProperties: true } : schema;
}

function resolve(reference: string, definitions: Definitions): Schema {
  const found = definitions[reference.replace("#/$defs/", "")];
  if (found === undefined) throw new Error(`No definition for ${reference}`);
  return found;
}
