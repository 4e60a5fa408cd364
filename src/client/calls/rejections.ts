// Explains a server's rejection: the server lacks the feature, or the client did not declare a capability.
import { errorCodes } from "../../base/errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import type { ServerCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { ServerFacts } from "../settings/server-facts.ts";
import { RpcRejection } from "../settings/errors.ts";
import { passTasks } from "./results.ts";

/** The capability that methods with this beginning need, and the name of the feature. */
const needs: readonly (readonly [start: string, capability: keyof ServerCapabilities, name: string])[] = [
  ["tools/", "tools", "tools"],
  ["prompts/", "prompts", "prompts"],
  ["resources/", "resources", "resources"],
  ["completion/", "completions", "completions"],
  ["logging/", "logging", "log messages"],
];

/** Adds the reason to a rejection if the capabilities of both sides show it. Otherwise returns the rejection unchanged. */
export function explained(
  rejection: RpcRejection,
  what: string,
  method: string,
  peer: ServerFacts,
): RpcRejection {
  const { code, data, message } = rejection;
  const isLack = code === errorCodes.methodNotFound;
  const reason = isLack ? lackOf(method, peer) : taskOf(data);
  const remedy = isLack || reason !== undefined ? undefined : remedyOf(data, peer.revision);
  if (remedy !== undefined)
    return new RpcRejection({ code, data, message: `${message}: ${remedy}` }, rejection);
  if (reason === undefined) return rejection;
  return new RpcRejection({ code, data, message: `${what}: ${reason} (${code}: ${message})` }, rejection);
}

function lackOf(method: string, { address, capabilities }: ServerFacts): string | undefined {
  const need = needs.find(([start]) => method.startsWith(start));
  if (need === undefined || capabilities[need[1]] !== undefined) return undefined;
  const offered = needs.filter(([, capability]) => capabilities[capability] !== undefined);
  const server = address === "wire" ? "the server" : address;
  return `${server} has no ${need[2]}; it offers ${offered.map(([, , name]) => name).join(", ") || "nothing of this kind"}`;
}

/** The options that declare each capability, and the requests that need it. */
const declaring: Readonly<Record<string, readonly [option: string, request: string]>> = {
  elicitation: ["onElicit", "elicitation/create"],
  sampling: ["onSample", "sampling/createMessage"],
  roots: ["roots", "roots/list"],
};

/**
 * Parts of capabilities that are newer than the request that carries them: each with its field and the option that declares it.
 */
const newerParts: readonly (readonly [
  capability: "elicitation" | "sampling",
  part: string,
  option: string,
])[] = [
  ["elicitation", "url", "onElicit: { form, url }"],
  ["sampling", "tools", "onSample: { answer, tools: true }"],
];

function remedyOf(data: unknown, spoken: Revision): string | undefined {
  const required = requiredBy(data);
  const needed = Object.keys(required);
  const missing = needed.filter((name) => !isKnownTo(spoken, name, required[name]));
  const first = revisions.findLast((each) => missing.some((name) => isKnownTo(each, name, required[name])));
  if (first) return `use ${first.date} or later`;
  const optionOf = (name: string): string => {
    const part = newerParts.find((each) => each[0] === name && each[1] in Object(required[name]));
    return part?.[2] ?? declaring[name]?.[0] ?? "capabilities";
  };
  const options = new Set(needed.map(optionOf));
  return options.size > 0 ? `pass ${[...options].join(" and ")} to connect` : undefined;
}

/** Whether a revision has the request that needs a capability, and the required part of it. */
function isKnownTo({ clientRequests, fields }: Revision, name: string, required: unknown): boolean {
  const request = declaring[name]?.[1];
  if (request === undefined) return true;
  const lacksPart = newerParts.some(
    ([capability, part]) =>
      capability === name && isObject(required) && part in required && !fields[capability].has(part),
  );
  return clientRequests.has(request) && !lacksPart;
}

function requiredBy(data: unknown): JsonObject {
  const required = isObject(data) ? data["requiredCapabilities"] : undefined;
  return isObject(required) ? required : {};
}

function taskOf(data: unknown): string | undefined {
  const { extensions } = requiredBy(data);
  return isObject(extensions) && extensionIds.tasks in extensions
    ? `it runs as a task: ${passTasks}`
    : undefined;
}
