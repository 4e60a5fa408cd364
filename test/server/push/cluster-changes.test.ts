// A change on one node of a cluster reaches the listeners of every node, once each and in order.
import type { McpServer, ServerEvent } from "halyard";
import type { TestClient } from "halyard/testing";
import { portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { listen, settled, toldTo } from "../../support/listen.ts";
import { recordingLogger } from "../../support/log.ts";
import { HeldBackplane, joinNode, nodeId } from "../../support/nodes.ts";
import { PipePeer } from "../../support/pipe.ts";
import { until } from "../../support/turns.ts";

const note = "note:///a";
const message = "notifications/message";

function define(server: McpServer): void {
  server.resource(note, {}, () => "a");
  server.tool("whoami", {}, (_, ctx) => ctx.session ?? "nobody");
}

async function threeNodes(
  backplane = new HeldBackplane(),
): Promise<{ backplane: HeldBackplane; servers: McpServer[] }> {
  const servers = [1, 2, 3].map(() => joinNode(backplane, { logger: recordingLogger() }, define));
  return { backplane, servers: await Promise.all(servers) };
}

/** A modern client of each server that listens for its tools and one resource. */
async function listeners(servers: readonly McpServer[]): Promise<TestClient[]> {
  return Promise.all(
    servers.map(async (server) => {
      const { client } = new PipePeer(server);
      await listen(client, { toolsListChanged: true, resourceSubscriptions: [note] }, 1);
      return client;
    }),
  );
}

async function legacyClients(servers: readonly McpServer[]): Promise<TestClient[]> {
  return Promise.all(
    servers.map(async (server) => {
      const { client } = new PipePeer(server, { revision: "2025-11-25" });
      await client.open();
      return client;
    }),
  );
}

/** The texts of the log messages that a client got. */
function dataOf(client: TestClient): unknown[] {
  return client.notifications(message).map(({ params }) => params?.["data"]);
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

describe("changes in a cluster", () => {
  test("updated() on any node reaches a listen stream of each node once, and costs one engine operation", async () => {
    const { backplane, servers } = await threeNodes();
    const clients = await listeners(servers);
    for (const [at, server] of servers.entries()) {
      backplane.operations.length = 0;
      expect(await server.resources.updated(note)).toBe(1);
      await until(() => clients.every(({ received }) => toldTo(received, 1).length > at));
      expect(backplane.operations).toEqual(["append changes"]);
    }
    for (const client of clients) {
      await settled(client);
      expect(toldTo(client.received, 1)).toEqual(Array(3).fill(`resources/updated ${note}`));
    }
  });

  test("broadcast() reaches every session of every node once, in the same order, and returns the number of this node", async () => {
    const { servers } = await threeNodes();
    const clients = await legacyClients([...servers, servers[0] as McpServer]);
    const counts = await Promise.all(
      numbers(30).map((data) => servers[data % 3]?.push.broadcast(message, { level: "info", data })),
    );
    expect(counts).toEqual(numbers(30).map((at) => (at % 3 === 0 ? 2 : 1)));
    await until(() => clients.every((client) => dataOf(client).length === 30));
    const [first] = clients;
    for (const client of clients) {
      await settled(client);
      expect(dataOf(client)).toEqual(dataOf(first as TestClient));
    }
    expect(new Set(dataOf(first as TestClient)).size).toBe(30);
  });

  test("a log level excludes messages on every node", async () => {
    const { servers } = await threeNodes();
    const [quiet, loud] = await legacyClients(servers.slice(0, 2));
    await quiet?.request("logging/setLevel", { level: "error" });
    await loud?.request("logging/setLevel", { level: "debug" });
    await servers[2]?.log("info", "small");
    await servers[2]?.log("error", "large");
    await until(() => dataOf(loud as TestClient).length === 2);
    await settled(quiet as TestClient);
    expect(dataOf(quiet as TestClient)).toEqual(["large"]);
  });

  test("a topic with scopes reaches only readers who have them, on every node", async () => {
    const backplane = new HeldBackplane();
    const scoped = (server: McpServer): void => {
      server.resource(note, { scopes: ["notes"] }, () => "a");
    };
    const [one, two] = [await joinNode(backplane, {}, scoped), await joinNode(backplane, {}, scoped)];
    const principal = { issuer: "i", subject: "s", scopes: ["notes"] };
    let isAllowed = true;
    const { client } = new PipePeer(two, { revision: "2025-11-25", principal, permits: () => isAllowed });
    await client.open();
    await client.request("resources/subscribe", { uri: note });
    const updates = (): number => client.notifications("notifications/resources/updated").length;
    await one.resources.updated(note);
    await until(() => updates() === 1);
    isAllowed = false;
    await one.resources.updated(note);
    await one.push.broadcast(message, { level: "error", data: "last" });
    await until(() => dataOf(client).length === 1);
    expect(updates()).toBe(1);
  });

  test("a change that is too large for the engine fails, says how large it may be, and reaches no client", async () => {
    const { servers } = await threeNodes();
    const [client] = await legacyClients(servers);
    const large = { level: "info", data: "é".repeat(131_072) };
    const refused = servers[1]?.push.broadcast(message, large);
    await expect(refused).rejects.toThrow(/notifications\/message has 262\d{3} bytes.*at most 262144/);
    await expect(servers[1]?.push.broadcast(message, { level: "info", data: 1n })).rejects.toThrow(
      "params.data is a bigint, which JSON cannot hold",
    );
    await settled(client as TestClient);
    expect(dataOf(client as TestClient)).toEqual([]);
  });

  test("a node that has left serves its clients alone", async () => {
    const { servers } = await threeNodes();
    const [one, two] = servers as [McpServer, McpServer];
    const clients = await legacyClients([one, two]);
    await portOf(one).cluster?.leave();
    expect(await one.push.broadcast(message, { level: "info", data: "alone" })).toBe(1);
    await settled(clients[1] as TestClient);
    expect(clients.map(dataOf)).toEqual([["alone"], []]);
    await portOf(one).cluster?.join();
    expect(await two.push.broadcast(message, { level: "info", data: "again" })).toBe(1);
    await until(() => dataOf(clients[0] as TestClient).length === 2);
  });
});

describe("a bus that loses, doubles and reorders", () => {
  /** Each entry arrives twice, every third is lost, and pairs change places. */
  function unreliable(): HeldBackplane {
    const backplane = new HeldBackplane();
    const waiting = new Map<string, () => void>();
    let arrived = 0;
    backplane.meddle = (to, node) => ({
      message: (text) => to.message(text),
      entry: (log, entry) => {
        if (++arrived % 3 === 0) return;
        const earlier = waiting.get(node);
        waiting.delete(node);
        if (earlier === undefined && arrived % 2 === 0) {
          waiting.set(node, () => to.entry(log, entry));
          return;
        }
        for (const _ of [1, 2]) to.entry(log, entry);
        earlier?.();
      },
    });
    return backplane;
  }

  test("delivers every broadcast once and in the same order to the sessions of all nodes", async () => {
    const { servers } = await threeNodes(unreliable());
    const clients = await legacyClients(servers);
    await Promise.all(
      numbers(40).map((data) => servers[data % 3]?.push.broadcast(message, { level: "info", data })),
    );
    // A node that has missed the last entry learns of it from the next one.
    for (const data of numbers(5)) void servers[0]?.push.broadcast(message, { level: "info", data: -data });
    await until(() => clients.every((client) => dataOf(client).length >= 40));
    const [first] = clients.map((client) => dataOf(client).slice(0, 40));
    for (const client of clients) expect(dataOf(client).slice(0, 40)).toEqual(first);
    expect(new Set(first)).toEqual(new Set(numbers(40)));
  });
});

test("a node that has lost the last entry on its way learns of it from the beats of the others", async () => {
  const { backplane, servers } = await threeNodes(new HeldBackplane({ leaseMs: 500 }));
  const clients = await listeners(servers);
  backplane.meddle = (to, node) => ({
    message: (text) => to.message(text),
    entry: (log, entry) => {
      if (node !== nodeId(servers[2] as McpServer)) to.entry(log, entry);
    },
  });
  await servers[0]?.resources.updated(note);
  await until(() => clients.every(({ received }) => toldTo(received, 1).length === 1));
});

describe("when the engine is gone", () => {
  test("changes reach the clients of their own node, and when it is back every listener is notified once to read again", async () => {
    const backplane = new HeldBackplane();
    const events: ServerEvent[][] = [[], [], []];
    const servers = await Promise.all(
      events.map((seen) =>
        joinNode(backplane, { logger: recordingLogger(), observe: (event) => seen.push(event) }, define),
      ),
    );
    const clients = await listeners(servers);
    backplane.lose();
    expect(await servers[0]?.resources.updated(note)).toBe(1);
    expect(clients.map(({ received }) => toldTo(received, 1).length)).toEqual([1, 0, 0]);
    backplane.restore();
    const everything = ["tools/list_changed", `resources/updated ${note}`];
    await until(() => clients.every(({ received }) => toldTo(received, 1).length >= 2));
    // Longer than a node waits for another one to say that changes were missed.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(toldTo(clients[0]?.received ?? [], 1)).toEqual([`resources/updated ${note}`, ...everything]);
    for (const client of clients.slice(1)) expect(toldTo(client.received, 1)).toEqual(everything);
    for (const seen of events) expect(seen.filter(({ type }) => type === "gap")).toHaveLength(1);
    expect(await servers[1]?.resources.updated(note)).toBe(1);
    await until(() => toldTo(clients[2]?.received ?? [], 1).length === 3);
  });

  test("a change that only one node could not share is made good on all others", async () => {
    const { backplane, servers } = await threeNodes();
    const clients = await listeners(servers);
    backplane.failing = (operation) => operation === "append changes";
    expect(await servers[0]?.resources.updated(note)).toBe(1);
    backplane.restore();
    await until(() => clients.every(({ received }) => toldTo(received, 1).length >= 2));
    expect(toldTo(clients[1]?.received ?? [], 1)).toContain(`resources/updated ${note}`);
  });

  test("a change that could not be shared is made good with the next one that can", async () => {
    const { backplane, servers } = await threeNodes();
    const clients = await listeners(servers);
    backplane.failing = (operation) => operation === "append changes";
    expect(await servers[0]?.resources.updated(note)).toBe(1);
    backplane.failing = () => false;
    await servers[0]?.push.publish("notifications/prompts/list_changed");
    await until(() => clients.every(({ received }) => toldTo(received, 1).length >= 2));
    expect(toldTo(clients[1]?.received ?? [], 1)).toEqual([
      "tools/list_changed",
      `resources/updated ${note}`,
    ]);
  });

  test("a change whose fate was unknown is not delivered twice on its own node", async () => {
    const { backplane, servers } = await threeNodes();
    const clients = await legacyClients(servers);
    const held: (() => void)[] = [];
    backplane.meddle = (to) => ({
      message: (text) => to.message(text),
      entry: (log, entry) => void held.push(() => to.entry(log, entry)),
    });
    backplane.failing = (operation) => operation === "append changes" && "after";
    const text = { level: "info", data: "once" };
    expect(await servers[0]?.push.broadcast(message, text)).toBe(1);
    for (const arrive of held) arrive();
    for (const client of clients) {
      await settled(client);
      expect(dataOf(client)).toEqual(["once"]);
    }
  });
});

describe("entries that no node has written", () => {
  const rows: readonly [name: string, text: string][] = [
    ["no JSON", "{"],
    ["null", "null"],
    ["no id", '{"k":"broadcast","method":"notifications/x"}'],
    ["an unknown kind", '{"k":"shutdown","id":"a.1"}'],
    ["the name of a prototype's member", '{"k":"constructor","id":"a.1"}'],
    ["a method that is no text", '{"k":"broadcast","method":{"toString":1},"id":"a.1"}'],
    [
      "params that are no object",
      '{"k":"publish","method":"notifications/tools/list_changed","params":[1],"id":"a.1"}',
    ],
    [
      "scopes that are no texts",
      '{"k":"publish","method":"notifications/tools/list_changed","scopes":[1],"id":"a.1"}',
    ],
    ["__proto__", '{"__proto__":{"k":"missed","id":"a.1"}}'],
  ];

  test.each(rows)("change nothing if they are or have %s", async (_, text) => {
    const { backplane, servers } = await threeNodes();
    const clients = await listeners(servers);
    const spy = await backplane.spy();
    await spy.append("changes", text, { keepMs: 60_000 });
    expect(await servers[1]?.resources.updated(note)).toBe(1);
    for (const client of clients) {
      await until(() => toldTo(client.received, 1).length > 0);
      await settled(client);
      expect(toldTo(client.received, 1)).toEqual([`resources/updated ${note}`]);
    }
    await spy.close();
  });

  test("are logged at a limited rate", async () => {
    const backplane = new HeldBackplane();
    const logger = recordingLogger();
    const server = await joinNode(backplane, { logger }, define);
    const spy = await backplane.spy();
    for (const at of numbers(500)) await spy.append("changes", `{"at":${at}}`, { keepMs: 60_000 });
    await server.resources.updated(note);
    const lines = logger.entries.filter((line) => line.message.includes("log of changes"));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(100);
    await spy.close();
  });
});
