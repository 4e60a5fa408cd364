// What clients say without expecting an answer.
import type { Load } from "../limits/loads.ts";
import { isRequestId, type JsonObject, type RpcNotification } from "../wire/message.ts";
import type { Exchange } from "./connection.ts";
import type { Core } from "./core.ts";

/** Takes a notification; one that is unknown or malformed is never answered. Nobody waits for the author's handlers. */
export async function receiveNotification(
  core: Core,
  notification: RpcNotification,
  exchange: Exchange,
): Promise<undefined> {
  const { method, params = {} } = notification;
  // Before initialize it says nothing: there is no handshake yet that it could end.
  const { connection } = exchange;
  if (method === "notifications/initialized" && connection.revision !== undefined)
    connection.initialized = true;
  if (method === "notifications/cancelled") cancel(core, params, exchange);
  if (method === "notifications/progress") core.asks.progressed(connection.session, params["progressToken"]);
  const { notification: observer, rootsChanged } = core.observers;
  if (observer === undefined && rootsChanged === undefined) return undefined;
  const { session, transport } = connection;
  const principal = exchange.principal ?? connection.principal;
  const from = { session, principal, transport };
  const { load } = exchange;
  void run(core, method, () => observer?.(method, params, from), load);
  const isLegacy = connection.revision !== undefined;
  if (isLegacy && method === "notifications/roots/list_changed")
    void run(core, method, () => rootsChanged?.(from), load);
  return undefined;
}

/** Runs one handler: what it throws is logged, and is no concern of the other's. The message counts until it has ended. */
async function run(
  core: Core,
  method: string,
  handler: () => void | Promise<void>,
  load: Load | undefined,
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
