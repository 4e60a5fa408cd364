// JSON Schemas as a form needs them: references resolved, `allOf` merged, alternatives spread out.

export interface Schema {
  readonly [keyword: string]: unknown;
}

/** A value as a schema; undefined if it is none that describes anything. */
export function toSchema(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}

/** How many schemas one is put together from at most, so that references in a circle end. */
const maxParts = 100;

/** The schema with the keywords of its reference and its `allOf`; undefined if a reference leads nowhere, or in a circle. */
export function resolve(
  schema: Schema,
  root: Schema,
  parts: { left: number } = { left: maxParts },
): Schema | undefined {
  if (parts.left-- <= 0) return undefined;
  const { $ref, allOf, ...own } = schema;
  const resolved: Schema[] = [];
  if ($ref !== undefined) {
    const target = typeof $ref === "string" ? pointedAt($ref, root) : undefined;
    const whole = target && resolve(target, root, parts);
    if (!whole) return undefined;
    resolved.push(whole);
  }
  for (const one of listOf(allOf).slice(0, maxParts)) {
    const part = toSchema(one);
    const whole = part && resolve(part, root, parts);
    if (whole) resolved.push(whole);
  }
  return resolved.length === 0 ? own : [...resolved, own].reduce(merge);
}

/** The schema that a reference such as `#/$defs/address` names. References to other documents are never fetched. */
function pointedAt(ref: string, root: Schema): Schema | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const key = unescaped(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Schema)[key];
  }
  return toSchema(at);
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}

/** Both schemas as one: their properties and what they require together, of the rest what `upper` says. */
function merge(lower: Schema, upper: Schema): Schema {
  const properties = [...entriesOf(lower["properties"]), ...entriesOf(upper["properties"])];
  const required = [...listOf(lower["required"]), ...listOf(upper["required"])];
  return {
    ...lower,
    ...upper,
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

/** Keywords that describe a value. An alternative with none of them only restricts which values go together. */
const shaping = ["type", "properties", "items", "enum", "const", "$ref", "oneOf", "anyOf", "allOf"];

/** How many alternatives a schema has that a form can show: 0 if they only say which values go together. */
export function countAlternatives({ type, oneOf, anyOf }: Schema): number {
  if (Array.isArray(type)) return type.length;
  const alternatives = listOf(oneOf ?? anyOf).map(toSchema);
  const areShapes = alternatives.every(
    (one) => one && shaping.some((keyword) => Object.hasOwn(one, keyword)),
  );
  return areShapes ? alternatives.length : 0;
}

/** The alternatives of a schema, each with what they share. */
export function alternativesOf(schema: Schema): readonly Schema[] {
  // The title and the default of the whole are not those of each alternative.
  const { oneOf, anyOf, title: _title, description: _description, default: _default, ...shared } = schema;
  const { type } = shared;
  if (Array.isArray(type)) return type.map((one: unknown) => merge(shared, { type: one }));
  return (listOf(oneOf ?? anyOf) as readonly Schema[]).map((one) => {
    const { allOf } = one;
    return Object.assign({}, one, { allOf: [shared, ...listOf(allOf)] });
  });
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(toSchema(value) ?? {});
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
