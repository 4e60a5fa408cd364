// Custom methods: requests that the protocol does not define, checked and compiled.
import { ConfigurationError, invalidParams } from "../../base/errors.ts";
import { anything, filledText, func, type Known, texts } from "../../base/kinds.ts";
import type { RequestRow } from "../../protocol/revision.ts";
import { isProtocolMethod } from "../../protocol/revisions/index.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileField,
  type SchemaSettings,
  type Unvalidated,
  type Validated,
  type RawShape,
  type Wrapped,
} from "../../protocol/schema/compile.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Context } from "../context/context.ts";
import { jsonProblem } from "./result-checks.ts";
import { type AnyHandler, type CheckedHandler, checkNotEmpty } from "./definition.ts";
import type { DefinitionKind } from "./registry.ts";

/** The parameters and the result of a custom method. */
export interface MethodDefinition<
  P extends AnySchema | RawShape = AnySchema,
  R extends AnySchema | RawShape = AnySchema,
> {
  /** The schema of the parameters, without `_meta`. Invalid parameters are rejected with -32602. @default {any object} */
  readonly params?: P & Wrapped<P>;
  /** The schema of the result, an object. An invalid result becomes -32603, and the log says why. @default {any object} */
  readonly result?: R & Wrapped<R>;
  /** The scopes that the caller must have, all of them. Over HTTP this requires the option `auth`. */
  readonly scopes?: readonly string[] | undefined;
  /** Over HTTP, the parameter that the `Mcp-Name` header of a modern request must repeat. */
  readonly mirrors?: string | undefined;
}

/** Handles a custom method. It receives the validated parameters and the context of the call. */
export type RequestHandler<
  P extends AnySchema | RawShape = AnySchema,
  R extends AnySchema | RawShape = AnySchema,
  Extra = object,
> = AnySchema extends R ? Handler<P, Extra, object | void> : Handler<P, Extra, Unvalidated<R>>;

type Handler<P, Extra, Returned> = (
  params: AnySchema extends P ? JsonObject : Validated<P>,
  ctx: Context & Extra,
) => Returned | Promise<Returned>;

export interface MethodOptions extends MethodDefinition {
  readonly handler: AnyHandler;
}

/** A custom method, ready for dispatch. */
export interface AddedMethod {
  readonly row: RequestRow;
  run(params: JsonObject, ctx: Context): unknown;
}

export interface CompiledMethod extends AddedMethod {
  readonly options: MethodOptions;
}

const fields: Known<MethodOptions> = {
  params: anything,
  result: anything,
  scopes: texts,
  mirrors: filledText,
  handler: func,
};

/** How methods are checked; `isTaken` says whether an extension uses a name. */
export function methodKind(
  isTaken: (method: string) => boolean,
  settings: SchemaSettings,
): DefinitionKind<MethodOptions, CompiledMethod> {
  return {
    noun: "method",
    keyField: "name",
    usage: "method(name, { params, result }, handler)",
    fields,

    compile(name, options, subject) {
      checkNotEmpty("method", name);
      if (isProtocolMethod(name) || isTaken(name)) {
        const owner = isTaken(name) ? "of an extension" : "of the protocol";
        const problem = `is already a method ${owner}: choose another name, such as "acme/${name}"`;
        throw new ConfigurationError("DUPLICATE_NAME", { subject, field: "name" }, problem);
      }
      const { params, result, mirrors } = options;
      const input = compileField(params, "input", { subject, field: "params" }, settings);
      const output = compileField(result, "output", { subject, field: "result" }, settings);
      const handler = options.handler as CheckedHandler;
      return {
        options,
        row: { isAdded: true, ...(mirrors !== undefined && { mirrors }) },
        run: (given, ctx) => answer({ name, input, output, handler }, given, ctx),
      };
    },

    publish: () => ({}),
  };
}

interface Parts {
  readonly name: string;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  readonly handler: CheckedHandler;
}

async function answer(
  { name, input, output, handler }: Parts,
  { _meta, ...given }: JsonObject,
  ctx: Context,
): Promise<unknown> {
  const params = input ? await input.validate(given) : ({ ok: true, value: given } as const);
  if (!params.ok) throw invalidParams(`Invalid params for ${name}: ${params.issues.join("; ")}`);
  const returned = await handler(params.value, ctx);
  const unsendable = jsonProblem(returned, "");
  if (unsendable) throw new TypeError(`Method ${name} returned an invalid result: ${unsendable}`);
  if (!output) return returned ?? {};
  const result = await output.validate(returned);
  if (result.ok) return result.value;
  throw new TypeError(
    `Method ${name} returned a value that does not match its result schema: ${result.issues.join("; ")}`,
  );
}
