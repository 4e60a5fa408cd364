// tools/call: find the tool, check what goes in, run it, check what comes out.
import { errorCodes, ProtocolError, ToolError } from "../../errors.ts";
import { missingCapabilities } from "../../protocol/capabilities.ts";
import { encodeCallToolResult } from "../../protocol/codec.ts";
import type { CallToolResult } from "../../protocol/model.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import type { Call } from "../call.ts";
import { logFailure } from "../failure.ts";
import { ToolResult, toErrorResult, toStructuredResult, toToolResult } from "../results.ts";
import type { MethodHandler } from "./method.ts";

export const callTool: MethodHandler = {
  async run(call) {
    const { name, arguments: given = {} } = call.params;
    const tool = typeof name === "string" ? call.core.tools.find(name) : undefined;
    if (tool === undefined)
      throw new ProtocolError(errorCodes.invalidParams, `Unknown tool: ${String(name)}`);
    if (!isObject(given)) throw new ProtocolError(errorCodes.invalidParams, "arguments must be an object");
    assertCapabilities(tool, call);
    const checked = await checkInput(tool, given, call);
    if (!checked.ok) return checked.failure;
    try {
      return await toResult(tool, await tool.handler(checked.args, call), call);
    } catch (error) {
      return toFailure(tool, error, call);
    }
  },

  encode: (result: CallToolResult, call) => encodeCallToolResult(result, call.table),
};

function assertCapabilities(tool: CompiledTool, call: Call): void {
  const required = tool.options.requires;
  const missing = required && missingCapabilities(required, call.clientCapabilities);
  if (missing === undefined) return;
  const names = Object.keys(missing).join(", ");
  const message = `Tool ${tool.name} needs client capabilities that were not declared: ${names}`;
  throw new ProtocolError(errorCodes.missingClientCapability, message, { requiredCapabilities: missing });
}

type CheckedInput =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly failure: CallToolResult };

/** Returns at once what needs no waiting: most schemas are synchronous, and a turn of the loop costs more than they do. */
function checkInput(tool: CompiledTool, given: JsonObject, call: Call): CheckedInput | Promise<CheckedInput> {
  if (tool.input === undefined) return { ok: true, args: {} };
  if (!(tool.options.validateInput ?? call.core.settings.validateInput)) return { ok: true, args: given };
  const validation = tool.input.validate(given);
  if (validation instanceof Promise) return validation.then((outcome) => toChecked(tool, outcome, call));
  return toChecked(tool, validation, call);
}

type Outcome = Awaited<ReturnType<NonNullable<CompiledTool["input"]>["validate"]>>;

function toChecked(tool: CompiledTool, outcome: Outcome, call: Call): CheckedInput {
  if (outcome.ok) return { ok: true, args: outcome.value };
  const message = `Invalid arguments for tool ${tool.name}: ${outcome.issues.join("; ")}`;
  if (call.table.invalidArguments === "error") throw new ProtocolError(errorCodes.invalidParams, message);
  return { ok: false, failure: toErrorResult(message) };
}

async function toResult(tool: CompiledTool, returned: unknown, call: Call): Promise<CallToolResult> {
  if (tool.output === undefined) return toToolResult(returned);
  const given = returned instanceof ToolResult ? returned : undefined;
  if (given?.isError) return toToolResult(given);
  const value = given ? given.structured : returned;
  if (!(tool.options.validateOutput ?? call.core.settings.validateOutput))
    return toStructuredResult(value, given);
  const outcome = await tool.output.validate(value);
  if (outcome.ok) return toStructuredResult(outcome.value, given);
  const problem = `Tool ${tool.name} returned a value that does not fit its output schema`;
  const errorId = logFailure(new TypeError(`${problem}: ${outcome.issues.join("; ")}`), call);
  throw new ProtocolError(errorCodes.internal, `${problem} (error id ${errorId})`, { errorId });
}

function toFailure(tool: CompiledTool, error: unknown, call: Call): CallToolResult {
  if (error instanceof ProtocolError) throw error;
  if (error instanceof ToolError) return toErrorResult(error.message);
  return toErrorResult(`Tool ${tool.name} failed (error id ${logFailure(error, call)})`);
}
