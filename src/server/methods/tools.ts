// tools/call: find the tool, check what goes in, run it, check what comes out.
import {
  errorCodes,
  InputPending,
  invalidParams,
  ProtocolError,
  ToolError,
  UrlElicitationRequired,
} from "../../errors.ts";
import { missingCapabilities, namesOfMissing } from "../../protocol/capabilities.ts";
import type { CallToolResult } from "../../protocol/model.ts";
import type { CompiledSchema } from "../../schema/compile.ts";
import type { Validation } from "../../schema/validation.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import { orAsk } from "../asking/input-required.ts";
import { visitRefusal } from "../asking/visits.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import type { Call } from "../calls/call.ts";
import { propertiesOf } from "../../schema/object-schema.ts";
import { converted, encodeToolResult } from "./encode-results.ts";
import { cannotSend, describeFailure, isForClient, isRefusal, shown } from "../calls/failure.ts";
import {
  asToolResult,
  looksLikeResult,
  text,
  toErrorResult,
  toStructuredResult,
  toToolResult,
} from "../results/results.ts";
import { beginTask } from "../tasks/begin.ts";
import { isThenable } from "../../async/promises.ts";
import type { MethodHandler } from "../calls/method.ts";

export const callTool: MethodHandler = {
  run(call) {
    const { name, arguments: given = {} } = call.params;
    if (typeof name !== "string") throw invalidParams("name must be a string");
    const tool = call.core.tools.find(name);
    if (tool === undefined) throw invalidParams(`Unknown tool: ${shown(name)}`);
    if (!isObject(given)) throw invalidParams("arguments must be an object");
    assertCapabilities(tool, call);
    // Most schemas answer at once, and a turn of the microtask queue would cost more than they do.
    const checked = checkInput(tool, given, call);
    return checked instanceof Promise
      ? checked.then((input) => start(tool, input, call))
      : start(tool, checked, call);
  },

  encode: encodeToolResult,

  recover(error, call) {
    if (error instanceof ToolError) return toErrorResult(error.message);
    const tool = failed.get(call);
    if (tool === undefined || isNoFailure(error)) return undefined;
    const { message } = describeFailure(error, call, tool.options.errors, `Tool ${tool.name} failed`);
    return toErrorResult(message);
  },
};

/** Runs the tool, as a task where its client wants one. */
function start(
  tool: CompiledTool,
  input: CheckedInput,
  call: Call,
): CallToolResult | Promise<CallToolResult> {
  const isPlain = tool.task === undefined && call.params["task"] === undefined;
  if (isPlain) return outcomeOf(tool, input, call);
  // A client that asked for a task gets one even for arguments that do not fit: it would not know another reply.
  if (!input.ok && call.table.tasks !== "core") return input.failure;
  const begun = beginTask(tool, call);
  return begun === undefined ? outcomeOf(tool, input, call) : begun.then(() => outcomeOf(tool, input, call));
}

function outcomeOf(
  tool: CompiledTool,
  input: CheckedInput,
  call: Call,
): CallToolResult | Promise<CallToolResult> {
  return input.ok ? invoke(tool, input.args, call) : input.failure;
}

/** A tool that answers at once is not made to wait: each turn of the microtask queue costs as much as a small tool. */
function invoke(tool: CompiledTool, args: unknown, call: Call): CallToolResult | Promise<CallToolResult> {
  try {
    const returned = tool.handler(args, call);
    const isReady = tool.output === undefined && !isThenable(returned);
    return isReady ? withoutOutput(orAsk(returned), call) : settle(tool, returned, call);
  } catch (error) {
    return toFailure(tool, error, call);
  }
}

async function settle(tool: CompiledTool, pending: unknown, call: Call): Promise<CallToolResult> {
  try {
    const returned = orAsk(await pending);
    return tool.output === undefined
      ? withoutOutput(returned, call)
      : await checkOutput(tool, tool.output, returned, call);
  } catch (error) {
    return toFailure(tool, error, call);
  }
}

/** Most tools return a string, which needs no closure. */
function withoutOutput(returned: unknown, call: Call): CallToolResult {
  return typeof returned === "string"
    ? toToolResult(returned)
    : converted("Tool", call, () => toToolResult(returned));
}

function assertCapabilities(tool: CompiledTool, call: Call): void {
  const required = tool.options.requires;
  const missing = required && missingCapabilities(required, call.clientCapabilities);
  if (missing === undefined) return;
  const names = namesOfMissing(missing, call.clientCapabilities);
  const message = `Tool ${tool.name} needs client capabilities that were not declared: ${names}`;
  throw new ProtocolError(errorCodes.missingClientCapability, message, { requiredCapabilities: missing });
}

type CheckedInput =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly failure: CallToolResult };

function checkInput(tool: CompiledTool, given: JsonObject, call: Call): CheckedInput | Promise<CheckedInput> {
  if (tool.input === undefined) return { ok: true, args: {} };
  if (!(tool.options.validateInput ?? call.core.settings.validateInput)) return { ok: true, args: given };
  const validation = tool.input.validate(given);
  if (validation instanceof Promise) return validation.then((outcome) => toChecked(tool, outcome, call));
  return toChecked(tool, validation, call);
}

function toChecked(tool: CompiledTool, outcome: Validation, call: Call): CheckedInput {
  if (outcome.ok) return { ok: true, args: outcome.value };
  const message = `Invalid arguments for tool ${tool.name}: ${outcome.issues.join("; ")}`;
  if (call.table.invalidArguments === "error") throw invalidParams(message);
  return { ok: false, failure: toErrorResult(message) };
}

async function checkOutput(
  tool: CompiledTool,
  schema: CompiledSchema,
  returned: unknown,
  call: Call,
): Promise<CallToolResult> {
  const declares = (name: string): boolean => propertiesOf(schema.json).has(name);
  const given = converted("Tool", call, () => asToolResult(returned, declares));
  if (given?.isError === true) return toStructuredResult(given.structured, given);
  const value = given ? given.structured : returned;
  if (!(tool.options.validateOutput ?? call.core.settings.validateOutput))
    return toStructuredResult(value, given);
  const problem = `Tool ${tool.name} returned a value that does not fit its output schema`;
  if (given && value === undefined) throw cannotSend(problem, "structuredContent is missing", call);
  const outcome = await schema.validate(value);
  if (outcome.ok) return toStructuredResult(outcome.value, given);
  const isDoubtful = given === undefined && looksLikeResult(returned);
  const issues = isDoubtful ? [...outcome.issues, meantAsValue] : outcome.issues;
  throw cannotSend(problem, issues.join("; "), call);
}

const meantAsValue =
  "the schema declares content or structuredContent, so the object counts as the value: return result({ … }) for a result in full";

/** Not a matter of the tool: errors of the protocol, and questions that end the call. */
function isNoFailure(error: unknown): boolean {
  return [ProtocolError, InputPending, UrlElicitationRequired].some((kind) => error instanceof kind);
}

/** The calls whose tool has thrown: what middleware then throws in turn is still a failure of that tool. */
const failed = new WeakMap<Call, CompiledTool>();

/** A result where the words are meant for the model. Middleware sees any other exception itself, and may translate it. */
function toFailure(tool: CompiledTool, thrown: unknown, call: Call): CallToolResult {
  const error = visitRefusal(thrown, call) ?? thrown;
  if (isRefusal(error)) return { content: [text(error.message)] };
  if (isForClient(error)) return toErrorResult(error.message);
  if (!isNoFailure(error)) failed.set(call, tool);
  throw error;
}
