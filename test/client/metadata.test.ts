// Metadata and capabilities: the keys of `_meta`, values that only the protocol defines, and extensions of both sides.
import { connect, type ConnectOptions, type McpClient, NoCommonRevision } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { legacyDates, metaKeys, newestModern } from "../support/revisions.ts";
import { metaOf, Refuse, said, type ScriptedOptions, ScriptedServer } from "../support/scripted-wire.ts";

async function open(
  scripted: ScriptedOptions,
  options: ConnectOptions = {},
): Promise<{ server: ScriptedServer; client: McpClient }> {
  const server = new ScriptedServer(scripted);
  server.on("work", () => ({})).on("tools/call", () => said("done"));
  const client = await connect(server, { backoff: { firstMs: 1 }, ...options });
  onTestFinished(() => client.close());
  return { server, client };
}

const dates = protocolRevisions.map(({ date }) => date);

describe.each(dates)("the caller's _meta on %s", (revision) => {
  test("may have keys with a prefix of one's own, or none [META-KEY-PREFIX, META-KEY-NAME]", async () => {
    const { server, client } = await open({ revision });
    const own = { "com.example/a.b_c-d": 1, "example/": 2, "a-1.b/x": 3, plain: 4, x: 5, "mcp.example/x": 6 };
    await client.request("work", { _meta: own });
    await client.notify("notifications/custom", { _meta: own });
    expect(metaOf(server.of("work")[0] ?? {})).toMatchObject(own);
    expect(metaOf(server.of("notifications/custom")[0] ?? {})).toEqual(own);
  });

  test.each([
    ["a prefix", "1abc/x"],
    ["a prefix", "-a.b/x"],
    ["a prefix", "a-.b/x"],
    ["a prefix", "a..b/x"],
    ["a prefix", "/x"],
    ["a prefix", "a b/x"],
    ["a name", "com.example/-x"],
    ["a name", "com.example/x_"],
    ["a name", "com.example/a/b"],
    ["a name", "bad key"],
    ["a reserved prefix", "io.modelcontextprotocol/mine"],
    ["a reserved prefix", "dev.mcp/mine"],
    ["a reserved prefix", "com.mcp.tools/mine"],
  ])(
    "cannot have %s such as %j: nothing is sent [META-KEY-PREFIX, META-KEY-NAME, META-RESERVED]",
    async (_, key) => {
      const { server, client } = await open({ revision });
      const params = { _meta: { fine: 1, [key]: 1 } };
      await expect(client.request("work", params)).rejects.toThrow(`_meta has the key "${key}"`);
      await expect(client.notify("notifications/custom", params)).rejects.toThrow(RangeError);
      expect([...server.of("work"), ...server.of("notifications/custom")]).toEqual([]);
    },
  );

  test("carries a trace context unchanged, with each attempt, and the client makes none up [META-OTEL]", async () => {
    const { server, client } = await open({ revision });
    const trace = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
      baggage: "userId=alice,isProduction=false",
    };
    let calls = 0;
    server.on("prompts/get", (_, end) => (++calls === 1 ? void end.cut() : {}));
    await client.request("prompts/get", { name: "a", _meta: trace });
    await client.request("work");
    expect(server.of("prompts/get")).toHaveLength(2);
    for (const request of server.of("prompts/get")) expect(metaOf(request)).toMatchObject(trace);
    for (const key of Object.keys(trace)) expect(metaOf(server.of("work")[0] ?? {})).not.toHaveProperty(key);
  });

  test("of results is handed on as it came, whatever reserved keys hold [META-NO-ASSUME]", async () => {
    const { server, client } = await open({ revision });
    const odd = [7, "text", null, [], { name: 1 }, true];
    for (const value of odd) {
      const _meta = {
        "io.modelcontextprotocol/unheard-of": value,
        [metaKeys.serverInfo]: value,
        [metaKeys.subscriptionId]: value,
        progressToken: value,
      };
      server.on("tools/call", (_, end) => {
        end.notify("notifications/message", { level: "info", data: 1, _meta });
        end.notify("notifications/tools/list_changed", { _meta });
        return { ...said("done"), _meta };
      });
      expect(await client.callTool("a")).toMatchObject({ content: [{ text: "done" }], _meta });
    }
    expect(server.ends).toHaveLength(1);
  });
});

test("a server whose info is none, where a reserved key holds it, has none [META-NO-ASSUME]", async () => {
  for (const value of [7, "text", null, [], { name: 1 }]) {
    const server = new ScriptedServer().on("server/discover", () => ({
      supportedVersions: [newestModern],
      capabilities: {},
      _meta: { [metaKeys.serverInfo]: value },
    }));
    await using client = await connect(server);
    expect(client.server).toBeUndefined();
    expect(client.revision).toBe(newestModern);
  }
});

describe("extensions", () => {
  const declared = (server: ScriptedServer): unknown =>
    metaOf(server.of("work")[0] ?? {})[metaKeys.clientCapabilities];

  test("are declared with their settings, or with none, in every request [VER-EXT-IDENTIFIER, VER-EXT-EMPTY-SETTINGS]", async () => {
    const extensions = { "com.example/maps": {}, "com.example/charts-v2": { kinds: ["bar"] } };
    const { server, client } = await open({}, { capabilities: { extensions } });
    await client.request("work");
    expect(declared(server)).toMatchObject({ extensions });
  });

  test("that the user does not name are not declared [EXT-OFF-BY-DEFAULT]", async () => {
    const { server, client } = await open({});
    await client.request("work");
    expect(declared(server)).toEqual({});
  });

  test.each(["maps", "/maps", "com..example/maps", "1com.example/maps", "com.example/maps!", ""])(
    "cannot be called %j [VER-EXT-IDENTIFIER]",
    async (id) => {
      const server = new ScriptedServer();
      const capabilities = { extensions: { [id]: {} } };
      await expect(connect(server, { capabilities })).rejects.toThrow(
        /must have the form vendor\.prefix\/name/,
      );
      expect(server.ends).toEqual([]);
    },
  );

  test("that only the server has change nothing, and are there to be seen [VER-EXT-FALLBACK]", async () => {
    const capabilities = { tools: {}, extensions: { "com.example/maps": {}, "com.example/x": { a: 1 } } };
    const { client } = await open({ capabilities });
    expect(await client.callTool("a")).toMatchObject({ content: [{ text: "done" }] });
    expect(client.capabilities).toEqual(capabilities);
  });
});

describe.each(dates)("capabilities on %s", (revision) => {
  test("are open: what the client does not know is kept and ignored, and experimental ones go out as given [INIT-CAPS-OPEN-SET]", async () => {
    const capabilities = { tools: { flavour: "new" }, teleport: {}, experimental: { "x-a": { b: 1 } } };
    const experimental = { "x-mine": { c: [2] } };
    const options = { revision, capabilities: { experimental } };
    const { server, client } = await open({ revision, capabilities }, options);
    expect(client.capabilities).toEqual(capabilities);
    expect(await client.callTool("a")).toMatchObject({ content: [{ text: "done" }] });
    const first = server.received[0] ?? {};
    const declared = legacyDates.includes(revision)
      ? first.params?.["capabilities"]
      : metaOf(first)[metaKeys.clientCapabilities];
    expect(declared).toMatchObject({ experimental });
  });
});

test.each(["draft", "DRAFT-2026-v1", "2026-07-28-draft"])(
  "%s is the name of no revision: it is neither asked for nor agreed on [VER-DRAFT-NAME]",
  async (name) => {
    const idle = new ScriptedServer();
    await expect(connect(idle, { revision: name })).rejects.toThrow(/revision must be "auto", "/);
    expect(idle.received).toEqual([]);
    const server = new ScriptedServer().on("server/discover", () => {
      throw new Refuse(-32022, "Unsupported", { supported: [name], requested: newestModern });
    });
    await expect(connect(server)).rejects.toBeInstanceOf(NoCommonRevision);
    expect(server.received.map((request) => metaOf(request)[metaKeys.protocolVersion])).toEqual([
      newestModern,
    ]);
  },
);
