// The checks before a handler runs: the peer, its limits and scopes, and whether its revision has the method.
import {
  clip,
  errorCodes,
  invalidParams,
  invalidRequest,
  methodNotFound,
  ProtocolError,
} from "../../base/errors.ts";
import { hasModernKey, metaKeys } from "../../protocol/meta.ts";
import { type ClientCapabilities, isLogLevel, logLevels, readImplementation } from "../../protocol/model.ts";
import type { Feature, RequestRow, Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject, type RpcRequest } from "../../base/wire/message.ts";
import { type Connection, type Exchange, grantOf, type Peer } from "../context/connection.ts";
import { Call } from "./call.ts";
import { unknownPeer } from "./call-request.ts";
import type { Core } from "./core.ts";
import type { MethodHandler } from "./seams.ts";
import { assertScopes } from "../catalogue/scopes.ts";

/** Returns a call that may run, and its handler. Throws the error to respond with. */
export function openCall(
  core: Core,
  request: RpcRequest,
  exchange: Exchange,
): { readonly call: Call; readonly handler: MethodHandler } {
  const { connection } = exchange;
  if (connection.sharesPipe && connection.inFlight.has(request.id)) {
    throw invalidRequest("Another request with this id is still open: use a new id");
  }
  const { limits } = core.settings;
  if (connection.running >= limits.maxInFlight) {
    throw invalidRequest(`More than ${limits.maxInFlight} requests are open: wait for a response`);
  }
  const peer = resolvePeer(core, request, exchange);
  const { row, handler } = findMethod(core, request.method, peer, exchange);
  const scopes = exchange.checkedScopes ?? assertScopes(core.catalogue, request, grantOf(exchange), limits);
  const mustWait =
    core.settings.requireInitialized && peer.revision.era === "legacy" && !connection.initialized;
  if (mustWait && !row.beforeInitialized) {
    throw invalidRequest("Send notifications/initialized first");
  }
  const needed = scopes.length > 0 ? scopes : undefined;
  return { call: new Call(core, request, exchange, peer, row, needed), handler };
}

function findMethod(
  core: Core,
  method: string,
  { revision }: KnownPeer,
  exchange: Exchange,
): { row: RequestRow; handler: MethodHandler } {
  const row = exchange.row ?? revision.requests.get(method);
  const feature = row?.feature;
  const isThere = feature === undefined || core.features.isOffered(feature, revision, exchange);
  const handler = row && !row.isAdded && isThere ? core.methods.get(method) : undefined;
  if (row && handler) return { row, handler };
  const added = core.catalogue.findMethod(method, revision.era);
  if (added) return { row: added.row, handler: { run: (call) => added.run(call.params, call) } };
  throw isThere ? unknownMethod(method) : notOffered(method, feature, core);
}

/** The definitions that a server without the feature does not have, as error messages name them. */
const lacking: Readonly<Record<Feature, string>> = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  completions: "completions",
  logging: "log messages",
  subscribe: "resources",
  listen: "tools, prompts or resources",
  tasks: "tools that run as tasks",
};

function notOffered(method: string, feature: Feature, { features }: Core): ProtocolError {
  const reason = features.has(feature)
    ? "This connection cannot receive notifications"
    : `This server has no ${lacking[feature]}`;
  return methodNotFound(`${reason}: ${method} is not available`);
}

/** A peer whose revision is known. */
type KnownPeer = Peer & { readonly revision: Revision };

/** Returns the peer that sent `request`. Throws the error for the client if its revision is unknown. */
function resolvePeer(core: Core, request: RpcRequest, exchange: Exchange): KnownPeer {
  const meta = request.params?.["_meta"];
  const speaksModern = core.settings.revisions.modern !== undefined;
  const isModern = exchange.era === "modern" || (isObject(meta) && hasModernKey(meta));
  if (speaksModern && isModern) return readModernPeer(core, isObject(meta) ? meta : {}, exchange.revision);
  const { connection } = exchange;
  if (isAgreed(connection)) return connection;
  return unagreedPeer(core, request, connection);
}

function isAgreed(connection: Connection): connection is Connection & { readonly revision: Revision } {
  return connection.revision !== undefined;
}

function readModernPeer(core: Core, meta: JsonObject, found: Revision | undefined): KnownPeer {
  const revision = found ?? findModernRevision(core, meta);
  const logLevel = meta[metaKeys.logLevel];
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    throw invalidParams(`${metaKeys.logLevel} must be one of ${logLevels.join(", ")}`);
  }
  return {
    revision,
    clientCapabilities: meta[metaKeys.clientCapabilities] as ClientCapabilities,
    clientInfo: readImplementation(meta[metaKeys.clientInfo]),
    logLevel,
  };
}

/** The revision that `_meta` names. Throws if `_meta` is incomplete. */
function findModernRevision(core: Core, meta: JsonObject): Revision {
  const version = meta[metaKeys.protocolVersion];
  if (typeof version !== "string") throw missing(metaKeys.protocolVersion);
  if (!isObject(meta[metaKeys.clientCapabilities])) throw missing(metaKeys.clientCapabilities);
  const revision = core.settings.revisions.find(version);
  if (revision?.era !== "modern") throw unsupported(core, version);
  return revision;
}

/** Before initialize, only requests that open a connection are allowed. */
function unagreedPeer(core: Core, { method, params }: RpcRequest, connection: Connection): KnownPeer {
  const { revisions } = core.settings;
  const { legacy, modern } = revisions;
  const row = legacy?.requests.get(method);
  if (legacy && row?.beforeInitialized) return { ...unknownPeer, revision: legacy };
  if (row || (legacy && core.catalogue.findMethod(method, "legacy"))) {
    const otherwise = modern ? `, or put ${metaKeys.protocolVersion} in _meta` : "";
    throw invalidRequest(
      `This ${connection.transport} connection is not initialized: send initialize first${otherwise}`,
    );
  }
  // Tell a legacy client which revisions to try.
  if (!legacy && method === "initialize")
    throw unsupported(
      core,
      String(params?.["protocolVersion"]),
      "This server has no initialize: use a revision of data.supported",
    );
  const isModern =
    revisions.has(method, "modern") || core.catalogue.findMethod(method, "modern") !== undefined;
  if (modern && isModern) throw missing(metaKeys.protocolVersion);
  throw unknownMethod(method);
}

function unknownMethod(method: string): ProtocolError {
  return methodNotFound(`Unknown method: ${clip(method)}`);
}

function missing(key: string): ProtocolError {
  return invalidParams(`_meta must have ${key}`);
}

function unsupported(core: Core, requested: string, problem?: string): ProtocolError {
  const { revisions } = core.settings;
  const isLegacy = revisions.find(requested)?.era === "legacy";
  const unspoken = isLegacy
    ? `Revision ${requested} starts with initialize: do not name it in _meta`
    : `Unsupported protocol version: ${clip(requested)}`;
  const message = problem ?? unspoken;
  // Leave out the date that the client sent: it would retry with the same one forever.
  const supported = revisions.dates(isLegacy ? "modern" : undefined);
  return new ProtocolError(errorCodes.unsupportedVersion, message, { supported, requested });
}
