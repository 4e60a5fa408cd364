// A node whose engine was away does not trust what arrives before it has read what it has missed.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { HeldBackplane } from "../../support/nodes.ts";
import { serve, SessionClient } from "../../support/sessions.ts";

test("an entry that arrives after the engine has lost a log waits for the gap to be told", async () => {
  const backplane = new HeldBackplane();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { backplane, logger: recordingLogger() });
  server.resource("note:///a", {}, () => "");
  const client = await SessionClient.open(await serve(server));
  await client.request("resources/subscribe", { uri: "note:///a" });
  const stream = await client.get();
  const push = (data: number): Promise<boolean> =>
    server.push.toSession(client.id, "notifications/message", { level: "info", data });
  await push(1);
  await stream.message(({ params }) => (params as { data?: unknown })?.data === 1);
  backplane.lose();
  // The engine comes back without the log, and another node is faster than the news that it is back.
  const other = await backplane.spy();
  await other.removeLog(client.id);
  const entry = { k: "push", m: JSON.stringify(message(2)) };
  await other.append(client.id, JSON.stringify(entry), { keepMs: 60_000 });
  await new Promise((resolve) => setImmediate(resolve));
  backplane.restore();
  await stream.message(({ params }) => (params as { data?: unknown })?.data === 2);
  const order = stream.messages.map(({ method, params }) => (params as { data?: unknown })?.data ?? method);
  expect(order.filter((one) => one !== "notifications/resources/list_changed")).toEqual([
    1,
    "notifications/resources/updated",
    2,
  ]);
  stream.cut();
});

function message(data: number): object {
  return { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } };
}
