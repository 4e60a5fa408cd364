// Listening at scripted legacy servers: subscriptions are shared within a session, and restored in the next one.
import { type Change, connect, type ConnectOptions, type McpClient, RpcRejection } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestLegacy } from "../support/revisions.ts";
import { Refuse, ScriptedServer } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

const toolsChanged = "notifications/tools/list_changed";
const updated = "notifications/resources/updated";
const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };

function legacyServer(given: object = capabilities): ScriptedServer {
  const server = new ScriptedServer({ revision: newestLegacy, capabilities: given });
  return server.on("resources/subscribe", () => ({})).on("resources/unsubscribe", () => ({}));
}

async function connected(server: ScriptedServer, options?: ConnectOptions): Promise<McpClient> {
  const backoff = { firstMs: 1, maxMs: 2, maxAttempts: 20 };
  const client = await connect(server, { revision: newestLegacy, backoff, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** The requests about resources, in short. */
function asked(server: ScriptedServer): string[] {
  return server.received
    .filter(({ method }) => method?.startsWith("resources/"))
    .map(({ method, params }) => `${method?.slice("resources/".length)} ${String(params?.["uri"])}`);
}

function collect(): { changes: Change[]; onChange: (change: Change) => void } {
  const changes: Change[] = [];
  return { changes, onChange: (change) => void changes.push(change) };
}

describe("listen at a legacy server", () => {
  test("subscribes to each URI once, and unsubscribes after the last [RES-SUBSCRIBE-RPC, SUB-LEGACY-NONE]", async () => {
    const server = legacyServer();
    const client = await connected(server);
    const one = await client.listen({ resources: ["a:", "b:"] });
    const other = await client.listen({ resources: ["b:", "c:"] });
    expect(asked(server).toSorted()).toEqual(["subscribe a:", "subscribe b:", "subscribe c:"]);
    await one.close();
    expect(asked(server).slice(3)).toEqual(["unsubscribe a:"]);
    await other.close();
    expect(asked(server).slice(4).toSorted()).toEqual(["unsubscribe b:", "unsubscribe c:"]);
    expect(server.of("subscriptions/listen")).toEqual([]);
  });

  test("does not let an unsubscribe and the next subscribe overtake each other", async () => {
    const server = legacyServer();
    const gate = deferred();
    server.on("resources/unsubscribe", () => gate.promise.then(() => ({})));
    const client = await connected(server);
    const one = await client.listen({ resources: ["a:"] });
    const closing = one.close();
    await until(() => asked(server).length === 2);
    const opening = client.listen({ resources: ["a:"] });
    await nextTurn();
    expect(asked(server)).toEqual(["subscribe a:", "unsubscribe a:"]);
    gate.resolve();
    await Promise.all([closing, opening]);
    expect(asked(server)).toEqual(["subscribe a:", "unsubscribe a:", "subscribe a:"]);
  });

  test("subscribes again after an unsubscribe that failed: the server may have run it", async () => {
    const server = legacyServer();
    const gate = deferred();
    server.on("resources/unsubscribe", async () => {
      await gate.promise;
      throw new Refuse(-32603, "Done, but not quite");
    });
    const client = await connected(server);
    const one = await client.listen({ resources: ["a:"] });
    const closing = one.close();
    await until(() => asked(server).length === 2);
    const opening = client.listen({ resources: ["a:"] });
    gate.resolve();
    await Promise.all([closing, opening]);
    expect(asked(server)).toEqual(["subscribe a:", "unsubscribe a:", "subscribe a:"]);
  });

  test("sends a few subscribes at a time", async () => {
    const server = legacyServer();
    let open = 0;
    let most = 0;
    server.on("resources/subscribe", async () => {
      most = Math.max(most, ++open);
      await nextTurn();
      open--;
      return {};
    });
    const client = await connected(server);
    const resources = Array.from({ length: 100 }, (_, number) => `note:///${number}`);
    const { honoured } = await client.listen({ resources });
    expect(honoured.resources?.toSorted()).toEqual(resources.toSorted());
    expect(most).toBeLessThanOrEqual(16);
  });

  test("honours what the server declares and grants [SUB-ACK-CLIENT-CHECK, INIT-RESPECT-CAPS]", async () => {
    const server = legacyServer({ resources: { subscribe: true, listChanged: false }, tools: {} });
    server.on("resources/subscribe", ({ params }) => {
      if (params?.["uri"] === "a:") throw new Refuse(-32002, "No such resource");
      return {};
    });
    const client = await connected(server);
    const filter = { tools: true, resourceList: true, resources: ["a:", "b:"] };
    expect((await client.listen(filter)).honoured).toEqual({ resources: ["b:"] });
    await expect(client.listen({ resources: ["a:"] })).rejects.toThrow(RpcRejection);
    await expect(client.listen({ tools: true })).rejects.toThrow(/none of these/);
  });

  test("hands an update of a part to whoever subscribed to the whole", async () => {
    const server = legacyServer();
    const client = await connected(server);
    const whole = collect();
    const part = collect();
    await client.listen({ resources: ["note:///a"] }, whole.onChange);
    await client.listen({ resources: ["note:///a/1"] }, part.onChange);
    for (const uri of ["note:///ab", "note:///a/1", "note:///a/2", "note:///a?x"])
      server.end.notify(updated, { uri });
    await client.ping();
    expect(whole.changes.map(({ uri }) => uri)).toEqual(["note:///a/2", "note:///a?x"]);
    expect(part.changes.map(({ uri }) => uri)).toEqual(["note:///a/1"]);
  });

  test("subscribes in a new session before waiting requests go on, and says read again", async () => {
    const server = legacyServer();
    server.on("resources/read", () => ({ contents: [] }));
    const client = await connected(server);
    const one = collect();
    const other = collect();
    const listening = await client.listen({ tools: true, resources: ["a:"] }, one.onChange);
    await client.listen({ resources: ["a:"] }, other.onChange);
    server.received.length = 0;
    server.end.cut();
    await client.readResource("a:");
    expect(asked(server)).toEqual(["subscribe a:", "read a:"]);
    const gap = { kind: "resource", uri: "a:", cause: "gap" };
    expect(one.changes).toEqual([{ kind: "tools", cause: "gap" }, gap]);
    expect(other.changes).toEqual([gap]);
    server.end.notify(toolsChanged);
    await client.ping();
    expect(one.changes).toHaveLength(3);
    await listening.close();
    expect(asked(server)).toEqual(["subscribe a:", "read a:"]);
  });

  test("sends no request of a lost session in the next one, where another listening holds the URI", async () => {
    const server = legacyServer();
    server.on("resources/unsubscribe", () => undefined);
    const client = await connected(server);
    const one = await client.listen({ resources: ["a:", "b:"] });
    const { changes, onChange } = collect();
    await client.listen({ resources: ["b:", "c:"] }, onChange);
    server.received.length = 0;
    const closing = one.close();
    await until(() => asked(server).length === 1);
    const opening = client.listen({ resources: ["a:"] }, onChange);
    await nextTurn();
    server.end.cut();
    await Promise.all([closing, opening]);
    await client.ping();
    const [lost, ...next] = asked(server);
    expect(lost).toBe("unsubscribe a:");
    expect(next.toSorted()).toEqual(["subscribe a:", "subscribe b:", "subscribe c:"]);
    server.end.notify(updated, { uri: "a:" });
    await until(() => changes.some(({ uri, cause }) => uri === "a:" && cause === "changed"));
  });

  test("subscribes once more if the session is lost meanwhile", async () => {
    const server = legacyServer();
    server.on("resources/subscribe", (_, end) => {
      if (server.ends.length > 1) return {};
      end.cut();
      return undefined;
    });
    const client = await connected(server);
    const { changes, onChange } = collect();
    const listening = await client.listen({ resources: ["a:"] }, onChange);
    expect(listening.honoured).toEqual({ resources: ["a:"] });
    server.end.notify(updated, { uri: "a:" });
    await until(() => changes.length > 0);
    await listening.close();
    expect(asked(server).at(-1)).toBe("unsubscribe a:");
    expect(changes).toEqual([{ kind: "resource", uri: "a:", cause: "changed" }]);
  });

  test("ends when you close it while the client waits to subscribe again", async () => {
    const server = legacyServer();
    const lost = deferred();
    const client = await connected(server, {
      backoff: { firstMs: 600_000, maxMs: 600_000, maxAttempts: 20 },
      observe: (event) => {
        if (event.type === "stream" && event.stream === "listen" && event.state === "lost") lost.resolve();
      },
    });
    const listening = await client.listen({ resources: ["a:"] }, () => {});
    server.on("resources/subscribe", () => {
      throw new Refuse(-32603, "Not yet");
    });
    server.end.cut();
    await lost.promise;
    const again = deferred<string>();
    server.on("resources/subscribe", () => again.resolve("subscribed again"));
    expect(await Promise.race([listening.close(), again.promise])).toBeUndefined();
  });
});
