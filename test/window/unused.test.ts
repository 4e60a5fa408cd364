// The window costs nothing while nobody uses it, and little for clients that are not followed.
import { McpServer } from "halyard";
import { Connection, portOf } from "halyard/transport";
import { windowOf } from "halyard/window";
import { expect, test } from "vitest";

test("a connection is followed only while its client is", async () => {
  const server = new McpServer({ name: "demo", version: "1.0.0" });
  server.tool("hello", {}, () => "Hello");
  const port = portOf(server);
  const connection = new Connection({ transport: "test", session: "one" });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" } as const;
  await port.handle(ping, { connection });
  expect(connection.follower).toBeUndefined();
  const inside = windowOf(server);
  await port.handle(ping, { connection });
  expect(connection.follower).toBeUndefined();
  const other = inside.follow({ peer: "somebody" }, () => {});
  await port.handle(ping, { connection });
  expect(connection.follower).toBeUndefined();
  const everyone = inside.follow({}, () => {});
  await port.handle(ping, { connection });
  expect(connection.follower).toBeDefined();
  everyone.stop();
  await port.handle(ping, { connection });
  expect(connection.follower).toBeUndefined();
  other.stop();
});

test("a window starts no timers, and following leaves none behind", () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const inside = windowOf(new McpServer({ name: "demo", version: "1.0.0" }));
  const stops = [inside.observe(() => {}), inside.around((_, run) => run())];
  const follow = inside.follow({ peer: "x" }, () => {});
  expect(timers()).toBe(before);
  follow.stop();
  for (const stop of stops) stop();
  expect(timers()).toBe(before);
});
