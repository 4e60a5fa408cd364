// Tools: what an author writes, how it is checked and compiled, and how it is published.
import { ConfigurationError } from "../../errors.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ClientCapabilities, ContentBlock, ToolAnnotations } from "../../protocol/model.ts";
import { type ParamHeader, readParamHeaders } from "../../protocol/param-headers.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileSchema,
  type Unvalidated,
  type Validated,
} from "../../schema/compile.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import type { InputRequired } from "../asking/input-required.ts";
import type { Context } from "../context.ts";
import type { ToolResult } from "../results.ts";
import { isTimerMs } from "../timers.ts";
import { type ToolLimits, toolLimitFields, withinLimits } from "./tool-limits.ts";
import {
  assertObjectSchema,
  checkDescribed,
  checkHandler,
  checkName,
  type Described,
  describedFields,
} from "./definition.ts";
import type { DefinitionKind } from "./registry.ts";

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
  | ToolResult<unknown>
  | InputRequired
  | void;

/** What a tool with the output schema `O` may return. */
export type StructuredReturn<O> = Unvalidated<O> | ToolResult<Unvalidated<O> | undefined> | InputRequired;

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

/** What is registered: the definition with its handler. */
export interface ToolOptions extends ToolDefinition<AnySchema, AnySchema> {
  readonly handler: (args: never, ctx: never) => unknown;
}

/** A tool made ready to be called. */
export interface CompiledTool {
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: (args: unknown, ctx: unknown) => unknown;
  readonly inputSchema: JsonSchema;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  readonly paramHeaders: readonly ParamHeader[];
  readonly task: TaskDefinition | undefined;
}

const noParameters: JsonSchema = { type: "object", additionalProperties: false };
const namePattern = /^[A-Za-z0-9_.-]{1,128}$/;
const nameRule = "must have 1 to 128 characters out of A-Z a-z 0-9 _ - .";

/** How tools are checked and published; `onTask` is called for each that may be called as a task. */
export function toolKind(onTask: () => void): DefinitionKind<ToolOptions, CompiledTool> {
  const compile: typeof kind.compile = (name, options) => {
    const compiled = kind.compile(name, options);
    if (compiled.task !== undefined) onTask();
    return compiled;
  };
  return { ...kind, compile };
}

const kind: DefinitionKind<ToolOptions, CompiledTool> = {
  noun: "tool",
  keyField: "name",
  fields: [
    ...describedFields,
    ...toolLimitFields,
    "input",
    "output",
    "annotations",
    "requires",
    "task",
    "validateInput",
    "validateOutput",
  ],

  compile(name, options) {
    checkName("tool", name, namePattern, nameRule);
    const subject = `tool "${name}"`;
    checkDescribed(subject, options);
    checkHandler(subject, options.handler);
    const compiled = (direction: "input" | "output"): CompiledSchema | undefined => {
      const schema = options[direction];
      return schema === undefined
        ? undefined
        : compileSchema(schema, direction, { subject, field: direction });
    };
    const input = compiled("input");
    const output = compiled("output");
    const inputSchema = input?.json ?? noParameters;
    assertObjectSchema(inputSchema, { subject, field: "input" });
    const found = readParamHeaders(inputSchema);
    if (!found.ok) throw new ConfigurationError("INVALID_SCHEMA", { subject, field: "input" }, found.problem);
    const handler = withinLimits(name, options, options.handler as CompiledTool["handler"]);
    const task = readTask(options.task, subject);
    return { name, options, handler, inputSchema, input, output, paramHeaders: found.headers, task };
  },

  publish({ name, options, inputSchema, output, task }, revision) {
    const { title, description, icons, annotations, _meta } = options;
    const outputSchema = output && publishedOutput(output.json, revision);
    const execution = task && { taskSupport: task.support ?? "optional" };
    const tool = {
      name,
      title,
      description,
      icons,
      inputSchema,
      outputSchema,
      annotations,
      execution,
      _meta,
    };
    return encodeShape(tool, "tool", revision);
  },
};

function readTask(given: ToolOptions["task"], subject: string): TaskDefinition | undefined {
  const task = typeof given === "string" ? { support: given } : given;
  const { support = "optional", starts = "at once", ttlMs = 1, pollIntervalMs = 1 } = task ?? {};
  const rules: Readonly<Record<string, boolean>> = {
    "must be optional or required": ["optional", "required"].includes(support),
    'has a start other than "at once" and "handler"': ["at once", "handler"].includes(starts),
    "has a ttlMs that is no positive integer below 2^31": isTimerMs(ttlMs),
    "has a pollIntervalMs that is no positive integer below 2^31": isTimerMs(pollIntervalMs),
  };
  const [problem] = Object.entries(rules).find(([, holds]) => !holds) ?? [];
  if (problem !== undefined)
    throw new ConfigurationError("INVALID_DEFINITION", { subject, field: "task" }, problem);
  return task;
}

/** Before any value was allowed as structured content, an output schema had to be that of an object. */
function publishedOutput(schema: JsonSchema, revision: Revision): JsonSchema | undefined {
  return revision.structuredContent === "any" || schema["type"] === "object" ? schema : undefined;
}
