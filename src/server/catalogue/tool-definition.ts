// The definition of a tool, the arguments of its handler, and its return types.
import type {
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  ToolAnnotations,
} from "../../protocol/model.ts";
import type {
  AnySchema,
  RawShape,
  Unvalidated,
  ValidatedArguments,
  Wrapped,
} from "../../protocol/schema/compile.ts";
import type { InputRequired, ToolResult } from "./results.ts";
import type { Context } from "../context/context.ts";
import type { Described } from "./definition.ts";
import type { ShownErrors } from "../settings/options.ts";
import type { ToolLimits } from "./tool-limits.ts";

/**
 * The definition of a tool.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import * as z from "zod";
 *
 * const server = new McpServer({ name: "maths", version: "1.0.0" });
 * server.tool(
 *   "add",
 *   {
 *     title: "Add two numbers",
 *     input: z.object({ a: z.number(), b: z.number() }),
 *     output: z.object({ sum: z.number() }),
 *     annotations: { readOnlyHint: true },
 *   },
 *   ({ a, b }) => ({ sum: a + b }),
 * );
 * ```
 */
export interface ToolDefinition<
  I extends AnySchema | RawShape = AnySchema,
  O extends AnySchema | RawShape = AnySchema,
>
  extends Described, ToolLimits {
  /** The schema of the arguments: a Standard Schema (Zod, Valibot, ArkType) or JSON Schema of an object. None: no arguments. */
  readonly input?: I & Wrapped<I>;
  /** The schema of the result. The handler returns a matching value, which is sent as structured content and as text. */
  readonly output?: O & Wrapped<O>;
  /** Hints for the client on what the tool does, such as `readOnlyHint: true`. They promise nothing and enforce nothing. */
  readonly annotations?: ToolAnnotations | undefined;
  /** The capabilities that the client must declare; calls from other clients are rejected. */
  readonly requires?: ClientCapabilities | undefined;
  /**
   * Whether the tool can run as a task. A client that supports tasks gets a task handle immediately and fetches the result
   * later. Other clients wait for the result, or get an error if `task` is `required`.
   */
  readonly task?: TaskSupport | TaskDefinition | undefined;
  /** Whether arguments are validated before the handler runs. @default {the server's} */
  readonly validateInput?: boolean | undefined;
  /** Whether the returned value is validated against `output`. @default {the server's} */
  readonly validateOutput?: boolean | undefined;
  /** What the model sees of an exception in the handler: an error id, or its message. @default {the server's} */
  readonly errors?: ShownErrors | undefined;
}

/** Whether clients may or must call a tool as a task. */
export type TaskSupport = "optional" | "required";

/** How a tool runs as a task. */
export interface TaskDefinition {
  /** @default {"optional"} */
  readonly support?: TaskSupport | undefined;
  /** `handler`: a modern client waits until the handler calls `ctx.startTask()`. @default {"at once"} */
  readonly starts?: "at once" | "handler" | undefined;
  /** How long the task is stored, from its start. @default {the server's} */
  readonly ttlMs?: number | undefined;
  /** How often the client should poll. @default {the server's} */
  readonly pollIntervalMs?: number | undefined;
}

/** What a tool without `output` may return. */
export type ToolReturn =
  | string
  | ContentBlock
  | readonly ContentBlock[]
  | CallToolResult
  | ToolResult<unknown>
  | InputRequired
  | void;

/** What a tool with the output schema `O` may return. */
export type StructuredReturn<O, Given = unknown> =
  | Unvalidated<O>
  | StructuredResult<O, Given>
  | ToolResult<Unvalidated<O> | undefined>
  | InputRequired;

/** The protocol's result, with the value in `structuredContent`. */
interface StructuredResult<O, Given> extends Omit<CallToolResult, "structuredContent"> {
  readonly structuredContent?: Unvalidated<O> | (Given & Opaque<Given>) | undefined;
}

/**
 * A type without information, such as `unknown` in the results of other packages. The server checks such a value when it is
 * returned.
 */
type Opaque<Given> = unknown extends Given ? unknown : string extends keyof Given ? unknown : never;

/**
 * Runs a tool. It receives the validated arguments and the context of the call.
 *
 * The conditional type wraps the whole function, not its return type: only then does the compiler infer the literal type of
 * `type: "text"` in the handler instead of `string`.
 */
export type ToolHandler<
  I extends AnySchema | RawShape = AnySchema,
  O extends AnySchema | RawShape = AnySchema,
  Extra = object,
  Given = unknown,
> = AnySchema extends O ? Handler<I, Extra, ToolReturn> : Handler<I, Extra, StructuredReturn<O, Given>>;

type Handler<I, Extra, Returned> = (
  args: ValidatedArguments<I>,
  ctx: Context & Extra,
) => Returned | Promise<Returned>;
