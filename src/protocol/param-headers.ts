// Reads the `x-mcp-header` annotations of an input schema, which name the tool arguments that clients repeat as HTTP headers.
import { isObject, type JsonObject } from "../base/wire/message.ts";

/** An argument that clients repeat in the header `Mcp-Param-{name}`. */
export interface ParamHeader {
  readonly name: string;
  /** The property names from the root to the argument. */
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

export type ParamHeaders =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  | { readonly ok: false; readonly problem: string };

/** The argument at `path`, or undefined if there is none. */
export function argumentAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

const annotation = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const dataKeywords = new Set(["default", "const", "enum", "examples"]);
const mapKeywords = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const types: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Reads the annotations. One outside a chain of `properties`, or a malformed one, makes the whole schema invalid. */
export function readParamHeaders(schema: JsonObject): ParamHeaders {
  const headers: ParamHeader[] = [];
  const seen = new Set<string>();
  const problem = visit(schema, [], (path, node) => {
    const name = node[annotation];
    const where = path.join(".") || "the root";
    if (path.length === 0) return `annotates ${where} with ${annotation}: annotate a property`;
    if (typeof name !== "string" || !token.test(name)) {
      return `gives ${where} an ${annotation} that is not an HTTP token`;
    }
    const type = node["type"];
    if (!types.has(type)) {
      return `gives ${where} an ${annotation}, but its type is not string, integer or boolean`;
    }
    if (seen.has(name.toLowerCase())) return `uses the ${annotation} "${name}" twice`;
    seen.add(name.toLowerCase());
    headers.push({ name, path, type: type as ParamHeader["type"] });
    return undefined;
  });
  return problem ? { ok: false, problem } : { ok: true, headers };
}

const none: ParamHeaders = { ok: true, headers: [] };

/**
 * Like `readParamHeaders`, but faster for schemas without annotations, as most are: a client reads the schemas of whole lists.
 */
export function findParamHeaders(schema: JsonObject): ParamHeaders {
  return hasKey(schema, annotation) ? readParamHeaders(schema) : none;
}

/** Whether an object or array of JSON, or anything in it, has this key. */
function hasKey(value: object, key: string): boolean {
  if (Array.isArray(value)) return value.some((inner) => isObjectWith(inner, key));
  for (const name in value) if (name === key || isObjectWith((value as JsonObject)[name], key)) return true;
  return false;
}

function isObjectWith(value: unknown, key: string): boolean {
  return typeof value === "object" && value !== null && hasKey(value, key);
}

type Check = (path: readonly string[], node: JsonObject) => string | undefined;

/** Walks the chain of `properties`; annotations under any other keyword are a problem. */
function visit(node: JsonObject, path: readonly string[], check: Check): string | undefined {
  if (Object.hasOwn(node, annotation)) {
    const problem = check(path, node);
    if (problem) return problem;
  }
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "properties" && isObject(value)) {
      for (const [name, child] of Object.entries(value)) {
        const problem = isObject(child) ? visit(child, [...path, name], check) : undefined;
        if (problem) return problem;
      }
    } else if (isAnnotatedBelow(keyword, value)) {
      return `has an ${annotation} below "${keyword}": annotate a property reachable through "properties" alone`;
    }
  }
  return undefined;
}

function isAnnotated(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isAnnotated);
  if (!isObject(value)) return false;
  const isBelow = ([keyword, inner]: [string, unknown]): boolean => isAnnotatedBelow(keyword, inner);
  return Object.hasOwn(value, annotation) || Object.entries(value).some(isBelow);
}

/** Skips keywords that hold data, and the keys of maps, which are the author's names. */
function isAnnotatedBelow(keyword: string, value: unknown): boolean {
  if (dataKeywords.has(keyword)) return false;
  if (mapKeywords.has(keyword) && isObject(value)) return Object.values(value).some(isAnnotated);
  return isAnnotated(value);
}
