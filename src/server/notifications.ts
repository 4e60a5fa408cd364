// What clients say without expecting an answer.
import { isRequestId, type JsonObject, type RpcNotification } from "../wire/message.ts";
import type { Exchange } from "./connection.ts";
import type { Core } from "./core.ts";

/** Takes a notification; one that is unknown or malformed is never answered. */
export async function receiveNotification(
  core: Core,
  notification: RpcNotification,
  exchange: Exchange,
): Promise<undefined> {
  const { method, params = {} } = notification;
  if (method === "notifications/initialized") exchange.connection.initialized = true;
  if (method === "notifications/cancelled") cancel(core, params, exchange);
  const { notification: observer, rootsChanged } = core.observers;
  if (observer === undefined && rootsChanged === undefined) return undefined;
  const { session, principal, transport } = exchange.connection;
  const from = { session, principal, transport };
  try {
    await observer?.(method, params, from);
    if (method === "notifications/roots/list_changed") await rootsChanged?.(from);
  } catch (error) {
    core.settings.logger.error(`The handler of ${method} failed`, { error });
  }
  return undefined;
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
