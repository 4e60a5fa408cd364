// What an author writes of a tool: its definition, what its handler gets, and what it may return.
import type {
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  ToolAnnotations,
} from "../../protocol/model.ts";
import type { AnySchema, Unvalidated, Validated } from "../../schema/compile.ts";
import type { InputRequired } from "../asking/input-required.ts";
import type { Context } from "../context.ts";
import type { ToolResult } from "../results.ts";
import type { Described, ShownErrors } from "./definition.ts";
import type { ToolLimits } from "./tool-limits.ts";

/**
 * What a tool is.
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
export interface ToolDefinition<I extends AnySchema = AnySchema, O extends AnySchema = AnySchema>
  extends Described, ToolLimits {
  /** The arguments: a Standard Schema (Zod, Valibot, ArkType) or a JSON Schema, of an object. None: no arguments. */
  readonly input?: I;
  /** The result: with it, the handler returns a value of this kind, sent as structured content and as text. */
  readonly output?: O;
  readonly annotations?: ToolAnnotations;
  /** What the client must be able to do; a call by one that did not declare it is refused. */
  readonly requires?: ClientCapabilities;
  /**
   * Whether the tool may be called as a task, by clients that know tasks: the reply comes at once, the work goes on, and the
   * client comes back for the result. Other clients wait; of a tool where it is `required` they get an error.
   */
  readonly task?: TaskSupport | TaskDefinition;
  /** Whether arguments are checked before the handler sees them. @default {the server's} */
  readonly validateInput?: boolean;
  /** Whether what the handler returns is checked against `output`. @default {the server's} */
  readonly validateOutput?: boolean;
  /** What the model sees of an exception of the handler: an id, or its message. @default {the server's} */
  readonly errors?: ShownErrors;
}

/** Whether a tool may, or must, be called as a task. */
export type TaskSupport = "optional" | "required";

/** How a tool is called as a task. */
export interface TaskDefinition {
  /** @default {"optional"} */
  readonly support?: TaskSupport;
  /** `handler`: a modern client waits until the handler says `ctx.startTask()`. @default {"at once"} */
  readonly starts?: "at once" | "handler";
  /** How long a task is kept, from its start. @default {the server's} */
  readonly ttlMs?: number;
  /** How often a client should look. @default {the server's} */
  readonly pollIntervalMs?: number;
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
export type StructuredReturn<O> =
  | Unvalidated<O>
  | CallToolResult
  | ToolResult<Unvalidated<O> | undefined>
  | InputRequired;

/**
 * Runs a tool: validated arguments first, then the context of the call.
 *
 * The choice is around the whole function, not inside its return type: only so does the compiler know what is to be
 * returned while it reads the handler, and takes `type: "text"` for what it is instead of for any string.
 */
export type ToolHandler<
  I extends AnySchema = AnySchema,
  O extends AnySchema = AnySchema,
  Extra = object,
> = AnySchema extends O ? Handler<I, Extra, ToolReturn> : Handler<I, Extra, StructuredReturn<O>>;

type Handler<I, Extra, Returned> = (args: Validated<I>, ctx: Context & Extra) => Returned | Promise<Returned>;
