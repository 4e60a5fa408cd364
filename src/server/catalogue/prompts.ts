// Prompts: what an author writes, how it is checked and compiled, and how it is published.
import { ConfigurationError } from "../../errors.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ContentBlock, GetPromptResult, PromptMessage } from "../../protocol/model.ts";
import { type AnySchema, type CompiledSchema, compileSchema, type Validated } from "../../schema/compile.ts";
import { isObject } from "../../wire/message.ts";
import type { InputRequired } from "../asking/input-required.ts";
import type { Context } from "../context.ts";
import type { Completer } from "./completers.ts";
import {
  type AnyHandler,
  assertObjectSchema,
  checkDescribed,
  type CheckedHandler,
  checkHandler,
  checkNotEmpty,
  type Described,
  describedFields,
} from "./definition.ts";
import type { DefinitionKind } from "./registry.ts";

/** What a prompt is. */
export interface PromptDefinition<A extends AnySchema = AnySchema> extends Described {
  /** The arguments, each a string on the wire: a Standard Schema or a JSON Schema, of an object. */
  readonly arguments?: A;
  /** Suggests values for its arguments. */
  readonly complete?: { readonly [Name in keyof Validated<A>]?: Completer };
}

/** What a prompt may return: the text of a user's message, content, messages, or the result in full. */
export type PromptReturn = string | ContentBlock | readonly PromptMessage[] | GetPromptResult | InputRequired;

/** Renders a prompt: validated arguments first, then the context of the call. */
export type PromptHandler<A extends AnySchema = AnySchema, Extra = object> = (
  args: Validated<A>,
  ctx: Context & Extra,
) => PromptReturn | Promise<PromptReturn>;

export interface PromptOptions extends Described {
  readonly arguments?: AnySchema;
  readonly complete?: Readonly<Record<string, Completer | undefined>>;
  readonly handler: AnyHandler;
}

/** A prompt made ready to be rendered. */
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

export const promptKind: DefinitionKind<PromptOptions, CompiledPrompt> = {
  noun: "prompt",
  keyField: "name",
  fields: [...describedFields, "arguments", "complete"],

  compile(name, options) {
    checkNotEmpty("prompt", name);
    const subject = `prompt "${name}"`;
    checkDescribed(subject, options);
    checkHandler(subject, options.handler);
    const where = { subject, field: "arguments" };
    const schema =
      options.arguments === undefined ? undefined : compileSchema(options.arguments, "input", where);
    const declared = schema ? readArguments(schema, where) : [];
    for (const argument of Object.keys(options.complete ?? {})) {
      if (declared.some((known) => known.name === argument)) continue;
      const problem = `names "${argument}", which is not among the arguments`;
      throw new ConfigurationError("INVALID_DEFINITION", { subject, field: "complete" }, problem);
    }
    return {
      name,
      options,
      handler: options.handler as CheckedHandler,
      schema,
      arguments: declared,
    };
  },

  publish(prompt, revision) {
    const { title, description, icons, _meta } = prompt.options;
    const published = prompt.arguments.map((argument) => encodeShape(argument, "promptArgument", revision));
    const listed = published.length > 0 ? published : undefined;
    return encodeShape(
      { name: prompt.name, title, description, icons, arguments: listed, _meta },
      "prompt",
      revision,
    );
  },
};

function readArguments(schema: CompiledSchema, where: { subject: string; field: string }): PromptArgument[] {
  assertObjectSchema(schema.json, where);
  const { properties, required } = schema.json;
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const { title, description } = isObject(property) ? property : {};
    return { name, title, description, required: Array.isArray(required) && required.includes(name) };
  });
}
