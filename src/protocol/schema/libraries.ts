// How each schema library writes the schema of an object, and how its schemas can be published as JSON Schema.
import type { StandardSchema } from "./standard.ts";

/** The first version of Zod whose schemas convert themselves to JSON Schema. */
export const leastZod = "4.2";

interface Library {
  /** How to write the schema of an object. */
  readonly object: string;
  /** What to do with a schema that has no JSON Schema. */
  readonly convert: string;
  /** What to do with a value that JSON cannot represent, such as a Date. */
  readonly replace: string;
}

const jsonType = "use a type that JSON has";

const libraries: Readonly<Record<string, Library>> = {
  zod: { object: "z.object({ … })", convert: "", replace: `${jsonType}; for a date, z.iso.datetime()` },
  valibot: {
    object: "v.object({ … })",
    convert: "wrap it in toStandardJsonSchema(…) of @valibot/to-json-schema",
    replace: `${jsonType}; for a date, v.pipe(v.string(), v.isoTimestamp())`,
  },
  arktype: {
    object: "type({ … })",
    convert: "use arktype 2.2 or later",
    replace: `${jsonType}; for a date, "string.date.iso"`,
  },
  effect: {
    object: "Schema.Struct({ … })",
    convert: "wrap it in Schema.toStandardJSONSchemaV1(…) of effect 4 or later",
    replace: "wrap the schema in Schema.toCodecJson(…) first",
  },
};

const unknownLibrary: Library = {
  object: 'a JSON Schema with type "object"',
  convert: "pass a JSON Schema, or a converter as new McpServer(info, { toJsonSchema })",
  replace: jsonType,
};

export function libraryOf(schema: StandardSchema): Library {
  const { vendor } = schema["~standard"];
  return (Object.hasOwn(libraries, vendor) ? libraries[vendor] : undefined) ?? unknownLibrary;
}

/** The library of a schema, and how to make it publish JSON Schema. */
export function sourceOf(schema: StandardSchema): { readonly name: string; readonly remedy: string } {
  const { vendor } = schema["~standard"];
  if (vendor !== "zod") return { name: vendor, remedy: libraryOf(schema).convert };
  const { _zod: core } = schema as { _zod?: { version?: { major: number; minor: number; patch: number } } };
  if (!core) return { name: "zod 3", remedy: `use zod ${leastZod} or later` };
  const { major = 4, minor = 0, patch = 0 } = core.version ?? {};
  const pass = "pass new McpServer(info, { toJsonSchema: z.toJSONSchema })";
  // The schemas of zod/mini have no methods.
  const isMini = !("_def" in schema);
  const name = `zod${isMini ? "/mini" : ""} ${major}.${minor}.${patch}`;
  return { name, remedy: isMini ? pass : `use zod ${leastZod} or later, or ${pass}` };
}
