// What a client does when its connection is lost: one new handshake for all, waits with a bound, and states that say why.
import {
  type CallOptions,
  type ClientState,
  connect,
  type ConnectOptions,
  ConnectionLost,
  type McpClient,
  type StateName,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { legacyDates, newestLegacy, newestModern } from "../../support/revisions.ts";
import { respond, serveScript } from "../../support/scripted-http.ts";
import { Refuse, said, ScriptedServer } from "../../support/scripted-wire.ts";
import { nextTurn, until } from "../../support/turns.ts";

interface Opened {
  readonly client: McpClient;
  readonly states: ClientState[];
  readonly names: () => StateName[];
}

async function open(target: ScriptedServer | string, options: ConnectOptions = {}): Promise<Opened> {
  const states: ClientState[] = [];
  const client = await connect(target, {
    backoff: { firstMs: 2 },
    ...options,
    observe: (event) => void (event.type === "state" && states.push(event.state)),
  });
  onTestFinished(() => client.close());
  return { client, states, names: () => states.map(({ name }) => name) };
}

/** A request that may always be sent again. */
function list(client: McpClient, options?: CallOptions): Promise<unknown> {
  return client.request("tools/list", {}, options);
}

describe.each([newestModern, newestLegacy])("a wire of %s that breaks", (revision) => {
  const handshake = revision === newestModern ? "server/discover" : "initialize";

  test("is opened again with one handshake, however many requests wait [STDIO-RESTART-RELISTEN, VER-ERA-CACHE]", async () => {
    const server = new ScriptedServer({ revision });
    const { client, names } = await open(server);
    server.on("tools/list", (_, end) => end.cut());
    const calls = Array.from({ length: 20 }, () => list(client));
    server.on("tools/list", () => ({ tools: [] }));
    expect(await Promise.all(calls)).toHaveLength(20);
    const before = revision === newestModern ? 1 : 2;
    expect(server.ends).toHaveLength(2);
    expect(server.of(handshake)).toHaveLength(2);
    expect(server.of("server/discover")).toHaveLength(revision === newestModern ? before + 1 : 1);
    expect(names()).toEqual(["connecting", "ready", "reconnecting", "ready"]);
  });

  test("leaves nothing open if the client is closed at any moment of the new handshake", async () => {
    for (let turns = 0; turns < 40; turns++) {
      const server = new ScriptedServer({ revision });
      const { client } = await open(server);
      const answer = (): object => {
        void (async () => {
          for (let turn = 0; turn < turns; turn++) await undefined;
          await client.close();
        })();
        return revision === newestModern
          ? { resultType: "complete", supportedVersions: [revision], capabilities: {}, ttlMs: 0 }
          : { protocolVersion: revision, capabilities: {}, serverInfo: { name: "s", version: "1" } };
      };
      server.on(handshake, answer);
      server.end.cut();
      await until(() => server.of(handshake).length === 2);
      await nextTurn();
      await nextTurn();
      expect(server.isOpen, `after ${turns} turns`).toBe(false);
    }
  });

  test("while nobody calls is opened again by itself", async () => {
    const server = new ScriptedServer({ revision });
    const { client, states } = await open(server);
    server.end.cut(new Error("The cable is unplugged"));
    expect(client.state).toMatchObject({
      name: "reconnecting",
      reason: expect.stringContaining("The cable is unplugged"),
      error: expect.any(ConnectionLost),
    });
    await until(() => client.state.name === "ready");
    expect(states.at(-1)?.reason).toContain("The cable is unplugged");
    expect(server.ends).toHaveLength(2);
  });

  test("again and again is tried with growing waits, up to the bound; a later request tries once more", async () => {
    const server = new ScriptedServer({ revision });
    const { client, names } = await open(server, { backoff: { firstMs: 1000, maxMs: 4000, maxAttempts: 4 } });
    const open1 = server.openWire.bind(server);
    const openings: number[] = [];
    holdClocks("setTimeout", "clearTimeout");
    server.openWire = () => {
      openings.push(Date.now());
      throw new Error("Nobody is there");
    };
    const begun = Date.now();
    server.end.cut();
    const waiting = list(client).catch((reason: unknown) => reason);
    for (let second = 0; second < 20; second++) await vi.advanceTimersByTimeAsync(1000);
    expect(openings).toHaveLength(4);
    const waits = openings.map((time, index) => time - (openings[index - 1] ?? begun));
    // At once, and then at least half of 2, 4 and 4 seconds, at most all of it.
    for (const [index, most] of [0, 2000, 4000, 4000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(most / 2);
      expect(waits[index]).toBeLessThanOrEqual(most);
    }
    expect(await waiting).toMatchObject({ code: "CONNECTION_LOST" });
    expect(client.state).toMatchObject({
      name: "closed",
      reason: expect.stringContaining("Nobody is there"),
    });
    expect(names()).toEqual(["connecting", "ready", ...Array<string>(5).fill("reconnecting"), "closed"]);

    await expect(list(client)).rejects.toThrow("Nobody is there");
    expect(openings).toHaveLength(5);
    server.openWire = open1;
    server.on("tools/list", () => ({ tools: [] }));
    expect(await list(client)).toMatchObject({ tools: [] });
    expect(client.state.name).toBe("ready");
  });

  test("right after each handshake does not lead to a loop without waits", async () => {
    const server = new ScriptedServer({ revision });
    const { client } = await open(server, { backoff: { firstMs: 1, maxAttempts: 5 } });
    const openWire = server.openWire.bind(server);
    server.openWire = () => {
      const wire = openWire();
      const { end } = server;
      void until(() => server.received.at(-1)?.method !== undefined).then(() =>
        setTimeout(() => end.cut(), 5),
      );
      return wire;
    };
    server.end.cut();
    await until(() => client.state.name === "closed");
    expect(server.ends.length).toBeLessThanOrEqual(6);
  });

  test("and cannot be opened again: the client is closed, and requests say so", async () => {
    const server = new ScriptedServer({ revision, reopens: false });
    const { client, names } = await open(server);
    server.end.cut(new Error("It is over"));
    expect(names()).toEqual(["connecting", "ready", "closed"]);
    await expect(list(client)).rejects.toMatchObject({ code: "CONNECTION_LOST", mayHaveRun: false });
    await expect(list(client)).rejects.toThrow("It is over");
    expect(server.ends).toHaveLength(1);
  });

  test("and comes back after the client was closed is not opened any more", async () => {
    const server = new ScriptedServer({ revision });
    const { client, names } = await open(server);
    await client.close();
    server.end.cut();
    await nextTurn();
    expect(server.ends).toHaveLength(1);
    expect(names()).toEqual(["connecting", "ready", "closed"]);
    expect(client.state.reason).toBe("You closed the client");
    await expect(list(client)).rejects.toMatchObject({ reason: "closed", mayHaveRun: false });
  });

  test("and is closed while it is opened again leaves nothing open", async () => {
    const server = new ScriptedServer({ revision });
    const { client } = await open(server);
    server.on(handshake, () => undefined);
    server.end.cut();
    await until(() => server.of(handshake).length === 2);
    const waiting = list(client).catch((reason: unknown) => reason);
    await client.close();
    expect(await waiting).toMatchObject({ reason: "closed" });
    expect(server.isOpen).toBe(false);
  });
});

test("messages of the wire before are ignored", async () => {
  const server = new ScriptedServer({ revision: newestLegacy });
  const logs: unknown[] = [];
  const { client } = await open(server, { onLog: (entry) => void logs.push(entry), logLevel: "info" });
  const old = server.end;
  old.cut();
  await until(() => client.state.name === "ready");
  old.notify("notifications/message", { level: "info", data: "from the past" });
  server.end.notify("notifications/message", { level: "info", data: "now" });
  await until(() => logs.length > 0);
  expect(logs).toMatchObject([{ data: "now" }]);
});

test("a request that waits for the connection can be aborted", async () => {
  const server = new ScriptedServer();
  const { client } = await open(server);
  server.on("server/discover", () => undefined);
  server.end.cut();
  const abort = new AbortController();
  const waiting = list(client, { signal: abort.signal }).catch((reason: unknown) => reason);
  await nextTurn();
  const reason = new Error("Not that important");
  abort.abort(reason);
  expect(await waiting).toBe(reason);
});

test("a server that comes back with another era is found out [VER-ERA-PERSIST]", async () => {
  const server = new ScriptedServer({ revision: newestLegacy });
  const { client } = await open(server);
  server.on("initialize", () => {
    throw new Refuse(-32022, "Unsupported", { supported: [newestModern] });
  });
  server.on("server/discover", () => ({ supportedVersions: [newestModern], capabilities: {} }));
  server.end.cut();
  await until(() => client.state.name === "ready");
  expect(client.revision).toBe(newestModern);
});

describe.each(legacyDates.filter((date) => date !== "2024-11-05"))(
  "a session of %s over HTTP that is gone",
  (revision) => {
    test("leads to one new session, without the old id, however many requests met the 404 [SESS-404-REINIT]", async () => {
      let sessions = 0;
      let isRestarted = false;
      const server = await serveScript(({ verb, headers, message }) => {
        if (verb !== "POST") return { status: 405 };
        const session = `session-${sessions}`;
        if (message.method === "initialize") {
          const result = {
            protocolVersion: revision,
            capabilities: { tools: {} },
            serverInfo: { name: "s", version: "1" },
          };
          return {
            ...respond(message, { result }),
            headers: { "mcp-session-id": `session-${++sessions}`, "content-type": "application/json" },
          };
        }
        if (headers["mcp-session-id"] !== session || (isRestarted && sessions === 1)) return { status: 404 };
        if (message.method === "tools/call") return respond(message, { result: said("done") });
        return { status: 202 };
      });
      const { client, names } = await open(server.url, { revision });
      isRestarted = true;
      const results = await Promise.all(Array.from({ length: 10 }, () => client.callTool("pay")));
      expect(results).toHaveLength(10);
      expect(sessions).toBe(2);
      const handshakes = server.received.filter(({ message }) => message.method === "initialize");
      expect(handshakes.map(({ headers }) => headers["mcp-session-id"])).toEqual([undefined, undefined]);
      expect(names()).toEqual(["connecting", "ready", "reconnecting", "ready"]);
    });
  },
);
