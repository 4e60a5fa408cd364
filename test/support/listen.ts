// What tests of subscriptions need: opening one, and telling its messages from all others.
import type { JsonObject, RequestId } from "halyard";
import type { Received, TestClient } from "halyard/testing";

export const subscriptionIdKey = "io.modelcontextprotocol/subscriptionId";
export const acknowledged = "notifications/subscriptions/acknowledged";

/** Sends a listen request and does not wait for anything. */
export function startListening(client: TestClient, notifications: unknown, id: RequestId): void {
  const params = client.withMeta({ notifications });
  client.send({ jsonrpc: "2.0", id, method: "subscriptions/listen", ...params });
}

/** Sends a listen request and resolves with the filter that was acknowledged. */
export async function listen(client: TestClient, notifications: JsonObject, id: RequestId): Promise<unknown> {
  startListening(client, notifications, id);
  const ack = await client.waitFor((message) => isAck(message) && subscriptionOf(message) === id);
  return paramsOf(ack)["notifications"];
}

/** Ends a subscription as a client does on a pipe. */
export function stopListening(client: TestClient, id: RequestId): void {
  client.notify("notifications/cancelled", { requestId: id });
}

/** The stamp of a message: the id of the listen request that it belongs to. */
export function subscriptionOf(message: Received): unknown {
  const body = "result" in message ? message.result : paramsOf(message);
  return (body["_meta"] as JsonObject | undefined)?.[subscriptionIdKey];
}

/** Everything that carries the stamp of that subscription, in order. */
export function stampedWith(received: readonly Received[], id: RequestId): Received[] {
  return received.filter((message) => subscriptionOf(message) === id);
}

/** What a subscription was told after its acknowledgement: each notification's last words, and the URI it names. */
export function toldTo(received: readonly Received[], id: RequestId): string[] {
  return stampedWith(received, id)
    .filter((message) => "method" in message && !isAck(message))
    .map(describe);
}

/** A notification in short: `tools/list_changed`, `resources/updated note:///a`. */
export function describe(message: Received): string {
  if (!("method" in message)) return "response";
  const { uri } = paramsOf(message);
  const name = message.method.replace("notifications/", "");
  return typeof uri === "string" ? `${name} ${uri}` : name;
}

/** Waits until everything that the server wrote before has arrived. */
export async function settled(client: TestClient): Promise<void> {
  const method = client.era === "legacy" ? "ping" : "server/discover";
  await client.request(method, {}, { id: `settled-${++rounds}` });
}

let rounds = 0;

export function isAck(message: Received): boolean {
  return "method" in message && message.method === acknowledged;
}

export function paramsOf(message: Received): JsonObject {
  return ("method" in message ? message.params : undefined) ?? {};
}
