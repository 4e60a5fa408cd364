// Sessions on any node: what a client has done at one node holds at every other.
import type { McpServer, ServerEvent } from "halyard";
import { describe, expect, test } from "vitest";
import { clientAt, serveCluster, waitTool } from "../support/cluster.ts";
import { edges, initialize, methodsOf, sessionCells, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";

interface Peer {
  readonly session: string;
  readonly revision: string;
  readonly client: string;
  readonly capabilities: object;
  readonly principal?: string;
}

function define(server: McpServer): void {
  server.tool("peer", {}, (_, ctx) =>
    JSON.stringify({
      session: ctx.session,
      client: ctx.client?.name,
      revision: ctx.revision,
      capabilities: ctx.clientCapabilities,
      principal: ctx.principal?.subject,
    }),
  );
  server.tool("log", {}, async (_, ctx) => {
    await ctx.log("warning", "careful");
    return "logged";
  });
  server.resource("note:///a", {}, () => "a");
}

const authenticate = (request: {
  header(name: string): string | undefined;
}): { issuer: string; subject: string } | undefined => {
  const subject = request.header("x-user");
  return subject === undefined ? undefined : { issuer: "https://issuer.example", subject };
};

async function peerOf(client: SessionClient): Promise<Peer> {
  const answer = (await client.request("tools/call", { name: "peer" })) as {
    result: { content: { text: string }[] };
  };
  return JSON.parse(answer.result.content[0]?.text ?? "") as Peer;
}

/** Whether a log message below "error" reaches the client, asked at that node. */
async function hearsWarnings(client: SessionClient): Promise<boolean> {
  const reply = await client.call("log");
  await reply.closed;
  return reply.messages.some(({ method }) => method === "notifications/message");
}

describe.each(sessionCells)("any node · $revision · $edge", ({ revision, edge }) => {
  test("serves a session that another has begun and a third has initialized", async () => {
    const [first, second, third] = await serveCluster({
      define,
      edge,
      server: { requireInitialized: true },
      http: { auth: authenticate },
    });
    const options = { revision, headers: { "x-user": "alice" }, capabilities: { roots: {} } };
    const reply = await initialize(first.url, options);
    await reply.closed;
    const client = new SessionClient(second.url, String(reply.headers["mcp-session-id"]), options);
    expect(await client.say({ jsonrpc: "2.0", method: "notifications/initialized" })).toBe(202);
    for (const node of [third, first, second]) {
      expect(await peerOf(clientAt(node, client, options))).toEqual({
        session: client.id,
        client: "test-client",
        revision,
        capabilities: { roots: {} },
        principal: "alice",
      });
      expect(node.stats().sessions).toBe(1);
    }
  });

  test("a node that has not heard of the initialized notification does not refuse requests", async () => {
    const server = { requireInitialized: true };
    const [first, second] = await serveCluster({ nodes: 2, define, edge, server });
    const reply = await initialize(first.url, { revision });
    await reply.closed;
    const client = new SessionClient(first.url, String(reply.headers["mcp-session-id"]), { revision });
    const elsewhere = clientAt(second, client);
    expect(await elsewhere.request("tools/list")).toHaveProperty("error");
    second.engine.hold();
    await client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(await elsewhere.request("tools/list")).toHaveProperty("result");
  });

  test("a log level holds everywhere, also where the session was used before", async () => {
    const nodes = await serveCluster({ define, edge });
    const clients: SessionClient[] = [await SessionClient.open(nodes[0], { revision })];
    for (const node of nodes.slice(1)) clients.push(clientAt(node, clients[0] as SessionClient));
    for (const client of clients) expect(await hearsWarnings(client)).toBe(true);
    await clients[1]?.request("logging/setLevel", { level: "error" });
    for (const client of clients) {
      await until(async () => !(await hearsWarnings(client)));
    }
    await clients[2]?.request("logging/setLevel", { level: "debug" });
    for (const client of clients) await until(() => hearsWarnings(client));
  });

  test("DELETE ends the session, its streams and its calls everywhere", async () => {
    const [called, cancelled] = [deferred(), deferred()];
    const [first, second, third] = await serveCluster({
      edge,
      define: waitTool(called.resolve, () => cancelled.resolve()),
    });
    const client = await SessionClient.open(first, { revision });
    const stream = await clientAt(second, client).get();
    void clientAt(third, client)
      .call("wait")
      .catch(() => {});
    await called.promise;
    expect(await client.delete()).toBe(204);
    await cancelled.promise;
    await stream.closed;
    for (const node of [first, second, third]) {
      expect((await clientAt(node, client).start("ping")).status).toBe(404);
      await until(() => node.stats().sessions === 0);
    }
  });

  test("a call that another node runs is cancelled", async () => {
    const called = deferred();
    const reasons: unknown[] = [];
    const [first, second] = await serveCluster({
      edge,
      define: waitTool(called.resolve, (reason) => reasons.push(reason)),
    });
    const client = await SessionClient.open(first, { revision });
    void client.start("tools/call", { name: "wait", arguments: {} }, "the call").catch(() => {});
    await called.promise;
    const cancelled = { requestId: "the call", reason: "the user left" };
    const elsewhere = clientAt(second, client);
    expect(
      await elsewhere.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled }),
    ).toBe(202);
    await until(() => reasons.length === 1);
    expect(String(reasons[0])).toContain("the user left");
  });
});

describe.each(edges)("any node · %s", (edge) => {
  test("subscriptions that change at two nodes at once are all kept", async () => {
    const [first, second, third] = await serveCluster({ define, edge });
    const client = await SessionClient.open(first);
    const [one, two] = [clientAt(first, client), clientAt(second, client)];
    const uris = Array.from({ length: 10 }, (_, at) => `note:///${at}`);
    await Promise.all(
      uris.map((uri, at) => (at % 2 === 0 ? one : two).request("resources/subscribe", { uri })),
    );
    await Promise.all([
      one.request("resources/unsubscribe", { uri: "note:///1" }),
      two.request("resources/unsubscribe", { uri: "note:///0" }),
      one.request("logging/setLevel", { level: "error" }),
    ]);
    await clientAt(third, client).request("ping");
    const isSubscribed = (server: McpServer, uri: string): Promise<boolean> => server.push.isSubscribed(uri);
    for (const { server } of [first, second, third]) {
      for (const uri of uris) {
        const expected = uri !== "note:///0" && uri !== "note:///1";
        await until(async () => (await isSubscribed(server, uri)) === expected);
      }
    }
  });

  test("a change is made to what the client has done elsewhere, though this node has not heard of it", async () => {
    const [first, second, third] = await serveCluster({ define, edge });
    const client = await SessionClient.open(first);
    const elsewhere = clientAt(second, client);
    await elsewhere.request("ping");
    second.engine.hold();
    await client.request("resources/subscribe", { uri: "note:///a" });
    await elsewhere.request("resources/unsubscribe", { uri: "note:///a" });
    second.engine.release();
    second.engine.heal();
    await clientAt(third, client).request("ping");
    await until(async () => !(await third.server.push.isSubscribed("note:///a")));
  });

  test("one subscription for another in one batch is kept, too", async () => {
    const [first, second] = await serveCluster({ define, edge });
    const client = await SessionClient.open(first, { revision: "2025-03-26" });
    await client.request("resources/subscribe", { uri: "note:///a" });
    await clientAt(second, client).say([
      { jsonrpc: "2.0", id: "a", method: "resources/unsubscribe", params: { uri: "note:///a" } },
      { jsonrpc: "2.0", id: "b", method: "resources/subscribe", params: { uri: "note:///b" } },
    ]);
    await until(() => first.server.push.isSubscribed("note:///b"));
    expect(await first.server.push.isSubscribed("note:///a")).toBe(false);
  });

  test("a subscription made at one node is delivered at the node that has the stream", async () => {
    const [first, second] = await serveCluster({ define, edge });
    const client = await SessionClient.open(first);
    const elsewhere = clientAt(second, client);
    const stream = await elsewhere.get();
    await client.request("resources/subscribe", { uri: "note:///a" });
    await until(() => second.server.push.isSubscribed("note:///a"));
    await second.server.resources.updated("note:///a");
    await stream.message((message) => message["method"] === "notifications/resources/updated");
    expect(methodsOf(stream.messages)).toContain("resources/updated note:///a");
    stream.cut();
  });

  test("a session of another principal is 404 at every node, and is not loaded for it", async () => {
    const [first, second] = await serveCluster({ define, edge, http: { auth: authenticate } });
    const client = await SessionClient.open(first, { headers: { "x-user": "alice" } });
    const thief = { headers: { "x-user": "bob" } };
    for (const node of [first, second]) {
      const stolen = clientAt(node, client, thief);
      expect((await stolen.start("ping")).status).toBe(404);
      expect((await stolen.get()).status).toBe(404);
      expect(await stolen.delete()).toBe(404);
      expect(await stolen.say({ jsonrpc: "2.0", method: "notifications/initialized" })).toBe(404);
    }
    expect(second.stats().sessions).toBe(0);
    expect(await second.server.push.count()).toBe(0);
    const own = clientAt(second, client, { headers: { "x-user": "alice" } });
    expect(await own.request("ping")).toMatchObject({ result: {} });
  });

  test("many requests at once bring in one copy", async () => {
    let opened = 0;
    const observe = (event: ServerEvent): void => {
      if (event.type === "session" && event.state !== "ended") opened++;
    };
    const [first, second] = await serveCluster({ define, edge, server: { observe } });
    const client = clientAt(second, await SessionClient.open(first));
    await Promise.all(Array.from({ length: 10 }, () => client.request("ping")));
    expect(second.stats().sessions).toBe(1);
    expect(opened).toBe(2);
  });

  test("close() hands sessions over, and another node continues", async () => {
    const closed: string[] = [];
    const [first, second] = await serveCluster({
      edge,
      define: (server) => {
        define(server);
        server.onSessionClosed((_, reason) => void closed.push(reason));
      },
    });
    const client = await SessionClient.open(first);
    await client.request("resources/subscribe", { uri: "note:///a" });
    await first.close();
    expect(await clientAt(second, client).request("ping")).toMatchObject({ result: {} });
    expect(await second.server.push.isSubscribed("note:///a")).toBe(true);
    expect(closed).toEqual([]);
  });

  test("close() saves what could not be saved before", async () => {
    const [first, second] = await serveCluster({ define, edge });
    const client = await SessionClient.open(first);
    first.engine.fail("replace");
    expect((await client.start("resources/subscribe", { uri: "note:///a" })).status).toBe(503);
    first.engine.heal();
    await first.close();
    await clientAt(second, client).request("ping");
    expect(await second.server.push.isSubscribed("note:///a")).toBe(true);
  });

  test("a second initialize in the session is refused at every node", async () => {
    const [first, second] = await serveCluster({ define, edge });
    const client = await SessionClient.open(first);
    const again = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    const answer = await clientAt(second, client).request("initialize", again);
    expect(answer).toMatchObject({ error: { message: "This connection is already initialized" } });
    await client.delete();
    expect((await clientAt(second, client).start("initialize", again)).status).toBe(404);
  });
});
