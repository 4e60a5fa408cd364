// How many sessions a cluster has: a full node drops copies, limits are counted in the engine, and each end is reported once.
import type { McpServer, SessionEnd } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { describe, expect, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { engineOf } from "../support/backplane.ts";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import { edges, initialize, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";

const authenticate = (request: {
  header(name: string): string | undefined;
}): { issuer: string; subject: string } | undefined => {
  const subject = request.header("x-user");
  return subject === undefined ? undefined : { issuer: "https://issuer.example", subject };
};

const [alice, bob] = [{ headers: { "x-user": "alice" } }, { headers: { "x-user": "bob" } }];

/** Records what `onSessionClosed` is called with, on every node. */
function closing(): {
  told: [number, string | undefined, SessionEnd][];
  define: (server: McpServer, at: number) => void;
} {
  const told: [number, string | undefined, SessionEnd][] = [];
  return {
    told,
    define: (server, at) => {
      server.tool("echo", {}, () => "echo");
      server.onSessionClosed(({ session }, reason) => void told.push([at, session, reason]));
    },
  };
}

const statusAt = async (node: TestNode, client: SessionClient, options = {}): Promise<number> =>
  (await clientAt(node, client, options).start("ping")).status;

describe.each(edges)("%s", (edge) => {
  test("a full node drops copies, and no session ends", async () => {
    const { told, define } = closing();
    const [first, second] = await serveCluster({
      nodes: 2,
      edge,
      define,
      http: { limits: { maxSessions: 2 } },
    });
    const clients: SessionClient[] = [];
    for (let at = 0; at < 6; at++) clients.push(await SessionClient.open(at % 2 === 0 ? first : second));
    for (const node of [first, second, first, second]) {
      for (const client of clients) expect(await statusAt(node, client)).toBe(200);
      expect(node.stats().sessions).toBe(2);
    }
    expect(told).toEqual([]);
  });

  test("a node whose copies are all in use refuses to load another, for now", async () => {
    const gate = deferred();
    const [first, second] = await serveCluster({
      nodes: 2,
      edge,
      http: { limits: { maxSessions: 1 } },
      define: (server) => {
        server.tool("wait", {}, async () => {
          await gate.promise;
          return "done";
        });
      },
    });
    const busy = await SessionClient.open(first);
    const other = await SessionClient.open(second);
    const reply = busy.call("wait");
    await until(() => first.stats().inFlight === 1);
    expect(await statusAt(first, other)).toBe(503);
    expect(await statusAt(second, other)).toBe(200);
    gate.resolve();
    await (
      await reply
    ).closed;
    expect(await statusAt(first, other)).toBe(200);
  });

  test("one session more than a principal may have ends its oldest, everywhere and told once", async () => {
    const { told, define } = closing();
    const http = { auth: authenticate, limits: { maxSessionsPerPrincipal: 3 } };
    const nodes = await serveCluster({ edge, define, http });
    const own: SessionClient[] = [];
    for (let at = 0; at < 5; at++) own.push(await SessionClient.open(nodes[at % 3] as TestNode, alice));
    const other = await SessionClient.open(nodes[0], bob);
    for (const node of nodes) {
      const statuses = await Promise.all(own.map((client) => statusAt(node, client, alice)));
      expect(statuses).toEqual([404, 404, 200, 200, 200]);
      expect(await statusAt(node, other, bob)).toBe(200);
    }
    expect(told.map(([, session, reason]) => [session, reason])).toEqual([
      [own[0]?.id, "evicted"],
      [own[1]?.id, "evicted"],
    ]);
  });

  test("sessions that have ended do not count for their principal", async () => {
    const { define } = closing();
    const http = { auth: authenticate, limits: { maxSessionsPerPrincipal: 2 } };
    const backplane = memoryBackplane();
    const [first, second] = await serveCluster({ nodes: 2, edge, define, http, backplane });
    const kept = await SessionClient.open(first, alice);
    expect(await (await SessionClient.open(second, alice)).delete()).toBe(204);
    const expired = await SessionClient.open(second, alice);
    await (await engineOf(backplane)).remove({ kind: "session", tag: expired.id });
    await SessionClient.open(first, alice);
    expect(await statusAt(second, kept, alice)).toBe(200);
  });

  test("past the limit of the whole cluster, a new session is 503", async () => {
    const http = { auth: authenticate, limits: { maxSharedSessions: 3 } };
    holdClocks("setInterval", "clearInterval");
    const [first, second] = await serveCluster({ nodes: 2, edge, define: closing().define, http });
    const clients: SessionClient[] = [];
    for (const [at, node] of [first, second, second].entries()) {
      await vi.advanceTimersByTimeAsync(1000);
      const client = await SessionClient.open(node, { headers: { "x-user": `user ${at}` } });
      expect(await client.request("ping")).toHaveProperty("result");
      clients.push(client);
    }
    await vi.advanceTimersByTimeAsync(1000);
    for (const node of [first, second]) {
      const refused = await initialize(node.url, alice);
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "10"]);
    }
    expect(await clients[0]?.delete()).toBe(204);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await initialize(second.url, alice)).status).toBe(200);
  });
});

describe("the end of a session", () => {
  test("by DELETE is told at one node, also if two are asked at once", async () => {
    const { told, define } = closing();
    const [first, second, third] = await serveCluster({ define });
    const client = await SessionClient.open(first);
    for (const node of [second, third]) expect(await statusAt(node, client)).toBe(200);
    const statuses = await Promise.all([first, second].map((node) => clientAt(node, client).delete()));
    expect(statuses).toContain(204);
    await until(() => third.stats().sessions === 0);
    expect(told).toHaveLength(1);
    expect(told[0]?.slice(1)).toEqual([client.id, "deleted"]);
  });

  test("by idleness is told at one node, once the record is gone", async () => {
    holdClocks("setInterval", "clearInterval");
    const { told, define } = closing();
    const [first, second, third] = await serveCluster({ define, http: { limits: { idleMs: 60_000 } } });
    const client = await SessionClient.open(first);
    for (const node of [second, third]) expect(await statusAt(node, client)).toBe(200);
    for (let at = 0; at < 6; at++) {
      await vi.advanceTimersByTimeAsync(30_000);
      expect(await statusAt(second, client)).toBe(200);
    }
    expect([first.stats().sessions, third.stats().sessions]).toEqual([0, 0]);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(told).toEqual([[1, client.id, "idle"]]);
    expect(second.stats().sessions).toBe(0);
    expect(await statusAt(first, client)).toBe(404);
  });

  test.each([0, 1])("by DELETE at node %i leaves no log, wherever its stream is", async (at) => {
    const backplane = memoryBackplane();
    const nodes = await serveCluster({ nodes: 2, define: closing().define, backplane });
    const client = await SessionClient.open(nodes[0]);
    const engine = await engineOf(backplane);
    const stream = await client.get();
    expect(await engine.read(client.id, 1)).toHaveLength(1);
    expect(await clientAt(nodes[at] as TestNode, client).delete()).toBe(204);
    await stream.released();
    await until(() => nodes[0].engine.operations.includes("unfollow"));
    expect(await engine.read(client.id, 1)).toEqual([]);
  });

  test("by idleness of several nodes at once is told once", async () => {
    holdClocks("setInterval", "clearInterval");
    const { told, define } = closing();
    const nodes = await serveCluster({ define, http: { limits: { idleMs: 60_000 } } });
    const client = await SessionClient.open(nodes[0]);
    for (const node of nodes) expect(await statusAt(node, client)).toBe(200);
    await vi.advanceTimersByTimeAsync(150_000);
    expect(told.map(([, ...end]) => end)).toEqual([[client.id, "idle"]]);
  });

  test("an open stream keeps a session alive for all nodes", async () => {
    holdClocks("setInterval", "clearInterval");
    const { told, define } = closing();
    const [first, second] = await serveCluster({ nodes: 2, define, http: { limits: { idleMs: 60_000 } } });
    const client = await SessionClient.open(first);
    const stream = await clientAt(second, client).get();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(await statusAt(first, client)).toBe(200);
    expect(told).toEqual([]);
    stream.cut();
  });

  test("a copy that leaves, and a node that stops, tell nothing", async () => {
    const { told, define } = closing();
    const [first] = await serveCluster({ nodes: 2, define, http: { limits: { maxSessions: 1 } } });
    await SessionClient.open(first);
    await SessionClient.open(first);
    await first.close();
    expect(told).toEqual([]);
  });
});
