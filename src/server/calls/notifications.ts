// Receives the notifications of clients, and calls the author's handlers for them and for sessions that start and end.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { clip } from "../../base/errors.ts";
import type { Load } from "../../base/limits/loads.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { SessionEnd } from "../diagnostics/events.ts";
import type { Logger } from "../../base/logging/logger.ts";
import {
  type ClientCapabilities,
  type Implementation,
  type Principal,
  readImplementation,
} from "../../protocol/model.ts";
import type { Asks } from "../push/asks.ts";
import { isObject, isRequestId, type JsonObject, type RpcNotification } from "../../base/wire/message.ts";
import { callerOf, type Connection, type Exchange } from "../context/connection.ts";

/** The handlers that the author has registered. */
export interface Observers {
  notification?: ClientNotificationHandler;
  rootsChanged?: (from: NotificationSource) => void | Promise<void>;
  initialized?: (client: NotificationSource) => void | Promise<void>;
  sessionClosed?: (client: NotificationSource, reason: SessionEnd) => void | Promise<void>;
}

/** The client that sent a notification, or whose session has started or ended. */
export interface NotificationSource {
  readonly session: string | undefined;
  readonly principal: Principal | undefined;
  readonly transport: string;
  /** The date of the revision: negotiated by a legacy client, or sent by a modern one in the `_meta` of the notification. */
  readonly revision: string | undefined;
  /** How the client describes itself. Do not trust it. */
  readonly client: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
}

/** Called with each notification that a client sends. */
export type ClientNotificationHandler = (
  method: string,
  params: JsonObject,
  from: NotificationSource,
) => void | Promise<void>;

/** The parts of the server that notifications need. */
interface Receiver {
  readonly observers: Observers;
  readonly asks: Asks;
  readonly settings: { readonly logger: Logger };
  readonly cluster: Cluster;
}

/** Handles a notification. It gets no response, even if it is malformed, and does not wait for the author's handlers. */
export async function receiveNotification(
  core: Receiver,
  notification: RpcNotification,
  exchange: Exchange,
): Promise<undefined> {
  const { method, params = {} } = notification;
  const { logger } = core.settings;
  const { connection, load } = exchange;
  const isLegacy = connection.revision !== undefined;
  // Before initialize there is no handshake that this notification could complete.
  const isFirst = isLegacy && method === "notifications/initialized" && !connection.initialized;
  if (isFirst) connection.initialized = true;
  const handling = [handlers.get(method)?.(core, params, exchange)];
  const { notification: observer, rootsChanged, initialized } = core.observers;
  if (observer || rootsChanged || initialized) {
    const from = sourceOf(connection, exchange.principal, params["_meta"]);
    void run(logger, method, () => observer?.(method, params, from), load);
    if (isFirst) void run(logger, method, () => initialized?.(from), load);
    if (isLegacy && method === "notifications/roots/list_changed")
      void run(logger, method, () => rootsChanged?.(from), load);
  }
  // The client waits for the engine, so that it cannot send faster than the engine takes.
  await Promise.all(handling);
  return undefined;
}

type Handler = (core: Receiver, params: JsonObject, exchange: Exchange) => Promise<void> | undefined;

/**
 * The notifications that the server itself handles. A handler returns the promise of passing the notification to other nodes, if
 * any.
 */
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["notifications/cancelled", cancel],
  ["notifications/progress", progressed],
]);

/** The sender of a notification: as negotiated, or, for a modern client, as the notification says. */
function sourceOf(
  connection: Connection,
  principal: Principal | undefined = connection.principal,
  meta: unknown = undefined,
): NotificationSource {
  const { session, transport, revision, clientInfo, clientCapabilities } = connection;
  const from = { session, principal, transport };
  if (revision || !isObject(meta))
    return { ...from, revision: revision?.date, client: clientInfo, clientCapabilities };
  const date = meta[metaKeys.protocolVersion];
  const declared = meta[metaKeys.clientCapabilities];
  return {
    ...from,
    revision: typeof date === "string" ? date : undefined,
    client: readImplementation(meta[metaKeys.clientInfo]),
    clientCapabilities: isObject(declared) ? declared : {},
  };
}

/** Calls the author's `onSessionClosed` handler. */
export async function tellSessionClosed(
  { observers, settings }: Receiver,
  connection: Connection,
  reason: SessionEnd,
): Promise<void> {
  const { sessionClosed } = observers;
  if (sessionClosed)
    await run(settings.logger, "onSessionClosed", () => sessionClosed(sourceOf(connection), reason));
}

/** Runs one handler and logs its errors, which do not affect the others. The message counts as load until it ends. */
async function run(
  logger: Logger,
  method: string,
  handler: () => void | Promise<void>,
  load?: Load,
): Promise<void> {
  const release = load?.hold();
  try {
    await handler();
  } catch (error) {
    logger.error(`The handler for ${method} failed`, { error });
  } finally {
    release?.();
  }
}

function cancel(core: Receiver, params: JsonObject, exchange: Exchange): Promise<void> | undefined {
  const { connection } = exchange;
  const { logger } = core.settings;
  const { requestId, reason: given } = params;
  if (!isRequestId(requestId)) return undefined;
  const reason = typeof given === "string" ? given : "Cancelled by the client";
  const outcome = connection.inFlight.cancel(requestId, reason);
  const details = { requestId, reason: clip(reason) };
  if (outcome === "cancelled") logger.debug("A client cancelled a call", details);
  if (outcome === "ambiguous") {
    logger.warn("Ignored a cancellation: several open requests have this id", { requestId });
  }
  const { session, sharesPipe } = connection;
  // All messages of a pipe arrive at one node; those of other sessions at any, and another node may run the call.
  const isElsewhere = outcome === "unknown" && session !== undefined && !sharesPipe;
  const { cluster } = core;
  if (!isElsewhere || !cluster.hasJoined) return undefined;
  const told = { session, id: requestId, reason: details.reason };
  return orLog(core, cluster.forwarding.tell(callerOf(exchange), "all", "cancel", told));
}

function progressed(core: Receiver, params: JsonObject, exchange: Exchange): Promise<void> | undefined {
  const { session } = exchange.connection;
  const telling = core.asks.progressed(session, params["progressToken"], callerOf(exchange));
  return telling && orLog(core, telling);
}

/** Logs that a notification did not reach other nodes, which the protocol allows. */
function orLog({ settings }: Receiver, telling: Promise<void>): Promise<void> {
  return telling.catch((error: unknown) => {
    RateLimitedLog.of(settings.logger).warn("A notification did not reach other nodes", { error });
  });
}
