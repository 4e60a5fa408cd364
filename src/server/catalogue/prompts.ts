// Prompts: their definition, and how they are checked, compiled and published.
import { ConfigurationError } from "../../base/errors.ts";
import { anything, type Known } from "../../base/kinds.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ContentBlock, GetPromptResult, PromptMessage } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileField,
  type SchemaSettings,
  type RawShape,
  type ValidatedArguments,
  type Wrapped,
} from "../../protocol/schema/compile.ts";
import { propertiesOf, typesOf } from "../../protocol/schema/object-schema.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { InputRequired } from "./results.ts";
import type { Context } from "../context/context.ts";
import type { Completer } from "./completers.ts";
import {
  type AnyHandler,
  assertObjectSchema,
  checkCompleters,
  type CheckedHandler,
  checkNotEmpty,
  type Described,
  completers,
  describedFields,
} from "./definition.ts";
import type { DefinitionKind } from "./registry.ts";

/** The definition of a prompt. */
export interface PromptDefinition<
  A extends AnySchema | RawShape = AnySchema,
  Extra = object,
> extends Described {
  /** The schema of the arguments: a Standard Schema or JSON Schema of an object. Clients send each argument as a string. */
  readonly arguments?: A & Wrapped<A>;
  /** Suggest values for the arguments, by name. */
  readonly complete?: { readonly [Name in keyof ValidatedArguments<A>]?: Completer<Extra> } | undefined;
}

/** What a prompt may return: the text of a user message, content, messages, or the full result. */
export type PromptReturn = string | ContentBlock | readonly PromptMessage[] | GetPromptResult | InputRequired;

/** Renders a prompt. It receives the validated arguments and the context of the call. */
export type PromptHandler<A extends AnySchema | RawShape = AnySchema, Extra = object> = (
  args: ValidatedArguments<A>,
  ctx: Context & Extra,
) => PromptReturn | Promise<PromptReturn>;

export interface PromptOptions extends Described {
  readonly arguments?: AnySchema;
  readonly complete?: Readonly<Record<string, Completer | undefined>>;
  readonly handler: AnyHandler;
}

/** A prompt, ready to render. */
export interface CompiledPrompt {
  readonly name: string;
  readonly options: PromptOptions;
  readonly handler: CheckedHandler;
  readonly schema: CompiledSchema | undefined;
  readonly arguments: readonly PromptArgument[];
}

interface PromptArgument {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly required: boolean;
}

const fields: Known<PromptOptions> = { ...describedFields, arguments: anything, complete: completers };

/** How prompts are checked and published. */
export function promptKind(settings: SchemaSettings): DefinitionKind<PromptOptions, CompiledPrompt> {
  return {
    noun: "prompt",
    keyField: "name",
    usage: "prompt(name, { description, arguments }, handler)",
    fields,
    compile: (name, options, subject) => compilePrompt(name, options, subject, settings),
    publish: publishPrompt,
  };
}

function compilePrompt(
  name: string,
  options: PromptOptions,
  subject: string,
  settings: SchemaSettings,
): CompiledPrompt {
  checkNotEmpty("prompt", name);
  const where = { subject, field: "arguments" };
  const compiled = compileField(options.arguments, "input", where, settings);
  if (compiled) assertObjectSchema(compiled.json, options.arguments, where);
  const declared = compiled ? readArguments(compiled.json, where) : [];
  const names = declared.map((argument) => argument.name);
  checkCompleters(subject, options.complete, names, "an argument of the prompt");
  return {
    name,
    options,
    handler: options.handler as CheckedHandler,
    schema: compiled && takingText(compiled),
    arguments: declared,
  };
}

function publishPrompt(prompt: CompiledPrompt, revision: Revision): object {
  const published = prompt.arguments.map((argument) => encodeShape(argument, "promptArgument", revision));
  const listed = published.length > 0 ? published : undefined;
  return encodeShape({ ...prompt.options, name: prompt.name, arguments: listed }, "prompt", revision);
}

function readArguments(schema: JsonObject, where: { subject: string; field: string }): PromptArgument[] {
  const { required } = schema;
  return [...propertiesOf(schema)].map(([name, property]) => {
    const types = typesOf(property, schema);
    if (types && !types.some((type) => type === "string" || isRead(type))) {
      const problem = `has "${name}" of type ${types.join(" or ")}, but clients send strings: use a string and transform it`;
      throw new ConfigurationError("INVALID_SCHEMA", where, problem);
    }
    const { title, description } = isObject(property) ? property : {};
    return { name, title, description, required: Array.isArray(required) && required.includes(name) };
  });
}

const readers: ReadonlyMap<unknown, (text: string) => unknown> = new Map<unknown, (text: string) => unknown>([
  ["number", toNumber],
  ["integer", toNumber],
  ["boolean", (text) => (text === "true" ? true : text === "false" ? false : text)],
]);

/** Whether a string argument can be converted to this type. */
function isRead(type: unknown): boolean {
  return readers.has(type);
}

function toNumber(text: string): unknown {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : text;
}

/** Clients send arguments as strings, so this converts them where the schema wants numbers or booleans. */
function takingText(schema: CompiledSchema): CompiledSchema {
  const read = [...propertiesOf(schema.json)].flatMap(([name, property]) => {
    const types = typesOf(property, schema.json) ?? [];
    const reader = types.includes("string") ? undefined : readers.get(types.find(isRead));
    return reader ? [[name, reader] as const] : [];
  });
  if (read.length === 0) return schema;
  const converted = (given: JsonObject): JsonObject => {
    const found = read.filter(([name]) => Object.hasOwn(given, name));
    return {
      ...given,
      ...Object.fromEntries(found.map(([name, reader]) => [name, reader(given[name] as string)])),
    };
  };
  return {
    json: schema.json,
    // Try the strings first: a schema such as z.coerce.number() accepts them.
    async validate(given) {
      const asText = await schema.validate(given);
      return asText.ok ? asText : schema.validate(converted(given as JsonObject));
    },
  };
}
