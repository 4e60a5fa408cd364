// How a client and the server get to know each other: initialize and its notification, discover, ping, the log level.
import { invalidParams, invalidRequest } from "../../errors.ts";
import { encodeImplementation } from "../../protocol/codec.ts";
import { type ClientCapabilities, type Implementation, isLogLevel } from "../../protocol/model.ts";
import { isObject } from "../../wire/message.ts";
import type { MethodHandler } from "../calls/method.ts";

/** How much a client may say of itself that is kept. */
const maxClientLength = 8 * 1024;

export const initialize: MethodHandler = {
  run(call) {
    const { connection } = call.exchange;
    if (connection.revision !== undefined) {
      throw invalidRequest("This connection is initialized already");
    }
    const { protocolVersion, capabilities } = call.params;
    const clientInfo = keptOf(readImplementation(call.params["clientInfo"]));
    if (typeof protocolVersion !== "string") {
      throw invalidParams("protocolVersion must be a string");
    }
    // Kept for as long as the session is, and there may be many.
    if (JSON.stringify([clientInfo, capabilities]).length > maxClientLength) {
      throw invalidParams(`clientInfo and capabilities may take ${maxClientLength} characters at most`);
    }
    const { core } = call;
    const { revisions } = core.settings;
    const wanted = revisions.find(protocolVersion);
    // Nobody comes here unless a legacy revision is spoken: the one that the peer was found to speak until now.
    const revision = wanted?.era === "legacy" ? wanted : call.table;
    connection.revision = revision;
    connection.clientInfo = clientInfo;
    connection.clientCapabilities = isObject(capabilities) ? (capabilities as ClientCapabilities) : {};
    connection.logLevel = "info";
    core.announced.legacy = true;
    return {
      protocolVersion: revision.date,
      capabilities: core.features.capabilities(revision, core.features.canPush(revision, call.exchange)),
      serverInfo: encodeImplementation(core.info, revision),
      ...(core.settings.instructions !== undefined && { instructions: core.settings.instructions }),
    };
  },
};

export const discover: MethodHandler = {
  run({ core, table, exchange }) {
    return {
      supportedVersions: core.settings.revisions.dates(),
      capabilities: core.features.capabilities(table, core.features.canPush(table, exchange)),
      ...(core.settings.instructions !== undefined && { instructions: core.settings.instructions }),
    };
  },
};

export const ping: MethodHandler = { run: () => ({}) };

export const setLogLevel: MethodHandler = {
  run(call) {
    const { level } = call.params;
    if (!isLogLevel(level)) throw invalidParams("level must be one of the eight log levels");
    call.exchange.connection.logLevel = level;
    return {};
  },
};

/** What a client says it is; anything that is not well-formed counts as nothing, since nothing depends on it. */
export function readImplementation(value: unknown): Implementation | undefined {
  if (!isObject(value) || typeof value["name"] !== "string" || typeof value["version"] !== "string")
    return undefined;
  return value as unknown as Implementation;
}

/** What is kept of it for a session: in words, and without icons. */
function keptOf(client: Implementation | undefined): Implementation | undefined {
  if (client === undefined) return undefined;
  const words = ["name", "title", "version", "description", "websiteUrl"] as const;
  const kept = words.map((word) => [word, client[word]]).filter(([, text]) => typeof text === "string");
  return Object.fromEntries(kept) as Implementation;
}
