// One address cannot take what all callers of a cluster share, by sessions on any node; and a small change stays small.
import type { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { type ClusterOptions, clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { initialize, SessionClient, type SessionOptions } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

const attacker: SessionOptions = { headers: { "x-forwarded-for": "192.0.2.1" } };
const bystander: SessionOptions = { headers: { "x-forwarded-for": "192.0.2.2" } };

function define(server: McpServer): void {
  server.tool("echo", {}, () => "echo");
  server.resourceTemplate("note:///{id}", { name: "note" }, () => "note");
}

/** A URI of 1000 characters. */
const noteOf = (id: string): string => `note:///${id.padEnd(992, "x")}`;

async function statusOf(node: TestNode, options: SessionOptions): Promise<number> {
  const reply = await initialize(node.url, options);
  await reply.closed;
  return reply.status;
}

describe.each(engineRows)("$name", (row) => {
  const engine = onEngine(row);
  const serve = (options: ClusterOptions = {}): ReturnType<typeof serveCluster> => {
    const http = { trustProxy: true, ...options.http };
    return serveCluster({ backplane: engine.backplane, define, ...options, http });
  };

  test("an address that opens sessions on all nodes gets half of them, and a bystander finds room", async () => {
    const nodes = await serve({ http: { limits: { maxSharedSessions: 40 } } });
    const statuses: number[] = [];
    for (let round = 0; round < 20; round++) {
      statuses.push(...(await Promise.all(nodes.map((node) => statusOf(node, attacker)))));
    }
    const taken = statuses.filter((status) => status === 200).length;
    expect(taken).toBeGreaterThanOrEqual(15);
    // Half, and one more for each node that opens one at the same moment.
    expect(taken).toBeLessThanOrEqual(23);
    expect(statuses.at(-1)).toBe(503);
    for (const node of nodes) expect(await statusOf(node, bystander)).toBe(200);
  });

  test("sessions that have ended on any node leave the share of their address", async () => {
    const nodes = await serve({ http: { limits: { maxSharedSessions: 40 } } });
    const restless: SessionOptions = { headers: { "x-forwarded-for": "192.0.2.3" } };
    for (let round = 0; round < 45; round++) {
      const client = await SessionClient.open(nodes[round % 3] as TestNode, restless);
      expect(await clientAt(nodes[(round + 1) % 3] as TestNode, client, restless).delete()).toBe(204);
    }
  });
});

test("a session counts for the address that opened it, whichever address ends it", async () => {
  const http = { trustProxy: true, limits: { maxSharedSessions: 40 } };
  const [first, second] = await serveCluster({ define, http, nodes: 2 });
  for (let round = 0; round < 45; round++) {
    const client = await SessionClient.open(first, bystander);
    expect(await clientAt(second, client, attacker).delete()).toBe(204);
  }
  let taken = 0;
  while (taken < 40 && (await statusOf(second, attacker)) === 200) taken++;
  expect(taken).toBeLessThanOrEqual(22);
});

describe("maxTotalSubscribedLength", () => {
  /** Each node has room for the subscriptions of 20 URIs; the address has its half on two of them. */
  async function attacked(): Promise<{ nodes: readonly TestNode[]; clients: SessionClient[] }> {
    const http = { trustProxy: true };
    const server = { limits: { maxTotalSubscribedLength: 20_000 } };
    const nodes = await serveCluster({ define, http, server });
    const clients: SessionClient[] = [];
    for (let at = 0; at < 20; at++)
      clients.push(await SessionClient.open(nodes[at % 2] as TestNode, attacker));
    return { nodes, clients };
  }

  const subscribe = (client: SessionClient, at: number): Promise<unknown> =>
    client.request("resources/subscribe", { uri: noteOf(String(at)) });

  async function findsRoom(node: TestNode): Promise<void> {
    const other = await SessionClient.open(node, bystander);
    for (const id of ["a", "b", "c"]) {
      const uri = noteOf(id);
      expect(await other.request("resources/subscribe", { uri })).toHaveProperty("result");
    }
  }

  test("is not taken by sessions that another node revives", async () => {
    const { nodes, clients } = await attacked();
    await Promise.all(clients.map(subscribe));
    const third = nodes[2] as TestNode;
    // Their streams keep the copies of this node busy.
    const streams = await Promise.all(clients.map((client) => clientAt(third, client, attacker).get()));
    const statuses = streams.map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses).toContain(503);
    await findsRoom(third);
    for (const stream of streams) stream.cut();
  });

  test("is not taken by what other nodes say of sessions that this node has", async () => {
    const { nodes, clients } = await attacked();
    const third = nodes[2] as TestNode;
    for (const client of clients) await clientAt(third, client, attacker).request("ping");
    await Promise.all(clients.map(subscribe));
    await findsRoom(third);
  });

  test("makes room for a session by dropping idle copies of the same caller", async () => {
    const { nodes, clients } = await attacked();
    await Promise.all(clients.map(subscribe));
    const third = nodes[2] as TestNode;
    for (const client of clients)
      expect(await clientAt(third, client, attacker).request("ping")).toHaveProperty("result");
    await findsRoom(third);
  });
});

describe("a change of a session", () => {
  /** Resolves when the stream of this node gets updates of these resources: only the node itself knows that it subscribes. */
  async function hearsUpdates(stream: EventReply, node: TestNode, uris: readonly string[]): Promise<void> {
    const heard = (uri: string): boolean =>
      stream.messages.some(({ params }) => (params as { uri?: string } | undefined)?.uri === uri);
    for (const uri of uris) {
      await until(async () => {
        await node.server.resources.updated(uri);
        return heard(uri);
      });
    }
    stream.cut();
  }

  test("is told to other nodes as a difference, however much the session has", async () => {
    const nodes = await serveCluster({ define });
    const [first, second, third] = nodes;
    const client = await SessionClient.open(first);
    for (let at = 0; at < 50; at++) await client.request("resources/subscribe", { uri: noteOf(String(at)) });
    await clientAt(second, client).request("ping");
    await clientAt(third, client).request("ping");
    for (const { engine } of nodes) engine.forget();
    for (let at = 0; at < 10; at++)
      await client.request("logging/setLevel", { level: at % 2 === 0 ? "error" : "debug" });
    const texts = first.engine.asked.flatMap(({ operation, args }) =>
      operation === "send" ? [String(args[1])] : [],
    );
    const told = texts.filter((text) => text.includes('"kind":"session"'));
    expect(told).toHaveLength(10);
    for (const text of told) expect(text.length).toBeLessThan(500);
  });

  test("that two nodes make at once is merged, and a third node that has the session follows both", async () => {
    const [first, second, third] = await serveCluster({ define });
    const client = await SessionClient.open(first);
    await clientAt(second, client).request("ping");
    const stream = await clientAt(third, client).get();
    const gate = deferred();
    first.engine.delay("replace session", () => gate.promise);
    const one = client.request("resources/subscribe", { uri: "note:///1" });
    await until(() => first.engine.operations.includes("replace session"));
    await clientAt(second, client).request("resources/subscribe", { uri: "note:///2" });
    gate.resolve();
    expect(await one).toHaveProperty("result");
    await hearsUpdates(stream, third, ["note:///1", "note:///2"]);
  });

  test("that a node misses is read from the engine with the next one", async () => {
    const [first, second] = await serveCluster({ define, nodes: 2 });
    const client = await SessionClient.open(first);
    const stream = await clientAt(second, client).get();
    second.engine.deafen();
    await client.request("resources/subscribe", { uri: "note:///1" });
    second.engine.heal();
    await client.request("resources/subscribe", { uri: "note:///2" });
    await hearsUpdates(stream, second, ["note:///1", "note:///2"]);
  });
});
