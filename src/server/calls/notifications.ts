// What clients say without expecting an answer, and what authors are told of their coming and going.
import type { Load } from "../../limits/loads.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { Logger } from "../../diagnostics/logger.ts";
import {
  type ClientCapabilities,
  type Implementation,
  type Principal,
  readImplementation,
} from "../../protocol/model.ts";
import type { Asks } from "../../push/asks.ts";
import { isObject, isRequestId, type JsonObject, type RpcNotification } from "../../wire/message.ts";
import type { Connection, Exchange } from "../context/connection.ts";

/** What an author has asked to be told of. */
export interface Observers {
  notification?: ClientNotificationHandler;
  rootsChanged?: (from: NotificationSource) => void | Promise<void>;
  initialized?: (client: NotificationSource) => void | Promise<void>;
  sessionClosed?: (client: NotificationSource, reason: SessionEnd) => void | Promise<void>;
}

/** Who sent a notification, or whose session it is. */
export interface NotificationSource {
  readonly session: string | undefined;
  readonly principal: Principal | undefined;
  readonly transport: string;
  /** The date of the revision: what a legacy client agreed on, or what a modern notification says in its `_meta`. */
  readonly revision: string | undefined;
  /** What the client says it is: not to be trusted. */
  readonly client: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
}

/**
 * Why a session has ended for this process: its client left, deleted it, was idle for too long, lost its place to another one,
 * or had a token that expired; or the server shuts down.
 */
export type SessionEnd = "left" | "deleted" | "idle" | "evicted" | "expired" | "shutdown";

/** Sees the notifications that clients send. */
export type ClientNotificationHandler = (
  method: string,
  params: JsonObject,
  from: NotificationSource,
) => void | Promise<void>;

/** What taking notifications takes. */
interface Receiver {
  readonly observers: Observers;
  readonly asks: Asks;
  readonly settings: { readonly logger: Logger };
}

/** Takes a notification; one that is unknown or malformed is never answered. Nobody waits for the author's handlers. */
export async function receiveNotification(
  core: Receiver,
  notification: RpcNotification,
  exchange: Exchange,
): Promise<undefined> {
  const { method, params = {} } = notification;
  const { connection } = exchange;
  // Before initialize it says nothing: there is no handshake yet that it could end.
  const isHandshake = method === "notifications/initialized" && connection.revision !== undefined;
  const isFirst = isHandshake && !connection.initialized;
  if (isHandshake) connection.initialized = true;
  if (method === "notifications/cancelled") cancel(core.settings.logger, params, exchange);
  if (method === "notifications/progress") core.asks.progressed(connection.session, params["progressToken"]);
  const { notification: observer, rootsChanged, initialized } = core.observers;
  if (observer === undefined && rootsChanged === undefined && initialized === undefined) return undefined;
  const from = sourceOf(connection, exchange.principal, params["_meta"]);
  const { load } = exchange;
  void run(core.settings.logger, method, () => observer?.(method, params, from), load);
  if (isFirst) void run(core.settings.logger, method, () => initialized?.(from), load);
  const isLegacy = connection.revision !== undefined;
  if (isLegacy && method === "notifications/roots/list_changed")
    void run(core.settings.logger, method, () => rootsChanged?.(from), load);
  return undefined;
}

/** Who is at the other end: as agreed, or, of a modern client, as its notification says. */
function sourceOf(
  connection: Connection,
  principal: Principal | undefined = connection.principal,
  meta: unknown = undefined,
): NotificationSource {
  const { session, transport, revision, clientInfo, clientCapabilities } = connection;
  const from = { session, principal, transport };
  if (revision !== undefined || !isObject(meta))
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

/** Tells the author that a session has ended. */
export async function tellSessionClosed(
  { observers, settings }: Receiver,
  connection: Connection,
  reason: SessionEnd,
): Promise<void> {
  const { sessionClosed } = observers;
  if (sessionClosed !== undefined)
    await run(settings.logger, "onSessionClosed", () => sessionClosed(sourceOf(connection), reason));
}

/** Runs one handler: what it throws is logged, and is no concern of the other's. The message counts until it has ended. */
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
    logger.error(`The handler of ${method} failed`, { error });
  } finally {
    release?.();
  }
}

function cancel(logger: Logger, params: JsonObject, { connection }: Exchange): void {
  const { requestId, reason } = params;
  if (!isRequestId(requestId)) return;
  const outcome = connection.inFlight.cancel(
    requestId,
    typeof reason === "string" ? reason : "Cancelled by the client",
  );
  if (outcome === "cancelled") logger.debug("A client cancelled a call", { requestId, reason });
  if (outcome === "ambiguous") {
    logger.warn("Ignored a cancellation: several calls have this id", { requestId });
  }
}
