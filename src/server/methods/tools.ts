// tools/call: finds the tool, validates the arguments, runs the handler, and validates the result.
import {
  clip,
  InputPending,
  invalidParams,
  missingCapability,
  ProtocolError,
  ToolError,
  UrlElicitationRequired,
} from "../../base/errors.ts";
import { isThenable } from "../../base/async/promises.ts";
import { encodeCallToolResult } from "../../protocol/codec.ts";
import { missingCapabilities, namesOfMissing } from "../../protocol/capabilities.ts";
import type { CallToolResult } from "../../protocol/model.ts";
import type { CompiledSchema } from "../../protocol/schema/compile.ts";
import { propertiesOf } from "../../protocol/schema/object-schema.ts";
import { isStandardSchema } from "../../protocol/schema/standard.ts";
import type { Validation } from "../../protocol/schema/validation.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import {
  cannotSend,
  converted,
  describeFailure,
  isForClient,
  isInputRefused,
  unsendable,
} from "../calls/failure.ts";
import type { MethodHandler, TaskSeam } from "../calls/seams.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import { noArguments } from "./prompts.ts";
import { jsonProblem, resultProblem } from "../catalogue/result-checks.ts";
import {
  asToolResult,
  looksLikeResult,
  orAsk,
  text,
  toErrorResult,
  toStructuredResult,
  toToolResult,
} from "../catalogue/results.ts";
import type { Settings } from "../settings/settings.ts";

type Outcome = CallToolResult | Promise<CallToolResult>;

export function callTool({ tools }: Catalogue, settings: Settings, tasks: TaskSeam): MethodHandler {
  return {
    run(call) {
      const { name, arguments: given = {} } = call.params;
      if (typeof name !== "string") throw invalidParams("name must be a string");
      const tool = tools.find(name);
      if (!tool) throw invalidParams(`Unknown tool: ${clip(name)}`);
      call.tool = tool;
      if (!isObject(given)) throw invalidParams("arguments must be an object");
      assertCapabilities(tool, call);
      // Stay synchronous if the schema is: a turn of the microtask queue costs more than most schemas.
      const checked = checkInput(tool, given, settings, call);
      return checked instanceof Promise
        ? checked.then((input) => start(tool, input, tasks, call))
        : start(tool, checked, tasks, call);
    },

    encode(result: CallToolResult, call) {
      // Middleware may have answered without the tool.
      const tool = call.tool ?? tools.find(call.params["name"] as string);
      const problem = resultProblem("Tool", result, isJudgedAsJson(result, tool, settings));
      if (problem) throw unsendable("Tool", problem, call);
      const isObjectOutput = result.structuredContent === undefined || promisesObject(tool);
      return encodeCallToolResult(result, call.protocol, isObjectOutput);
    },

    recover(error, call) {
      if (error instanceof ToolError) return toErrorResult(error.message);
      const tool = failed.get(call);
      if (!tool || isNoFailure(error)) return undefined;
      const { message } = describeFailure(error, call, tool.options.errors, `Tool ${tool.name} failed`);
      return toErrorResult(message);
    },
  };
}

/** Whether a JSON Schema has validated the JSON form of the structured content. A Standard Schema validates the value itself. */
function isJudgedAsJson(
  { isError }: CallToolResult,
  tool: CompiledTool | undefined,
  settings: Settings,
): boolean {
  const options = tool?.options;
  if (options?.output === undefined || isStandardSchema(options.output)) return false;
  return isError !== true && (options.validateOutput ?? settings.validateOutput);
}

/** Whether the structured content is always an object, as it is without an output schema. */
function promisesObject(tool: CompiledTool | undefined): boolean {
  return tool?.output === undefined || tool.output.json["type"] === "object";
}

/** Runs the tool, as a task if its client wants one. */
function start(tool: CompiledTool, input: CheckedInput, tasks: TaskSeam, call: Call): Outcome {
  const isPlain = tool.task === undefined && call.params["task"] === undefined;
  if (isPlain) return outcomeOf(tool, input, call);
  // A client that requested a task gets one even for invalid arguments: it does not expect another response.
  if (!input.ok && call.protocol.tasks !== "core") return input.failure;
  const begun = tasks.begin(tool, call);
  return begun ? begun.then(() => outcomeOf(tool, input, call)) : outcomeOf(tool, input, call);
}

function outcomeOf(tool: CompiledTool, input: CheckedInput, call: Call): Outcome {
  return input.ok ? invoke(tool, input.args, call) : input.failure;
}

/** Stays synchronous if the handler is: each turn of the microtask queue costs as much as a small tool. */
function invoke(tool: CompiledTool, args: unknown, call: Call): Outcome {
  // Without a receiver: `this` would be the compiled tool.
  const { handler } = tool;
  let returned: unknown;
  try {
    returned = handler(args, call);
  } catch (error) {
    return toFailure(tool, error, call);
  }
  if (!isThenable(returned)) return complete(tool, returned, call);
  const pending = returned instanceof Promise ? returned : Promise.resolve(returned);
  return pending.then(
    (value) => complete(tool, value, call),
    (error: unknown) => toFailure(tool, error, call),
  );
}

function complete(tool: CompiledTool, returned: unknown, call: Call): Outcome {
  try {
    const result = orAsk(returned);
    if (!tool.output) return withoutOutput(result, call);
    const checked = checkOutput(tool, tool.output, result, call);
    return checked instanceof Promise
      ? checked.catch((error: unknown) => toFailure(tool, error, call))
      : checked;
  } catch (error) {
    return toFailure(tool, error, call);
  }
}

/** Most tools return a string; then this creates no closure. */
function withoutOutput(returned: unknown, call: Call): CallToolResult {
  return typeof returned === "string"
    ? toToolResult(returned)
    : converted("Tool", call, () => toToolResult(returned));
}

function assertCapabilities(tool: CompiledTool, call: Call): void {
  const required = tool.options.requires;
  const missing = required && missingCapabilities(required, call.clientCapabilities);
  if (!missing) return;
  const names = namesOfMissing(missing, call.clientCapabilities);
  const message = `Tool ${tool.name} requires client capabilities that were not declared: ${names}`;
  throw missingCapability(message, missing);
}

type CheckedInput =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly failure: CallToolResult };

function checkInput(
  tool: CompiledTool,
  given: JsonObject,
  settings: Settings,
  call: Call,
): CheckedInput | Promise<CheckedInput> {
  if (!tool.input) {
    warnOfArguments(tool, given, settings);
    return { ok: true, args: noArguments() };
  }
  if (!(tool.options.validateInput ?? settings.validateInput)) return { ok: true, args: given };
  const validation = tool.input.validate(given);
  if (validation instanceof Promise) return validation.then((outcome) => toChecked(tool, outcome, call));
  return toChecked(tool, validation, call);
}

/** The tools whose arguments were warned about. */
const warned = new WeakSet<CompiledTool>();

/** Models send arguments to tools that take none, so this does not refuse them. */
function warnOfArguments(tool: CompiledTool, given: JsonObject, { logger }: Settings): void {
  for (const name in given) {
    if (warned.has(tool)) return;
    warned.add(tool);
    const remedy = "add it to input if the handler reads it";
    return logger.warn(
      `Tool ${tool.name} has no input and does not get the argument ${clip(name)}: ${remedy}`,
    );
  }
}

function toChecked(tool: CompiledTool, outcome: Validation, call: Call): CheckedInput {
  if (outcome.ok) return { ok: true, args: outcome.value };
  const message = `Invalid arguments for tool ${tool.name}: ${outcome.issues.join("; ")}`;
  if (call.protocol.invalidArguments === "error") throw invalidParams(message);
  return { ok: false, failure: toErrorResult(message) };
}

/** Validates the value of a tool with an output schema. Stays synchronous if the schema is. */
function checkOutput(tool: CompiledTool, schema: CompiledSchema, returned: unknown, call: Call): Outcome {
  const declares = (name: string): boolean => propertiesOf(schema.json).has(name);
  const given = converted("Tool", call, () => asToolResult(returned, declares));
  const value = given ? given.structured : returned;
  const isChecked = tool.options.validateOutput ?? call.core.settings.validateOutput;
  if (given?.isError === true || !isChecked)
    return converted("Tool", call, () => toStructuredResult(value, given));
  const problem = `Tool ${tool.name} returned a value that does not match its output schema`;
  if (given && value === undefined)
    throw cannotSend(problem, "structuredContent is missing: add it, or return the value alone", call);
  const toResult = (outcome: Validation): CallToolResult => {
    if (outcome.ok) return converted("Tool", call, () => toStructuredResult(outcome.value, given));
    const unsent = jsonProblem(value, "structuredContent");
    if (unsent) throw cannotSend(problem, unsent, call);
    const isDoubtful = given === undefined && looksLikeResult(returned);
    const issues = [...outcome.issues];
    if (isDoubtful) issues.push(meantAsValue);
    if (typeof value === "string" && /^\s*[[{]/.test(value)) issues.push(jsonText);
    else if (typeof value === "string" && propertiesOf(schema.json).size > 0) issues.push(textAlone);
    throw cannotSend(problem, issues.join("; "), call);
  };
  const outcome = schema.validate(value);
  return outcome instanceof Promise ? outcome.then(toResult) : toResult(outcome);
}

const jsonText = "it is a JSON text: return the value itself";
const textAlone = "return the value that output describes, or result({ content, structured }) to add a text";
const meantAsValue =
  "output declares content or structuredContent, so the object counts as the value: return result({ … }) for a full result";

/** Whether an exception is not a failure of the tool: an error of the protocol, or questions that end the call. */
function isNoFailure(error: unknown): boolean {
  return [ProtocolError, InputPending, UrlElicitationRequired].some((kind) => error instanceof kind);
}

/** The calls whose tool has thrown. If middleware then throws another error, it is still a failure of the tool. */
const failed = new WeakMap<Call, CompiledTool>();

/** Returns a result if the message is meant for the model. Rethrows other exceptions, so that middleware can convert them. */
function toFailure(tool: CompiledTool, thrown: unknown, call: Call): CallToolResult {
  const error = call.core.asking.refusalOf(thrown, call) ?? thrown;
  // The user gave no answer, which is not an error of the tool.
  if (isInputRefused(error)) return { content: [text(error.message)] };
  if (isForClient(error)) return toErrorResult(error.message);
  if (!isNoFailure(error)) failed.set(call, tool);
  throw error;
}
