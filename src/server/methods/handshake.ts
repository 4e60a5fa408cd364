// How a client and the server get to know each other: initialize and its notification, discover, ping, the log level.
import { invalidParams, invalidRequest } from "../../errors.ts";
import { encodeImplementation } from "../../protocol/codec.ts";
import {
  type ClientCapabilities,
  type Implementation,
  isLogLevel,
  readImplementation,
} from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject } from "../../wire/message.ts";
import type { MethodHandler } from "../calls/seams.ts";
import type { Features } from "../catalogue/features.ts";
import type { Exchange } from "../context/connection.ts";
import type { Settings } from "../settings/settings.ts";

/** How much a client may say of itself that is kept. */
const maxClientLength = 8 * 1024;

/** What a client is told of the server. */
interface Introduction {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly features: Features;
}

/** `onAnnounced` is called when a legacy client has been told the capabilities. */
export function initialize(about: Introduction, onAnnounced: () => void): MethodHandler {
  return {
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
      const wanted = about.settings.revisions.find(protocolVersion);
      // Nobody comes here unless a legacy revision is spoken: the one that the peer was found to speak until now.
      const revision = wanted?.era === "legacy" ? wanted : call.protocol;
      connection.revision = revision;
      connection.clientInfo = clientInfo;
      connection.clientCapabilities = isObject(capabilities) ? (capabilities as ClientCapabilities) : {};
      connection.logLevel = "info";
      onAnnounced();
      return {
        protocolVersion: revision.date,
        serverInfo: encodeImplementation(about.info, revision),
        ...introduce(about, revision, call.exchange),
      };
    },
  };
}

export function discover(about: Introduction): MethodHandler {
  return {
    run: ({ protocol, exchange }) => ({
      supportedVersions: about.settings.revisions.dates(),
      ...introduce(about, protocol, exchange),
    }),
  };
}

function introduce({ settings, features }: Introduction, revision: Revision, exchange: Exchange): object {
  const { instructions } = settings;
  return {
    capabilities: features.capabilities(revision, features.canPush(revision, exchange)),
    ...(instructions !== undefined && { instructions }),
  };
}

export const ping: MethodHandler = { run: () => ({}) };

export const setLogLevel: MethodHandler = {
  run(call) {
    const { level } = call.params;
    if (!isLogLevel(level)) throw invalidParams("level must be one of the eight log levels");
    call.exchange.connection.logLevel = level;
    return {};
  },
};

/** What is kept of it for a session: in words, and without icons. */
function keptOf(client: Implementation | undefined): Implementation | undefined {
  if (client === undefined) return undefined;
  const words = ["name", "title", "version", "description", "websiteUrl"] as const;
  const kept = words.map((word) => [word, client[word]]).filter(([, text]) => typeof text === "string");
  return Object.fromEntries(kept) as Implementation;
}
