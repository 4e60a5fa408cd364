// Says what a server's rejection means for the user of this client: the server lacks the feature, or the client did not declare one.
import { errorCodes } from "../../errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import type { ServerCapabilities } from "../../protocol/model.ts";
import { isObject } from "../../wire/message.ts";
import type { Peer } from "../connection/peer.ts";
import { RpcRejection } from "../settings/errors.ts";
import { passTasks } from "./results.ts";

/** The capability that the methods with this beginning need, and what it is called. */
const needs: readonly (readonly [start: string, capability: keyof ServerCapabilities, name: string])[] = [
  ["tools/", "tools", "tools"],
  ["prompts/", "prompts", "prompts"],
  ["resources/", "resources", "resources"],
  ["completion/", "completions", "completions"],
  ["logging/", "logging", "log messages"],
];

/** The rejection with its reason, as far as the capabilities of both sides tell it; otherwise the rejection as it is. */
export function explained(rejection: RpcRejection, what: string, method: string, peer: Peer): RpcRejection {
  const reason =
    rejection.code === errorCodes.methodNotFound ? lackOf(method, peer) : remedyOf(rejection.data);
  if (reason === undefined) return rejection;
  const { code, data, message } = rejection;
  return new RpcRejection({ code, data, message: `${what}: ${reason} (${code}: ${message})` }, rejection);
}

function lackOf(method: string, { address, capabilities }: Peer): string | undefined {
  const need = needs.find(([start]) => method.startsWith(start));
  if (need === undefined || capabilities[need[1]] !== undefined) return undefined;
  const offered = needs.filter(([, capability]) => capabilities[capability] !== undefined);
  const server = address === "wire" ? "the server" : address;
  return `${server} has no ${need[2]}; it offers ${offered.map(([, , name]) => name).join(", ") || "nothing of this kind"}`;
}

function remedyOf(data: unknown): string | undefined {
  const required = isObject(data) ? data["requiredCapabilities"] : undefined;
  const extensions = isObject(required) ? required["extensions"] : undefined;
  return isObject(extensions) && extensionIds.tasks in extensions
    ? `it runs as a task: ${passTasks}`
    : undefined;
}
