// Pushes and questions over HTTP to a session whose requests reach another node each time.
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { expect, test } from "vitest";
import { passSeconds } from "../../support/clock.ts";
import { recordingLogger } from "../../support/log.ts";
import { HeldBackplane } from "../../support/nodes.ts";
import { logDataOf, methodsOf, serve, SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

const message = "notifications/message";

async function twoNodes(
  backplane = new HeldBackplane(),
  options: HttpOptions = {},
): Promise<{ servers: [McpServer, McpServer]; urls: [string, string] }> {
  const make = (): McpServer => {
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      { backplane, logger: recordingLogger() },
    );
    server.resource("note:///a", {}, () => "a");
    server.tool("ask", {}, async (_, ctx) => JSON.stringify(await ctx.roots()));
    return server;
  };
  const servers: [McpServer, McpServer] = [make(), make()];
  const [one, two] = [await serve(servers[0], options), await serve(servers[1], options)];
  await until(() => servers.every(({ cluster }) => cluster.nodes().length === 2));
  return { servers, urls: [one.url, two.url] };
}

test("changes, broadcasts and pushes of any node reach the GET stream of a session once, in order", async () => {
  const { servers, urls } = await twoNodes();
  const here = await SessionClient.open({ url: urls[0] });
  const there = new SessionClient(urls[1], here.id);
  await there.request("resources/subscribe", { uri: "note:///a" });
  const stream = await here.get();
  await until(async () => (await servers[0].push.sessions()).includes(here.id));
  for (const [at, server] of servers.entries()) {
    expect(await server.push.toSession(here.id, message, { level: "info", data: `push ${at}` })).toBe(true);
    await server.push.broadcast(message, { level: "info", data: `all ${at}` });
    await server.resources.updated("note:///a");
  }
  await until(() => stream.messages.length >= 6);
  await here.request("ping");
  expect(logDataOf(stream.messages).toSorted()).toEqual(["all 0", "all 1", "push 0", "push 1"]);
  expect(methodsOf(stream.messages).filter((name) => name === "resources/updated note:///a")).toHaveLength(2);
});

test("a question on one node is answered on the other, and a request to the session finds its stream", async () => {
  const { servers, urls } = await twoNodes();
  const here = await SessionClient.open({ url: urls[0] }, { capabilities: { roots: {} } });
  const there = new SessionClient(urls[1], here.id);
  const isQuestion = ({ method }: JsonObject): boolean => method === "roots/list";

  const call = await here.call("ask");
  const question = await call.message(isQuestion);
  expect(await there.answer(question, { result: { roots: [{ uri: "file:///a" }] } })).toBe(202);
  const response = await call.message(({ result }) => result !== undefined);
  expect(JSON.stringify(response)).toContain("file:///a");
  expect(await there.answer(question, { result: { roots: [] } })).toBe(202);

  const stream = await here.get();
  const asked = servers[1].push.request(here.id, "roots/list");
  const second = await stream.message(isQuestion);
  expect(await here.answer(second, { result: { roots: [] } })).toBe(202);
  expect(await asked).toEqual({ roots: [] });
});

test("a push waits for the client of a session as long as the session may be idle", async () => {
  const backplane = new HeldBackplane();
  const { servers, urls } = await twoNodes(backplane, { limits: { idleMs: 8 * 3_600_000 } });
  const client = await SessionClient.open({ url: urls[0] });
  expect(await servers[1].push.toSession(client.id, message, { level: "info", data: "late" })).toBe(true);
  const spy = await backplane.spy();
  passSeconds(2 * 3600);
  expect(await spy.read(client.id, 1)).toHaveLength(1);
  await spy.close();
});
