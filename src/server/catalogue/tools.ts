// Tools: how what an author writes is checked and compiled, and how it is published.
import { ConfigurationError } from "../../errors.ts";
import { encodeShape } from "../../protocol/codec.ts";
import { type ParamHeader, readParamHeaders } from "../../protocol/param-headers.ts";
import type { Revision } from "../../protocol/revision.ts";
import { type AnySchema, type CompiledSchema, compileSchema } from "../../schema/compile.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { isTimerMs } from "../timers.ts";
import type { TaskDefinition, ToolDefinition } from "./tool-definition.ts";
import { toolLimitFields, withinLimits } from "./tool-limits.ts";
import {
  type AnyHandler,
  assertObjectSchema,
  checkDescribed,
  checkErrors,
  type CheckedHandler,
  checkHandler,
  checkName,
  describedFields,
} from "./definition.ts";
import type { DefinitionKind } from "./registry.ts";

/** What is registered: the definition with its handler. */
export interface ToolOptions extends ToolDefinition<AnySchema, AnySchema> {
  readonly handler: AnyHandler;
}

/** A tool made ready to be called. */
export interface CompiledTool {
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: CheckedHandler;
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
    "errors",
  ],

  compile(name, options) {
    checkName("tool", name, namePattern, nameRule);
    const subject = `tool "${name}"`;
    checkDescribed(subject, options);
    checkHandler(subject, options.handler);
    checkErrors(subject, options.errors, "INVALID_DEFINITION");
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
    const handler = withinLimits(name, options, options.handler as CheckedHandler);
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
    "has a ttlMs that is not a positive integer below 2^31": isTimerMs(ttlMs),
    "has a pollIntervalMs that is not a positive integer below 2^31": isTimerMs(pollIntervalMs),
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
