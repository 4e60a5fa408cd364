// server/discover: how a modern client learns what there is, without a handshake.
import { McpServer, type ServerOptions } from "halyard";
import { describe, expect, test } from "vitest";
import { describeMatrix } from "../../support/matrix.ts";
import {
  legacyDates,
  metaKeys,
  modernDates,
  modernMeta,
  modernRequest,
  newestModern,
  RawPeer,
} from "../../support/raw.ts";

const info = {
  name: "found",
  version: "2.0.0",
  title: "Found",
  icons: [{ src: "data:image/png;base64,AA==" }],
};

function makeServer(options?: ServerOptions): McpServer {
  const server = new McpServer(info, options);
  server.tool("ping", {}, () => "pong");
  return server;
}

describeMatrix("server/discover", { eras: ["modern"] }, (cell) => {
  test("has everything a discover result has, and no serverInfo in its body [VER-DISCOVER-IMPLEMENT, VER-DISCOVER-RESULT-FIELDS, VER-DISCOVER-SERVERINFO-META, BASE-RESULTTYPE-REQUIRED]", async () => {
    const client = await cell.connect(makeServer());
    expect(await client.request("server/discover")).toEqual({
      resultType: "complete",
      supportedVersions: [...modernDates, ...legacyDates],
      capabilities: { tools: { listChanged: true }, logging: {} },
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [metaKeys.serverInfo]: info },
    });
    await client.close();
  });

  test("carries the instructions and the cache hint that were configured [VER-DISCOVER-RESULT-FIELDS]", async () => {
    const cache = { "server/discover": { ttlMs: 60_000, scope: "public" } } as const;
    const client = await cell.connect(makeServer({ instructions: "Ping me", cache }));
    expect(await client.request("server/discover")).toMatchObject({
      instructions: "Ping me",
      ttlMs: 60_000,
      cacheScope: "public",
    });
    await client.close();
  });

  test("advertises every feature that is in use [VER-CAP-SERVER-ADVERTISE]", async () => {
    const server = makeServer({ capabilities: { experimental: { x: { y: 1 } } } });
    const client = await cell.connect(server);
    const capabilities = async (): Promise<unknown> =>
      (await client.request("server/discover"))["capabilities"];
    expect(await capabilities()).not.toHaveProperty("prompts");
    server.prompt("hello", {}, () => "Hello");
    server.resource("test://a", {}, () => "a");
    server.completion(() => []);
    server.extension("com.example/clock", { settings: { zone: "UTC" } });
    expect(await capabilities()).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
      experimental: { x: { y: 1 } },
      extensions: { "com.example/clock": { zone: "UTC" } },
    });
    await client.close();
  });

  test("is not needed before anything else, and may be asked again [VER-DISCOVER-IMPLEMENT]", async () => {
    const client = await cell.connect(makeServer());
    expect(await client.request("tools/call", { name: "ping" })).toMatchObject({
      content: [{ text: "pong" }],
    });
    expect(await client.request("server/discover")).toEqual(await client.request("server/discover"));
    await client.close();
  });
});

describe("server/discover without a stream", () => {
  test("advertises no pushes: there is no way for them to arrive", async () => {
    const server = makeServer();
    server.resource("test://a", {}, () => "a");
    const peer = new RawPeer(server, newestModern);
    expect(await peer.request("server/discover")).toMatchObject({
      result: { capabilities: { tools: {}, resources: {} } },
    });
    const { result } = await peer.request("server/discover");
    expect(JSON.stringify(result)).not.toMatch(/listChanged|subscribe/);
  });
});

describe("the _meta of a modern request", () => {
  const ask = (meta: object, method = "tools/list"): Promise<unknown> =>
    new RawPeer(makeServer(), newestModern).say({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta } });

  test.each(["tools/list", "tools/call", "server/discover", "no/such/method", "initialize"])(
    "without a version %s has invalid params that name the key [VER-CAP-EMPTY]",
    async (method) => {
      expect(await ask({ [metaKeys.clientCapabilities]: {} }, method)).toMatchObject({
        id: 1,
        error: { code: -32602, message: expect.stringContaining(metaKeys.protocolVersion) },
      });
    },
  );

  test.each(["tools/list", "tools/call", "server/discover", "no/such/method", "initialize"])(
    "without capabilities %s has invalid params that name the key: they are never guessed [VER-CAP-EMPTY]",
    async (method) => {
      expect(await ask({ [metaKeys.protocolVersion]: newestModern }, method)).toMatchObject({
        id: 1,
        error: { code: -32602, message: expect.stringContaining(metaKeys.clientCapabilities) },
      });
    },
  );

  test.each([null, 20260728, true, ["2026-07-28"], {}])(
    "with the version %j has invalid params",
    async (version) => {
      expect(await ask(modernMeta({ [metaKeys.protocolVersion]: version }))).toMatchObject({
        error: { code: -32602 },
      });
    },
  );

  test.each([null, "all", 1, true, []])(
    "with the capabilities %j has invalid params",
    async (capabilities) => {
      expect(await ask(modernMeta({ [metaKeys.clientCapabilities]: capabilities }))).toMatchObject({
        error: { code: -32602 },
      });
    },
  );

  test.each(["verbose", "", "INFO", 3, null, {}])(
    "with the log level %j has invalid params",
    async (level) => {
      expect(await ask(modernMeta({ [metaKeys.logLevel]: level }))).toMatchObject({
        error: { code: -32602 },
      });
    },
  );

  test.each([undefined, null, "me", {}, { name: "me" }, { version: "1" }, []])(
    "may say %j of the client: nothing depends on it",
    async (clientInfo) => {
      expect(await ask(modernMeta({ [metaKeys.clientInfo]: clientInfo }))).toMatchObject({ result: {} });
    },
  );

  test("server/discover without any _meta has invalid params", async () => {
    const peer = new RawPeer(makeServer(), newestModern);
    expect(await peer.say({ jsonrpc: "2.0", id: 1, method: "server/discover" })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining(metaKeys.protocolVersion) },
    });
  });
});

describeMatrix("a version that is not spoken", { eras: ["modern"] }, (cell) => {
  test.each([
    "1999-12-31",
    "2099-01-01",
    "",
    "draft",
    "DRAFT-2026-v1",
    "DRAFT-2025-v2",
    "2026-07-28-RC",
    "__proto__",
  ])(
    "%j is -32022, with what is spoken and what was asked for [VER-UNSUPPORTED-ERROR, VER-DRAFT-NAME, BASE-ERR-MCP-RANGE-MEANING]",
    async (requested) => {
      const client = await cell.connect(makeServer());
      const supported = [...modernDates, ...legacyDates];
      const _meta = { [metaKeys.protocolVersion]: requested };
      for (const method of ["tools/list", "server/discover", "no/such/method", "subscriptions/listen"]) {
        await expect(client.request(method, { _meta }), method).rejects.toMatchObject({
          code: -32022,
          data: { supported, requested },
        });
      }
      await client.close();
    },
  );

  test.each(legacyDates)(
    "%s needs a handshake, so in _meta it is -32022 and says so [VER-UNSUPPORTED-ERROR]",
    async (requested) => {
      const client = await cell.connect(makeServer());
      const failure = client.request("tools/list", { _meta: { [metaKeys.protocolVersion]: requested } });
      await expect(failure).rejects.toMatchObject({
        code: -32022,
        message: expect.stringContaining("initialize"),
        data: { supported: expect.arrayContaining([newestModern]), requested },
      });
      await client.close();
    },
  );

  test("no draft name is among what is spoken [VER-DRAFT-NAME]", async () => {
    const client = await cell.connect(makeServer());
    const { supportedVersions } = await client.request("server/discover");
    for (const version of supportedVersions as string[]) expect(version).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    await client.close();
  });
});

describe("which error comes first", () => {
  test("an incomplete _meta, then the version, then the method, then the capability [VER-UNSUPPORTED-ERROR, VER-CAP-MISSING-ERROR]", async () => {
    const server = makeServer();
    server.tool("ask", { requires: { sampling: {} } }, () => "asked");
    const peer = new RawPeer(server, newestModern);
    const codeOf = async (method: string, meta: object): Promise<unknown> =>
      (await peer.say({ jsonrpc: "2.0", id: 1, method, params: { name: "ask", _meta: meta } }))?.error?.code;
    expect(await codeOf("no/such", { [metaKeys.protocolVersion]: "1999-12-31" })).toBe(-32602);
    expect(await codeOf("no/such", modernMeta({ [metaKeys.protocolVersion]: "1999-12-31" }))).toBe(-32022);
    expect(await codeOf("no/such", modernMeta())).toBe(-32601);
    expect(await codeOf("tools/call", modernMeta())).toBe(-32021);
  });

  test("the id comes back with each of them [BASE-RESP-ID-ECHO]", async () => {
    const peer = new RawPeer(makeServer(), newestModern);
    for (const [id, meta] of Object.entries({
      a: { [metaKeys.protocolVersion]: 1 },
      b: { [metaKeys.protocolVersion]: "1" },
    })) {
      expect((await peer.say(modernRequest(id, "tools/list", {}, meta)))?.id).toBe(id);
    }
  });
});
