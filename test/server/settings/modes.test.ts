// The three modes: the clients that each serves, what it advertises, and what it refuses.
import { ConfigurationError, McpServer, type ServerMode } from "halyard";
import { portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { describeMatrix, pipes } from "../../support/matrix.ts";
import {
  answersTo,
  initializeRequest,
  legacyDates,
  metaKeys,
  modernDates,
  modernMeta,
  modernRequest,
  newestLegacy,
  newestModern,
  RawPeer,
} from "../../support/raw.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";

function makeServer(mode?: ServerMode): McpServer {
  const options = mode === undefined ? {} : { mode };
  const server = new McpServer({ name: "test", version: "1.0.0" }, { ...options, logger: recordingLogger() });
  server.tool("where", {}, (_, ctx) => ctx.revision);
  server.prompt("hello", {}, () => "Hello");
  server.resource("test://a", {}, () => "a");
  return server;
}

const pushing = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};
const notPushing = { tools: {}, prompts: {}, resources: {} };

describeMatrix("mode both", { eras: ["legacy"] }, (cell) => {
  test("is the default, and gives a legacy client a session with pushes", async () => {
    const server = makeServer();
    expect(portOf(server).mode).toBe("both");
    const client = await cell.connect(server, { handshake: false });
    expect(await client.open()).toMatchObject({ capabilities: pushing });
    expect(await client.request("resources/subscribe", { uri: "test://a" })).toEqual({});
    expect(await server.push.sessions()).toHaveLength(1);
    expect(await server.resources.updated("test://a")).toBe(1);
    await client.waitFor(
      (message) => "method" in message && message.method === "notifications/resources/updated",
    );
    await client.close();
  });
});

describeMatrix("modes both and stateless", { eras: ["modern"] }, (cell) => {
  test.each(["both", "stateless"] as const)(
    "%s: a modern client discovers, is told of pushes and can listen",
    async (mode) => {
      const server = makeServer(mode);
      const client = await cell.connect(server);
      expect(await client.request("server/discover")).toMatchObject({
        supportedVersions: [...modernDates, ...legacyDates],
        capabilities: pushing,
      });
      client.send(modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
      await client.waitFor((message) => "method" in message && message.method.endsWith("/acknowledged"));
      server.tool("new", {}, () => "new");
      await client.waitFor(
        (message) => "method" in message && message.method === "notifications/tools/list_changed",
      );
      expect(await server.push.sessions()).toEqual([]);
      await client.close();
    },
  );
});

describeMatrix("mode stateful", { eras: ["legacy"], transports: pipes }, (cell) => {
  test("gives a legacy client a session with pushes", async () => {
    const server = makeServer("stateful");
    const client = await cell.connect(server, { handshake: false });
    expect(await client.open()).toMatchObject({ protocolVersion: cell.revision, capabilities: pushing });
    expect(await client.request("resources/subscribe", { uri: "test://a" })).toEqual({});
    expect(await server.push.sessions()).toHaveLength(1);
    await client.close();
  });

  test("does not see the modern _meta of a request: it is answered as agreed", async () => {
    allowBeyondSchema("must have required property 'resultType'");
    const client = await cell.connect(makeServer("stateful"));
    const call = await client.request("tools/call", { name: "where", _meta: modernMeta() });
    expect(call).toEqual({ content: [{ type: "text", text: cell.revision }] });
    await client.close();
  });
});

describeMatrix("mode stateful", { eras: ["modern"], transports: pipes }, (cell) => {
  test.each(["server/discover", "subscriptions/listen", "no/such/method"])(
    "has no %s: to a modern client it looks like a server of the legacy era",
    async (method) => {
      const client = await cell.connect(makeServer("stateful"));
      await expect(client.request(method, { notifications: {} })).rejects.toMatchObject({ code: -32601 });
      client.send({ jsonrpc: "2.0", id: "plain", method });
      expect(await client.waitFor((message) => "id" in message && message.id === "plain")).toMatchObject({
        error: { code: -32601 },
      });
      await client.close();
    },
  );

  test.each([newestModern, "1999-12-31", "2025-11-25", "draft", 5, null])(
    "never answers with a modern error, whatever version _meta asks for: %j",
    async (version) => {
      const client = await cell.connect(makeServer("stateful"));
      for (const [method, code] of [
        ["server/discover", -32601],
        ["tools/list", -32600],
        ["tools/call", -32600],
        ["no/such/method", -32601],
      ] as const) {
        const _meta = { [metaKeys.protocolVersion]: version };
        await expect(client.request(method, { name: "where", _meta }), method).rejects.toMatchObject({
          code,
        });
      }
      await client.close();
    },
  );

  test("offers no remedy that it would refuse", async () => {
    const client = await cell.connect(makeServer("stateful"));
    const failure = (await client.request("tools/list").catch((error: unknown) => error)) as Error;
    expect(failure.message).toContain("initialize");
    expect(failure.message).not.toContain("_meta");
    await client.close();
  });

  test("takes the initialize of a client that falls back, modern _meta or not", async () => {
    const client = await cell.connect(makeServer("stateful"));
    const request = initializeRequest("i", newestModern, { _meta: modernMeta() });
    client.send(request);
    expect(await client.waitFor((message) => "id" in message && message.id === "i")).toMatchObject({
      result: { protocolVersion: newestLegacy },
    });
    client.send({ jsonrpc: "2.0", id: "t", method: "tools/call", params: { name: "where" } });
    expect(await client.waitFor((message) => "id" in message && message.id === "t")).toMatchObject({
      result: { content: [{ text: newestLegacy }] },
    });
    await client.close();
  });
});

describeMatrix("mode stateless", { eras: ["legacy"] }, (cell) => {
  test.skipIf(cell.transport === "http" && cell.revision === "2024-11-05")(
    "serves a legacy client, and advertises no pushes to it",
    async () => {
      const server = makeServer("stateless");
      const client = await cell.connect(server, { handshake: false });
      const opened = await client.open();
      expect(opened?.["protocolVersion"]).toBe(cell.revision);
      expect(opened?.["capabilities"]).toEqual({ ...notPushing, logging: {} });
      expect(server.capabilities(cell.revision)).toEqual({ ...notPushing, logging: {} });
      expect(await client.request("tools/call", { name: "where" })).toMatchObject({
        content: [{ text: cell.revision }],
      });
      await client.close();
    },
  );

  test("has no subscribe and no unsubscribe for it, and no session that could be pushed to", async () => {
    const server = makeServer("stateless");
    const client = await cell.connect(server);
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      await expect(client.request(method, { uri: "test://a" })).rejects.toMatchObject({ code: -32601 });
    }
    expect(await server.push.sessions()).toEqual([]);
    expect(await server.push.broadcast("notifications/message", { level: "info", data: 1 })).toBe(0);
    server.tool("new", {}, () => "new");
    await server.resources.updated("test://a");
    expect(await answersTo(client)).toEqual([]);
    await client.close();
  });
});

describe("a connection without a session", () => {
  test.each(legacyDates)("gets no promise of pushes on %s, whatever the mode", async (date) => {
    for (const mode of ["both", "stateful", "stateless"] as const) {
      const peer = new RawPeer(makeServer(mode), date);
      expect(await peer.say(initializeRequest(1, date))).toMatchObject({
        result: { capabilities: notPushing },
      });
      expect(JSON.stringify((await peer.say(initializeRequest(1, date)))?.result ?? {})).not.toContain(
        "listChanged",
      );
      const subscribe = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "test://a" } };
      expect(await peer.say(subscribe)).toMatchObject({ error: { code: -32601 } });
    }
  });
});

describe("modes that cannot work", () => {
  test("an unknown mode throws when the server is made", () => {
    expect(() => makeServer("sometimes" as ServerMode)).toThrow(ConfigurationError);
    expect(() => makeServer("sometimes" as ServerMode)).toThrow('"both", "stateful" or "stateless"');
  });

  test("requireInitialized without sessions throws, and names the modes that have them", () => {
    const make = (): McpServer =>
      new McpServer({ name: "test", version: "1.0.0" }, { mode: "stateless", requireInitialized: true });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(/requireInitialized.*both.*stateful/);
  });
});
