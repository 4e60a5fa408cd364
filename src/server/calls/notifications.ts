// What clients say without expecting an answer, and what authors are told of their coming and going.
import type { Load } from "../../limits/loads.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { Principal } from "../../protocol/model.ts";
import { isObject, isRequestId, type JsonObject, type RpcNotification } from "../../wire/message.ts";
import type { Connection, Exchange } from "../context/connection.ts";
import type { Core, NotificationSource, SessionEnd } from "./core.ts";
import { readImplementation } from "../methods/handshake.ts";

/** Takes a notification; one that is unknown or malformed is never answered. Nobody waits for the author's handlers. */
export async function receiveNotification(
  core: Core,
  notification: RpcNotification,
  exchange: Exchange,
): Promise<undefined> {
  const { method, params = {} } = notification;
  const { connection } = exchange;
  // Before initialize it says nothing: there is no handshake yet that it could end.
  const isHandshake = method === "notifications/initialized" && connection.revision !== undefined;
  const isFirst = isHandshake && !connection.initialized;
  if (isHandshake) connection.initialized = true;
  if (method === "notifications/cancelled") cancel(core, params, exchange);
  if (method === "notifications/progress") core.asks.progressed(connection.session, params["progressToken"]);
  const { notification: observer, rootsChanged, initialized } = core.observers;
  if (observer === undefined && rootsChanged === undefined && initialized === undefined) return undefined;
  const from = sourceOf(connection, exchange.principal, params["_meta"]);
  const { load } = exchange;
  void run(core, method, () => observer?.(method, params, from), load);
  if (isFirst) void run(core, method, () => initialized?.(from), load);
  const isLegacy = connection.revision !== undefined;
  if (isLegacy && method === "notifications/roots/list_changed")
    void run(core, method, () => rootsChanged?.(from), load);
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
  core: Core,
  connection: Connection,
  reason: SessionEnd,
): Promise<void> {
  const { sessionClosed } = core.observers;
  if (sessionClosed !== undefined)
    await run(core, "onSessionClosed", () => sessionClosed(sourceOf(connection), reason));
}

/** Runs one handler: what it throws is logged, and is no concern of the other's. The message counts until it has ended. */
async function run(
  core: Core,
  method: string,
  handler: () => void | Promise<void>,
  load?: Load,
): Promise<void> {
  const release = load?.hold();
  try {
    await handler();
  } catch (error) {
    core.settings.logger.error(`The handler of ${method} failed`, { error });
  } finally {
    release?.();
  }
}

function cancel(core: Core, params: JsonObject, { connection }: Exchange): void {
  const { requestId, reason } = params;
  if (!isRequestId(requestId)) return;
  const outcome = connection.inFlight.cancel(
    requestId,
    typeof reason === "string" ? reason : "Cancelled by the client",
  );
  if (outcome === "cancelled") core.settings.logger.debug("A client cancelled a call", { requestId, reason });
  if (outcome === "ambiguous") {
    core.settings.logger.warn("Ignored a cancellation: several calls have this id", { requestId });
  }
}
