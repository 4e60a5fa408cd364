// The fields that all definitions share, and the checks that run at registration.
import { ConfigurationError } from "../../errors.ts";
import type { Known } from "../../options.ts";
import { metaKeyProblem } from "../../protocol/meta.ts";
import { type Annotations, type Icon, isRole, knownIcon } from "../../protocol/model.ts";
import { scopesProblem } from "../../protocol/scopes.ts";
import { isStandardSchema } from "../../schema/standard.ts";
import type { JsonObject } from "../../wire/message.ts";
import { choiceProblem, iconProblem } from "../settings/checks.ts";

/** The fields that tools, resources, templates and prompts share. */
export interface Described {
  /** A display name. */
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
  /** The scopes that the caller must have, all of them. Over HTTP this requires the option `auth`. */
  readonly scopes?: readonly string[];
}

/** A handler as an author registers it; the types of the definition say its parameters. */
export type AnyHandler = (args: never, ctx: never) => unknown;

/** A handler as Halyard calls it, with validated arguments. */
export type CheckedHandler = (args: unknown, ctx: unknown) => unknown;

export const knownAnnotations: Known<Annotations> = { audience: true, priority: true, lastModified: true };

/** The fields of {@link Described}, and the handler. */
export const describedFields: Known<Described & { handler: AnyHandler }> = {
  title: true,
  description: true,
  icons: knownIcon,
  _meta: true,
  scopes: true,
  handler: true,
};

/** Field names of other packages, and the fields that replace them. */
const namesHere: ReadonlyMap<string, readonly string[]> = new Map([
  ["inputSchema", ["input", "arguments"]],
  ["parameters", ["input", "arguments"]],
  ["argsSchema", ["arguments", "input"]],
  ["outputSchema", ["output"]],
]);

const handlersElsewhere: ReadonlySet<string> = new Set(["execute", "load", "callback"]);
const keysElsewhere: ReadonlySet<string> = new Set(["name", "uri", "uriTemplate"]);

/** The fix for an unknown field, if it is known from other packages. */
export function foreignField(name: string, value: unknown, fields: object): string | undefined {
  const here = namesHere.get(name)?.find((known) => known in fields);
  if (here !== undefined) return `is called ${here} here`;
  if (handlersElsewhere.has(name)) return "is not a field: pass the handler as the last argument";
  if (keysElsewhere.has(name)) return "is not a field: pass it as the first argument";
  if (name.endsWith("Hint") && "input" in fields) return "belongs in annotations";
  const holder = ["input", "arguments"].find((known) => known in fields);
  return holder && isStandardSchema(value)
    ? `is a schema: pass { ${holder}: z.object({ ${name}: … }) }`
    : undefined;
}

/** Throws for a field of a definition that cannot work. */
export function refuseField(subject: string, field: string, problem: string): never {
  throw new ConfigurationError("INVALID_DEFINITION", { subject, field }, problem);
}

/** Throws for a field that is none of the texts that it may be. */
export function checkChoice(
  subject: string,
  field: string,
  value: unknown,
  allowed: readonly string[],
): void {
  const problem = choiceProblem(value, allowed);
  if (problem) refuseField(subject, field, problem);
}

/** Throws if the key or the definition is missing or in the wrong place, as calls written for other packages have it. */
export function checkDefinition(noun: string, key: unknown, definition: unknown, usage: string): void {
  const fail = (subject: string, field: string, kind: string): never =>
    refuseField(subject, field, `is a ${kind}: call server.${usage}`);
  if (typeof key === "object") fail(noun, "the first argument", "definition");
  const isDefinition = typeof definition === "object" && definition !== null && !Array.isArray(definition);
  if (!isDefinition) fail(`${noun} "${key as string}"`, "definition", kindOf(definition));
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

const isoDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Throws for the first field of `options` that cannot be published, or if the handler is missing. */
export function checkDescribed(
  subject: string,
  options: Described & { readonly annotations?: object; readonly handler?: unknown },
): void {
  const fail = (field: string, problem: string): never => refuseField(subject, field, problem);
  for (const field of ["title", "description"] as const) {
    if (options[field] !== undefined && typeof options[field] !== "string") fail(field, "is not a string");
  }
  for (const icon of options.icons ?? []) {
    const problem = iconProblem(icon);
    if (problem) fail("icons", problem);
  }
  const scopes = options.scopes && scopesProblem(options.scopes);
  if (scopes) fail("scopes", scopes);
  for (const key of Object.keys(options._meta ?? {})) {
    const problem = metaKeyProblem(key);
    if (problem) fail("_meta", problem);
  }
  for (const field of ["_meta", "annotations"] as const) {
    if (options[field] !== undefined && !isSerialisable(options[field]))
      fail(field, "cannot be serialised as JSON");
  }
  if (typeof options.handler !== "function")
    fail("handler", "is missing: pass a function as the last argument");
}

export function checkAnnotations(subject: string, annotations: Annotations | undefined): void {
  const { priority, audience, lastModified } = annotations ?? {};
  const problem =
    priority !== undefined && !(priority >= 0 && priority <= 1)
      ? `has the priority ${priority}: use a number from 0 to 1`
      : audience !== undefined && !audience.every(isRole)
        ? `has the audience ${audience}: use "user" and "assistant"`
        : lastModified !== undefined && !isDate(lastModified)
          ? `has the lastModified ${lastModified}: use an ISO 8601 date`
          : undefined;
  if (problem) refuseField(subject, "annotations", problem);
}

export function assertObjectSchema(schema: JsonObject, where: { subject: string; field: string }): void {
  if (schema["type"] === "object") return;
  const remedy = 'must be the schema of an object: z.object({ … }), or a JSON Schema with type "object"';
  throw new ConfigurationError("INVALID_SCHEMA", where, remedy);
}

/** Throws if `complete` has a name that is not among the `names` of what can be completed. */
export function checkCompleters(
  subject: string,
  complete: object | undefined,
  names: readonly string[],
  what: string,
): void {
  const unknown = Object.keys(complete ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) refuseField(subject, "complete", `names "${unknown}", which is not ${what}`);
}

export function checkNotEmpty(noun: string, name: unknown): void {
  checkName(noun, name, /./s, "must not be empty");
}

export function checkName(noun: string, name: unknown, allowed: RegExp, rule: string): void {
  if (typeof name === "string" && allowed.test(name)) return;
  const where = { subject: `${noun} ${JSON.stringify(name)}`, field: "name" };
  throw new ConfigurationError("INVALID_NAME", where, rule);
}

function isDate(text: string): boolean {
  return isoDate.test(text) && !Number.isNaN(Date.parse(text));
}

function isSerialisable(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
