// The fields that all definitions share, and the checks that run at registration.
import { ConfigurationError } from "../../base/errors.ts";
import {
  func,
  isPlain,
  type Kind,
  type Known,
  listOf,
  matching,
  numberFrom,
  oneOf,
  plainObject,
  problemOf,
  type Table,
  text,
  texts,
} from "../../base/kinds.ts";
import { inheritedOf, inheritedProblem, nearest } from "../../base/options.ts";
import { metaKeyProblem } from "../../protocol/meta.ts";
import { type Annotations, type Icon, icons, type ToolSchema } from "../../protocol/model.ts";
import { scopesProblem } from "../../protocol/principal.ts";
import type { AnySchema } from "../../protocol/schema/compile.ts";
import { libraryOf } from "../../protocol/schema/libraries.ts";
import { isStandardSchema } from "../../protocol/schema/standard.ts";
import { kindOf } from "./result-checks.ts";
import type { JsonObject } from "../../base/wire/message.ts";

/** The fields that tools, resources, templates and prompts share. */
export interface Described {
  /** A display name. */
  readonly title?: string | undefined;
  /** Tells the model what it is for and when to use it. */
  readonly description?: string | undefined;
  /** Icons that clients may show, such as `[{ src: "https://example.com/icon.png" }]`. */
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: JsonObject | undefined;
  /** The scopes that the caller must have, all of them. Over HTTP this requires the option `auth`. */
  readonly scopes?: readonly string[] | undefined;
}

/** A handler as an author registers it; the types of the definition determine its parameters. */
export type AnyHandler = (args: never, ctx: never) => unknown;

/** The arguments that register a definition. The handler is the last one. */
export type Registration = [key: string, definition: object, handler: unknown, ...more: unknown[]];

/** A handler as Halyard calls it, with validated arguments. */
export type CheckedHandler = (args: unknown, ctx: unknown) => unknown;

const isoDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

export const knownAnnotations: Known<Annotations> = {
  audience: listOf(oneOf("user", "assistant"), 'a list of "user" and "assistant"'),
  priority: numberFrom(0, 1, "a number from 0 to 1"),
  lastModified: {
    is: (value) => matching(isoDate, "").is(value) && !Number.isNaN(Date.parse(value as string)),
    mustBe: "an ISO 8601 date",
  },
};

/** The fields of {@link Described}, and the handler. */
export const describedFields: Known<Described & { handler: AnyHandler }> = {
  title: text,
  description: text,
  icons,
  _meta: plainObject,
  scopes: texts,
  handler: func,
};

/** Completers by the name of what they complete. */
export const completers: Kind<never> = {
  is: (value) => isPlain(value) && Object.values(value).every((each) => each === undefined || func.is(each)),
  mustBe: "an object of functions by name, such as { city: (typed) => […] }",
};

/** Field names of other packages, and the fields that replace them. */
const namesHere: ReadonlyMap<string, readonly string[]> = new Map([
  ["inputSchema", ["input", "arguments"]],
  ["schema", ["input", "arguments"]],
  ["args", ["arguments", "input"]],
  ["params", ["arguments", "input"]],
  ["parameters", ["input", "arguments"]],
  ["argsSchema", ["arguments", "input"]],
  ["input", ["arguments"]],
  ["arguments", ["input"]],
  ["outputSchema", ["output"]],
  ["result", ["output"]],
  ["returns", ["output"]],
  ["cacheHint", ["cache"]],
]);

const handlersElsewhere: ReadonlySet<string> = new Set(["execute", "load", "callback"]);
/** The members of the official `ResourceTemplate`. */
const templateElsewhere: ReadonlySet<string> = new Set(["_uriTemplate", "_callbacks"]);
const keysElsewhere: ReadonlySet<string> = new Set(["name", "uri", "uriTemplate"]);

/** The fix for an unknown field, if it is known from other packages. */
export function foreignField(name: string, value: unknown, fields: object): string | undefined {
  const here = namesHere.get(name)?.find((known) => known in fields);
  if (here !== undefined) return `is called ${here} here`;
  if (name === "enabled") return "is not a field: call enable() or disable() of the handle";
  if (handlersElsewhere.has(name)) return "is not a field: pass the handler as the last argument";
  if (templateElsewhere.has(name))
    return "belongs to a ResourceTemplate: call server.resourceTemplate(uriTemplate, { list, complete }, handler)";
  if (keysElsewhere.has(name)) return "is not a field: pass it as the first argument";
  if (/^\w+Hint$/.test(name) && "input" in fields) return "belongs in annotations";
  const holder = ["input", "arguments"].find((known) => known in fields);
  return holder && isStandardSchema(value)
    ? `is a schema: pass { ${holder}: ${libraryOf(value).object.replace("…", `${name}: …`)} }`
    : undefined;
}

/** Throws for a field of a definition that cannot work. */
export function refuseField(subject: string, field: string, problem: string): never {
  throw new ConfigurationError("INVALID_DEFINITION", { subject, field }, problem);
}

/** Throws if the argument of `server.{method}` is not a function. */
export function checkHandler(method: string, handler: unknown, remedy = ""): void {
  const problem = problemOf(func, handler);
  if (problem !== undefined) refuseField(`server.${method}`, "handler", problem + remedy);
}

/** Throws if the key or the definition is missing or in the wrong place, as in code written for other packages. */
export function checkDefinition(
  { noun, usage, fields }: { readonly noun: string; readonly usage: string; readonly fields: Table },
  key: unknown,
  definition: unknown,
): void {
  const fail = (subject: string, field: string, kind: string): never =>
    refuseField(subject, field, `is ${kind}: call server.${usage}`);
  if (key instanceof URL) refuseField(noun, "the first argument", "is a URL: pass its text, url.href");
  if (typeof key !== "string")
    return fail(noun, "the first argument", isPlain(key) ? "a definition" : kindOf(key));
  const subject = `${noun} "${key}"`;
  if (!isPlain(definition)) return fail(subject, "definition", kindOf(definition));
  const inherited = inheritedOf(definition, fields);
  if (inherited !== undefined) refuseField(subject, inherited, inheritedProblem);
}

/**
 * Throws if there is an argument besides the key, the definition and the handler, as in other packages. A definition with unknown
 * fields has an error of its own.
 */
export function checkNoMore(
  { noun, usage, fields }: { readonly noun: string; readonly usage: string; readonly fields: Table },
  [key, definition, ...given]: Registration,
): void {
  if (given.slice(1).every((each) => each === undefined)) return;
  if (Object.keys(definition).some((name) => !Object.hasOwn(fields, name))) return;
  const other = kindOf(given.find((each) => typeof each !== "function") ?? given[1]);
  const problem = `is the last argument: put ${other} into the definition, as in server.${usage}`;
  refuseField(`${noun} "${key}"`, "handler", problem);
}

/** Throws for the first field of `options` that cannot be published, or if the handler is missing. */
export function checkDescribed(
  subject: string,
  { scopes, _meta, handler }: Described & { readonly handler?: unknown },
): void {
  const fail = (field: string, problem: string): never => refuseField(subject, field, problem);
  const problem = scopes && scopesProblem(scopes);
  if (problem) fail("scopes", problem);
  for (const key of Object.keys(_meta ?? {})) {
    const wrong = metaKeyProblem(key);
    if (wrong) fail("_meta", wrong);
  }
  if (_meta !== undefined && !isSerialisable(_meta)) fail("_meta", "cannot be serialised as JSON");
  if (handler === undefined) fail("handler", "is missing: pass a function as the last argument");
}

/** Throws if the schema that was `given` does not describe an object. */
export function assertObjectSchema(
  published: JsonObject,
  given: AnySchema | undefined,
  where: { subject: string; field: string },
): asserts published is ToolSchema {
  if (published["type"] === "object") return;
  const example = isStandardSchema(given) ? libraryOf(given).object : '{ type: "object", properties: { … } }';
  throw new ConfigurationError("INVALID_SCHEMA", where, `must be the schema of an object: ${example}`);
}

/** Throws if `complete` has a name that is not in `names`. */
export function checkCompleters(
  subject: string,
  complete: object | undefined,
  names: readonly string[],
  what: string,
): void {
  const unknown = Object.keys(complete ?? {}).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const known = Object.fromEntries(names.map((name) => [name, true]));
  const remedy = names.length === 0 ? "it has none" : nearest(unknown, known);
  refuseField(subject, "complete", `names "${unknown}", which is not ${what}: ${remedy}`);
}

export function checkNotEmpty(noun: string, name: unknown): void {
  checkName(noun, name, /./s, "must not be empty");
}

export function checkName(noun: string, name: unknown, allowed: RegExp, rule: string): void {
  if (typeof name === "string" && allowed.test(name)) return;
  const where = { subject: `${noun} ${JSON.stringify(name)}`, field: "name" };
  throw new ConfigurationError("INVALID_NAME", where, rule);
}

function isSerialisable(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
