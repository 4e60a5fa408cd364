// Tools: how their definitions are checked, compiled and published.
import { ConfigurationError } from "../../base/errors.ts";
import type { Logger } from "../../base/logging/logger.ts";
import {
  anything,
  either,
  flag,
  type Known,
  milliseconds,
  oneOf,
  options as optionsOf,
  plainObject,
  text,
} from "../../base/kinds.ts";
import { nearest } from "../../base/options.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ToolAnnotations, ToolSchema } from "../../protocol/model.ts";
import { type ParamHeader, readParamHeaders } from "../../protocol/param-headers.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileField,
  type SchemaSettings,
} from "../../protocol/schema/compile.ts";
import { wrapSchema } from "../../protocol/schema/object-schema.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { TaskDefinition, ToolDefinition } from "./tool-definition.ts";
import { toolLimitFields, withinLimits } from "./tool-limits.ts";
import {
  type AnyHandler,
  assertObjectSchema,
  type CheckedHandler,
  checkName,
  describedFields,
} from "./definition.ts";
import { shownErrors } from "../settings/options.ts";
import type { DefinitionKind } from "./registry.ts";

/** The definition of a tool with its handler. */
export interface ToolOptions extends ToolDefinition<AnySchema, AnySchema> {
  readonly handler: AnyHandler;
}

/** A tool, ready to call. */
export interface CompiledTool {
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: CheckedHandler;
  readonly inputSchema: ToolSchema;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  readonly paramHeaders: readonly ParamHeader[];
  readonly task: TaskDefinition | undefined;
}

const noParameters: JsonObject = { type: "object", additionalProperties: false };
/** Characters of a tool name. Past it, registering the tool throws a `ConfigurationError`. */
const maxNameLength = 128;
const namePattern = new RegExp(`^[A-Za-z0-9_.-]{1,${maxNameLength}}$`);
const nameRule = `must be 1 to ${maxNameLength} characters from A-Z a-z 0-9 _ - .`;

const knownAnnotations: Known<ToolAnnotations> = {
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
};

const taskSupport = oneOf("optional", "required");

const knownTask: Known<TaskDefinition> = {
  support: taskSupport,
  starts: oneOf("at once", "handler"),
  ttlMs: milliseconds,
  pollIntervalMs: milliseconds,
};

const fields: Known<ToolOptions> = {
  ...describedFields,
  ...toolLimitFields,
  input: anything,
  output: anything,
  annotations: optionsOf(knownAnnotations),
  requires: { ...plainObject, mustBe: "an object such as { sampling: {} }" },
  task: either(taskSupport, optionsOf(knownTask)),
  validateInput: flag,
  validateOutput: flag,
  errors: shownErrors,
};

const capabilities = { roots: 1, sampling: 1, elicitation: 1, tasks: 1, experimental: 1, extensions: 1 };

interface ToolSettings extends SchemaSettings {
  readonly logger: Logger;
}

/** How tools are checked and published. Calls `onTask` for each tool that can run as a task. */
export function toolKind(
  onTask: () => void,
  settings: ToolSettings,
): DefinitionKind<ToolOptions, CompiledTool> {
  return {
    noun: "tool",
    keyField: "name",
    usage: "tool(name, { description, input }, handler)",
    fields,
    compile(name, options, subject) {
      const compiled = compileTool(name, options, subject, settings);
      if (compiled.task) onTask();
      return compiled;
    },
    publish: publishTool,
  };
}

function compileTool(
  name: string,
  options: ToolOptions,
  subject: string,
  settings: ToolSettings,
): CompiledTool {
  checkName("tool", name, namePattern, nameRule);
  for (const capability of Object.keys(options.requires ?? {})) {
    if (Object.hasOwn(capabilities, capability)) continue;
    const field = `requires.${capability}`;
    const problem = `is not a capability: ${nearest(capability, capabilities)}`;
    throw new ConfigurationError("INVALID_DEFINITION", { subject, field }, problem);
  }
  const where = { subject, field: "input" };
  const input = compileField(options.input, "input", where, settings);
  const output = compileField(options.output, "output", { subject, field: "output" }, settings);
  const inputSchema: JsonObject = input?.json ?? noParameters;
  assertObjectSchema(inputSchema, options.input, where);
  const found = readParamHeaders(inputSchema);
  if (!found.ok) throw new ConfigurationError("INVALID_SCHEMA", where, found.problem);
  const handler = withinLimits(name, options, options.handler as CheckedHandler, settings.logger);
  const task = typeof options.task === "string" ? { support: options.task } : options.task;
  return { name, options, handler, inputSchema, input, output, paramHeaders: found.headers, task };
}

function publishTool({ name, options, inputSchema, output, task }: CompiledTool, revision: Revision): object {
  const outputSchema = output && publishedOutput(output.json, revision);
  const execution = task && { taskSupport: task.support ?? "optional" };
  return encodeShape({ ...options, name, inputSchema, outputSchema, execution }, "tool", revision);
}

/** Revisions that allow only objects as structured content also need an output schema of an object. */
function publishedOutput(schema: JsonObject, revision: Revision): JsonObject {
  return revision.structuredContent === "object" && schema["type"] !== "object" ? wrapSchema(schema) : schema;
}
