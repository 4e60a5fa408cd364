// Nodes compare their catalogues: if a node has another list, clients get one list_changed.
import type { McpServer } from "halyard";
import { portOf } from "halyard/transport";
import type { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { listen, settled, toldTo } from "../../support/listen.ts";
import { recordingLogger } from "../../support/log.ts";
import { HeldBackplane, joinNode } from "../../support/nodes.ts";
import { PipePeer } from "../../support/pipe.ts";
import { nextTurn, until } from "../../support/turns.ts";

type Define = (server: McpServer) => void;

const base: Define = (server) => {
  server.tool("first", {}, () => "first");
  server.prompt("greet", {}, () => "Hello");
  server.resource("note:///a", {}, () => "a");
};

const withMore: Define = (server) => {
  server.resourceTemplate("note:///{name}", {}, () => "any");
  base(server);
  server.tool("second", {}, () => "second");
};

function join(backplane: HeldBackplane, define: Define): Promise<McpServer> {
  return joinNode(backplane, { logger: recordingLogger() }, define);
}

async function listening(server: McpServer): Promise<TestClient> {
  const { client } = new PipePeer(server);
  await listen(client, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }, 1);
  return client;
}

/** What each client has been told, once nothing more is on its way. */
async function told(servers: readonly McpServer[], clients: readonly TestClient[]): Promise<string[][]> {
  await until(() => servers.every(({ cluster }) => cluster.nodes().length === servers.length));
  // A change of its own that comes after all others.
  await servers[0]?.push.publish("notifications/prompts/list_changed");
  await until(() => clients.every(({ received }) => toldTo(received, 1).includes("prompts/list_changed")));
  for (const client of clients) await settled(client);
  return clients.map(({ received }) => toldTo(received, 1).filter((name) => !name.startsWith("prompts")));
}

describe("a node that joins", () => {
  test("with the same catalogue causes no notification, whatever the order of its definitions", async () => {
    const backplane = new HeldBackplane();
    const ordered: Define = (server) => {
      base(server);
      server.tool("last", {}, () => "last");
    };
    const servers = [await join(backplane, ordered), await join(backplane, ordered)];
    const clients = await Promise.all(servers.map(listening));
    servers.push(
      await join(backplane, (server) => {
        server.resource("note:///a", {}, () => "a");
        server.prompt("greet", {}, () => "Hello");
        server.tool("last", {}, () => "last");
        server.tool("first", {}, () => "first");
      }),
    );
    expect(await told(servers, clients)).toEqual([[], []]);
  });

  test("with another catalogue causes one notification for each list that differs, to the clients of all nodes", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base), await join(backplane, base), await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    servers.push(await join(backplane, withMore));
    const heard = await told(servers, clients);
    for (const names of heard) {
      expect(names.toSorted()).toEqual(["resources/list_changed", "tools/list_changed"]);
    }
  });

  test("with another scope or description causes a notification, too", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    servers.push(
      await join(backplane, (server) => {
        server.tool("first", { scopes: ["first"] }, () => "first");
        server.prompt("greet", {}, () => "Hello");
        server.resource("note:///a", { description: "A note" }, () => "a");
      }),
    );
    const [names] = await told(servers, clients);
    expect(names?.toSorted()).toEqual(["resources/list_changed", "tools/list_changed"]);
  });

  test("and leaves causes one notification again when it was the last with its lists: clients may have read those", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base), await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    const others = [await join(backplane, withMore), await join(backplane, withMore)];
    const counts = (): number[] => clients.map(({ received }) => toldTo(received, 1).length);
    await until(() => counts().every((count) => count === 4));
    for (const other of others) {
      expect(counts()).toEqual([4, 4]);
      await portOf(other).cluster?.leave();
    }
    await until(() => counts().every((count) => count === 6));
    const heard = await told(servers, clients);
    expect(heard[0]?.filter((name) => name === "tools/list_changed")).toHaveLength(3);
    for (const other of others) await portOf(other).cluster?.join();
  });
});

describe("a change of the catalogue at run time", () => {
  test("is announced to the clients of all nodes once, though it is made on all nodes", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base), await join(backplane, base), await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    for (const server of servers) {
      server.tool("second", {}, () => "second");
      await until(() => clients.every(({ received }) => toldTo(received, 1).length > 0));
      await nextTurn();
    }
    expect(await told(servers, clients)).toEqual(clients.map(() => ["tools/list_changed"]));
  });

  test("is announced again by a node whose old list a client has read meanwhile", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base), await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    servers[0]?.tool("second", {}, () => "second");
    await until(() => clients.every(({ received }) => toldTo(received, 1).length === 1));
    const listed = await clients[1]?.request("tools/list", {}, { id: "read" });
    expect(listed?.["tools"]).toHaveLength(1);
    servers[1]?.tool("second", {}, () => "second");
    await until(() => clients.every(({ received }) => toldTo(received, 1).length === 2));
  });

  test("that only one node makes is announced by it, also when it is taken back", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base), await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    const handle = servers[0]?.tool("second", {}, () => "second");
    await until(() => clients.every(({ received }) => toldTo(received, 1).length === 1));
    handle?.remove();
    await until(() => clients.every(({ received }) => toldTo(received, 1).length === 2));
  });

  test("push.publish announces a list to the clients of all nodes", async () => {
    const backplane = new HeldBackplane();
    const servers = [await join(backplane, base), await join(backplane, base)];
    const clients = await Promise.all(servers.map(listening));
    expect(await servers[0]?.push.publish("notifications/tools/list_changed")).toBe(1);
    await until(() => clients.every(({ received }) => toldTo(received, 1).length === 1));
  });
});
