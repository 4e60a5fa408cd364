// Methods of one's own: requests that the protocol does not have, checked and compiled.
import { ConfigurationError, invalidParams } from "../../errors.ts";
import type { Known } from "../../options.ts";
import type { RequestRow } from "../../protocol/revision.ts";
import { isProtocolMethod } from "../../protocol/revisions/index.ts";
import { scopesProblem } from "../../protocol/scopes.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileSchema,
  type SchemaSettings,
  type Unvalidated,
  type Validated,
} from "../../schema/compile.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { Context } from "../context.ts";
import { type AnyHandler, type CheckedHandler, checkHandler, checkNotEmpty } from "./definition.ts";
import type { DefinitionKind } from "./registry.ts";

/** What a method of one's own takes and returns. */
export interface MethodDefinition<P extends AnySchema = AnySchema, R extends AnySchema = AnySchema> {
  /** The parameters, without `_meta`; those that do not fit are -32602. @default {any object} */
  readonly params?: P;
  /** The result, an object; one that does not fit is -32603, and the log says why. @default {any object} */
  readonly result?: R;
  /** What the caller must have been granted, all of it; over HTTP this needs the option `auth`. */
  readonly scopes?: readonly string[];
  /** Over HTTP, the parameter that the `Mcp-Name` header of a modern request must repeat. */
  readonly mirrors?: string;
}

/** Answers a method of one's own: validated parameters first, then the context of the call. */
export type RequestHandler<
  P extends AnySchema = AnySchema,
  R extends AnySchema = AnySchema,
  Extra = object,
> = AnySchema extends R ? Handler<P, Extra, object | void> : Handler<P, Extra, Unvalidated<R>>;

type Handler<P, Extra, Returned> = (
  params: AnySchema extends P ? JsonObject : Validated<P>,
  ctx: Context & Extra,
) => Returned | Promise<Returned>;

export interface MethodOptions extends MethodDefinition {
  readonly handler: AnyHandler;
}

/** A method that an author has added, as dispatch finds it. */
export interface AddedMethod {
  readonly row: RequestRow;
  run(params: JsonObject, ctx: Context): unknown;
}

interface CompiledMethod extends AddedMethod {
  readonly options: MethodOptions;
}

const fields: Known<MethodOptions> = {
  params: true,
  result: true,
  scopes: true,
  mirrors: true,
  handler: true,
};

/** How methods are checked; `isTaken` says which names an extension has. */
export function methodKind(
  isTaken: (method: string) => boolean,
  settings: SchemaSettings,
): DefinitionKind<MethodOptions, CompiledMethod> {
  return {
    noun: "method",
    keyField: "name",
    usage: "method(name, { params, result }, handler)",
    fields,

    compile(name, options) {
      checkNotEmpty("method", name);
      const subject = `method "${name}"`;
      if (isProtocolMethod(name) || isTaken(name)) {
        const owner = isTaken(name) ? "of an extension" : "of the protocol";
        const problem = `is a method ${owner} already: choose a name of its own, such as "acme/${name}"`;
        throw new ConfigurationError("DUPLICATE_NAME", { subject, field: "name" }, problem);
      }
      checkHandler(subject, options.handler);
      const problem = options.scopes && scopesProblem(options.scopes);
      if (problem !== undefined)
        throw new ConfigurationError("INVALID_DEFINITION", { subject, field: "scopes" }, problem);
      const { params, result, mirrors } = options;
      const input = params && compileSchema(params, "input", { subject, field: "params" }, settings);
      const output = result && compileSchema(result, "output", { subject, field: "result" }, settings);
      const handler = options.handler as CheckedHandler;
      return {
        options,
        row: mirrors === undefined ? {} : { mirrors },
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
  const params = input === undefined ? ({ ok: true, value: given } as const) : await input.validate(given);
  if (!params.ok) throw invalidParams(`Invalid params for ${name}: ${params.issues.join("; ")}`);
  const returned = await handler(params.value, ctx);
  if (output === undefined) return returned ?? {};
  const result = await output.validate(returned);
  if (result.ok) return result.value;
  throw new TypeError(
    `Method ${name} returned a value that does not fit its result schema: ${result.issues.join("; ")}`,
  );
}
