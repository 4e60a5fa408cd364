// completion/complete: calls the server's completion handler first, then the argument's completer.
import { invalidParams } from "../../base/errors.ts";
import type { CompleteResult, CompletionReference } from "../../protocol/model.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Completer, CompletionRequest, Suggestions } from "../catalogue/completers.ts";
import type { Call } from "../calls/call.ts";
import type { MethodHandler } from "../calls/seams.ts";
import { kindOf } from "../catalogue/result-checks.ts";

/** Values of a completion. Past it, the server omits the rest and sets `hasMore`. */
const maxValues = 100;

export function complete(catalogue: Catalogue): MethodHandler {
  return {
    async run(call) {
      const request = readRequest(call.params);
      const completers = completersOf(request.ref, catalogue);
      const { completion } = catalogue;
      const own = await completion?.(request, call);
      if (own !== undefined && own !== null) return toResult(own, "The handler of server.completion");
      return toResult((await suggest(request, completers, call)) ?? [], completerOf(request));
    },
  };
}

async function suggest(
  request: CompletionRequest,
  completers: Readonly<Record<string, Completer | undefined>>,
  call: Call,
): Promise<Suggestions | undefined> {
  const { name, value } = request.argument;
  const completer = Object.hasOwn(completers, name) ? completers[name] : undefined;
  return completer?.(value, request.context, call);
}

function readRequest(params: JsonObject): CompletionRequest {
  const { ref, argument, context } = params;
  if (!isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string") {
    throw invalidParams("argument must have a string name and value");
  }
  const others = isObject(context) && isObject(context["arguments"]) ? context["arguments"] : {};
  return {
    ref: readReference(ref),
    argument: { name: argument["name"], value: argument["value"] },
    context: others as Readonly<Record<string, string>>,
  };
}

function readReference(ref: unknown): CompletionReference {
  if (isObject(ref)) {
    const { type, name, uri } = ref;
    if (type === "ref/prompt" && typeof name === "string") return { type, name };
    if (type === "ref/resource" && typeof uri === "string") return { type, uri };
  }
  throw invalidParams("ref must name a prompt or a resource template");
}

/** The completers of the referenced prompt or template. Throws if it does not exist. */
function completersOf(
  ref: CompletionReference,
  { prompts, templates, resources }: Catalogue,
): Readonly<Record<string, Completer | undefined>> {
  const target =
    ref.type === "ref/prompt" ? prompts.find(ref.name) : (templates.find(ref.uri) ?? resources.find(ref.uri));
  if (!target) {
    throw invalidParams(`Unknown ${ref.type === "ref/prompt" ? "prompt" : "resource"}`);
  }
  return "complete" in target.options ? (target.options.complete ?? {}) : {};
}

function completerOf({ ref, argument }: CompletionRequest): string {
  const target = ref.type === "ref/prompt" ? `prompt "${ref.name}"` : `resource template "${ref.uri}"`;
  return `complete.${argument.name} of ${target}`;
}

/** Converts suggestions to the result. Throws if they are not texts; `from` names the completer that returned them. */
function toResult(suggestions: Suggestions, from: string): CompleteResult {
  const fail = (what: string): never => {
    throw new TypeError(`${from} returned ${what}: return a list of strings or { values, total, hasMore }`);
  };
  const given = isList(suggestions) ? { values: suggestions } : suggestions;
  if (!Array.isArray(given.values)) fail(kindOf(suggestions));
  const wrong = given.values.findIndex((value) => typeof value !== "string");
  if (wrong !== -1) fail(`values[${wrong}], ${kindOf(given.values[wrong])}`);
  const values = given.values.slice(0, maxValues);
  const cut = given.values.length > maxValues;
  const total = given.total ?? given.values.length;
  return { completion: { values, total, hasMore: cut || (given.hasMore ?? total > values.length) } };
}

function isList(suggestions: Suggestions): suggestions is readonly string[] {
  return Array.isArray(suggestions);
}
