// The handshake of a client and the server: initialize, discover, ping, and the log level.
import { invalidParams, invalidRequest } from "../../base/errors.ts";
import { encodeShape } from "../../protocol/codec.ts";
import { type Implementation, isLogLevel, logLevels, readImplementation } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject } from "../../base/wire/message.ts";
import type { MethodHandler } from "../calls/seams.ts";
import type { Features } from "../catalogue/features.ts";
import type { Exchange } from "../context/connection.ts";
import type { Settings } from "../settings/settings.ts";

/** Characters of a client. `clientInfo`, without icons, and `capabilities` count as JSON. Past it, `initialize` gets -32602. */
const maxClientLength = 8 * 1024;

/** The parts of the server that a client learns about. */
interface Introduction {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly features: Features;
  /** Called when the server sends its capabilities to a client. */
  readonly onAnnounced: () => void;
}

export function initialize(about: Introduction): MethodHandler {
  return {
    run(call) {
      const { connection } = call.exchange;
      if (connection.revision) {
        throw invalidRequest("This connection is already initialized");
      }
      const { protocolVersion, capabilities } = call.params;
      const clientInfo = keptOf(readImplementation(call.params["clientInfo"]));
      if (typeof protocolVersion !== "string") {
        throw invalidParams("protocolVersion must be a string");
      }
      const texts = { info: JSON.stringify(clientInfo), capabilities: JSON.stringify(capabilities) };
      // They are kept as long as the session, and there may be many sessions.
      if ((texts.info?.length ?? 0) + (texts.capabilities?.length ?? 0) > maxClientLength) {
        throw invalidParams(`clientInfo and capabilities may have at most ${maxClientLength} characters`);
      }
      const wanted = about.settings.revisions.find(protocolVersion);
      // The table of a modern revision has no initialize, so call.protocol is legacy here.
      const revision = wanted?.era === "legacy" ? wanted : call.protocol;
      connection.revision = revision;
      connection.clientTexts = {
        clientInfo: texts.info,
        clientCapabilities:
          isObject(capabilities) && texts.capabilities !== "{}" ? texts.capabilities : undefined,
      };
      connection.logLevel = "info";
      return {
        protocolVersion: revision.date,
        serverInfo: encodeShape(about.info, "implementation", revision),
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

function introduce(about: Introduction, revision: Revision, exchange: Exchange): object {
  const { settings, features, onAnnounced } = about;
  const { instructions } = settings;
  onAnnounced();
  return {
    capabilities: features.capabilities(revision, features.canPush(revision, exchange)),
    ...(instructions !== undefined && { instructions }),
  };
}

export const ping: MethodHandler = { run: () => ({}) };

export const setLogLevel: MethodHandler = {
  run(call) {
    const { level } = call.params;
    if (!isLogLevel(level)) throw invalidParams(`level must be one of ${logLevels.join(", ")}`);
    call.exchange.connection.logLevel = level;
    return {};
  },
};

/** The strings of a client's description. Icons and unknown fields are dropped. */
function keptOf(client: Implementation | undefined): Implementation | undefined {
  if (!client) return undefined;
  const kept: Record<string, string> = {};
  for (const word of keptWords) {
    const text = client[word];
    if (typeof text === "string") kept[word] = text;
  }
  return kept as unknown as Implementation;
}

const keptWords = ["name", "title", "version", "description", "websiteUrl"] as const;
