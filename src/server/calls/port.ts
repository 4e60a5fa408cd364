// The port of a server: the interface for transports, which authors do not see.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { hasMethods, isClass, mismatch } from "../../base/kinds.ts";
import type { Loads } from "../../base/limits/loads.ts";
import type { Implementation } from "../../protocol/model.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import type { RequestRow, Revision } from "../../protocol/revision.ts";
import type { SpokenRevisions } from "../../protocol/revisions/index.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import type { ChangeLog } from "../push/changes.ts";
import type { KeptLogs, RemoteSessions } from "../push/remote-sessions.ts";
import type { Stream } from "../push/listener.ts";
import { topicOf } from "../push/topic.ts";
import {
  type Incoming,
  type ReadMessage,
  readMessage,
  type RpcMessage,
  type RpcResponse,
} from "../../base/wire/message.ts";
import type { Wire } from "../../base/wire/wire.ts";
import { type Answer, answerIncoming, answerMessage, answerText, encodeAnswer } from "./answer.ts";
import { attach, type AttachOptions, type Detach } from "./attach.ts";
import { Connection, type Exchange, ownOptions } from "../context/connection.ts";
import type { Core } from "./core.ts";
import type { Answering } from "./dispatch.ts";
import type { ServerEvent } from "../diagnostics/events.ts";
import type { Logger } from "../../base/logging/logger.ts";
import type { ServerLimits } from "../settings/limits.ts";
import type { ServerMode } from "../settings/options.ts";
import { neededScopes } from "../catalogue/scopes.ts";
import { hasTotalRoom } from "../catalogue/subscriptions.ts";

/**
 * Any {@link McpServer}, whatever its middleware adds to `ctx`.
 *
 * @example
 * ```ts
 * import { McpServer, type Servable } from "halyard";
 *
 * const servers: Servable[] = [new McpServer({ name: "demo", version: "1.0.0" })];
 * ```
 */
export interface Servable {
  readonly info: Implementation;
  /** Answers one message; see {@link McpServer.handle}. */
  handle(message: RpcMessage, exchange: Exchange): Promise<RpcResponse | undefined>;
  /** Answers the text of one message or batch; see {@link McpServer.handleRaw}. */
  handleRaw(text: string, exchange?: Exchange): Promise<string | undefined>;
  /** Opens a wire in memory; see {@link McpServer.openWire}. */
  openWire(): Wire;
}

/** The interface that a transport uses to drive a server; {@link portOf} returns it. */
export interface ServerPort {
  readonly mode: ServerMode;
  /** The revisions that the server supports. */
  readonly revisions: SpokenRevisions;
  readonly limits: ServerLimits;
  readonly logger: Logger;
  /** Counts the memory of each message until the server has answered it. A transport adds what it reads. */
  readonly loads: Loads;
  /** Reports the requests that a transport rejects itself. */
  readonly observe: ((event: ServerEvent) => void) | undefined;
  /** Answers one message. Returns nothing for a notification, or for a call that was cancelled. */
  handle(message: RpcMessage, exchange: Exchange): Promise<RpcResponse | undefined>;
  /** Answers the text of one message or batch. */
  handleRaw(text: string, exchange?: Exchange): Promise<string | undefined>;
  /**
   * Answers a parsed message or a batch. Returns a promise only if the answer is not ready. Pass the answer to
   * {@link ServerPort.encode}.
   */
  answer(message: ReadMessage, exchange: Exchange): Answering<RpcResponse>;
  answer(incoming: Incoming, exchange: Exchange): Answering<Answer>;
  /** Returns the text of an answer. */
  encode(answer: Answer): string;
  /** Sends the notifications of a legacy session to that stream, until you call the returned function. */
  attach(connection: Connection, stream: Stream, options?: AttachOptions): Detach;
  /** Adds and removes resource subscriptions of the session, because another node did. */
  subscribe(connection: Connection, added: readonly string[], removed: readonly string[]): void;
  /** Whether the caller may subscribe to these resources, too. */
  hasRoomFor(caller: string, uris: readonly string[]): boolean;
  /** Whether requests of a legacy client are refused until it has sent `notifications/initialized`. */
  readonly requiresInitialized: boolean;
  /** The arguments of a tool that clients also send as HTTP headers. */
  paramHeaders(tool: string): readonly ParamHeader[];
  /** The row of a method, from the table of that revision, an extension or a custom method. */
  rowOf(method: string, revision: Revision): RequestRow | undefined;
  /** Whether any definition has `scopes`, or ever had. */
  readonly usesScopes: boolean;
  /** The nodes that serve together, of which this process is one. A transport joins it before it serves, and leaves it when it closes. */
  readonly cluster: Cluster;
  /** The changes that the nodes of the cluster share. */
  readonly changes: ChangeLog;
  /** Tells how an endpoint keeps the logs of its sessions, so that pushes of this node to any session are kept in the same way. */
  keepLogs(kept: KeptLogs): void;
  /** All scopes that a message, or the messages of a batch, require together. */
  neededScopes(value: unknown): readonly string[];
}

/** A server as a window sees it. */
interface Opened {
  readonly port: ServerPort;
  readonly core: Core;
}

/** By server, and by port. */
const opened = new WeakMap<object, Opened>();

/** Marks every McpServer, so that one from another copy of the package is recognised. */
const mark = Symbol.for("halyard.McpServer");

/** The parts of a server that its port uses. */
interface Driven {
  readonly core: Core;
  readonly loads: Loads;
  readonly cluster: Cluster;
  readonly changes: ChangeLog;
  readonly remote: RemoteSessions;
}

/** Creates the port of a server. */
export function openPort(server: Servable, parts: Driven): ServerPort {
  const { core, loads, cluster, changes } = parts;
  const { catalogue } = core;
  const { settings } = core;
  const { mode, revisions, limits, logger } = settings;
  const port: ServerPort = {
    mode,
    revisions,
    limits,
    logger,
    loads,
    get observe() {
      return settings.observe;
    },
    cluster,
    changes,
    handle: (message, exchange) => Promise.resolve(answerMessage(core, readMessage(message), exchange)),
    handleRaw: (text, exchange = { connection: new Connection({ transport: "raw" }, ownOptions) }) =>
      answerText(core, loads, text, exchange),
    // A single message has a single response.
    answer: (incoming: Incoming, exchange: Exchange) =>
      answerIncoming(core, incoming, exchange) as Answering<RpcResponse>,
    encode: (answer) => encodeAnswer(core, answer),
    attach: (connection, stream, options = {}) => attach(core, connection, stream, options),
    subscribe: ({ listener }, added, removed) => {
      if (listener === undefined) return;
      for (const uri of added) core.hub.subscribe(listener, topicOf(resourceUpdated, uri));
      for (const uri of removed) core.hub.unsubscribe(listener, topicOf(resourceUpdated, uri));
    },
    hasRoomFor: (caller, uris) =>
      hasTotalRoom(
        core.hub,
        caller,
        uris.map((uri) => topicOf(resourceUpdated, uri)),
      ),
    requiresInitialized: settings.requireInitialized,
    paramHeaders: (tool) => catalogue.tools.find(tool)?.paramHeaders ?? [],
    rowOf: (method, revision) =>
      revision.requests.get(method) ?? catalogue.findMethod(method, revision.era)?.row,
    get usesScopes() {
      return catalogue.isScoped;
    },
    keepLogs: (kept) => parts.remote.keepLogs(kept),
    neededScopes: (value) => (catalogue.isScoped ? neededScopes(catalogue, value, limits) : []),
  };
  const both: Opened = { port, core };
  opened.set(server, both);
  opened.set(port, both);
  Object.defineProperty(server, mark, { value: true });
  return port;
}

/**
 * Returns the port of `server`, which a transport drives it by. Throws a `ConfigurationError` if it is not an `McpServer` of
 * this copy of the package; `subject` names your function in the message.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { portOf } from "halyard/transport";
 *
 * const port = portOf(new McpServer({ name: "demo", version: "1.0.0" }));
 * console.log(`A message may have ${port.limits.maxBytes} bytes`);
 * ```
 */
export function portOf(server: Servable, subject: string = "portOf"): ServerPort {
  const port = opened.get(server)?.port;
  if (port) return port;
  throw new ConfigurationError("INVALID_OPTION", { subject, field: "server" }, whyNoPort(server));
}

/** The port and the parts of a server, for a window. Throws like {@link portOf}. */
export function openedBy(server: Servable | ServerPort, subject: string): Opened {
  const found = opened.get(server);
  if (found) return found;
  throw new ConfigurationError("INVALID_OPTION", { subject, field: "server" }, whyNoPort(server));
}

/** Why a value has no port. Other SDKs take a factory function, which would fail much later here. */
function whyNoPort(server: unknown): string {
  if (typeof server === "object" && server !== null && mark in server)
    return "comes from another copy of halyard: install one copy, so that McpServer and transports share it (see npm ls halyard)";
  if (isRequest(server))
    return "is a request: call nodeHandler(server) or fetchHandler(server) once, and mount what it returns";
  if (hasMethods(server, "listen", "callTool"))
    return "is an McpClient, but windows and transports belong to a server: pass the McpServer";
  if (hasMethods(server, "listen"))
    return "listens itself: pass the McpServer here, or mount nodeHandler(server) in it";
  if (typeof server === "function" && !isClass(server))
    return "is a function: pass the McpServer itself, which serves every client";
  return mismatch("an McpServer of halyard", server);
}

/** A `Request`, or an `IncomingMessage` of `node:http`. */
function isRequest(value: unknown): boolean {
  const { method, url, headers } = (value ?? {}) as { method?: unknown; url?: unknown; headers?: unknown };
  return typeof method === "string" && typeof url === "string" && typeof headers === "object";
}
