// _meta, annotations and icons: what may be said of things, and what is checked when it is.
import { ConfigurationError, McpServer } from "halyard";
import { Connection } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { makeServer, open, refusal, textOf } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

/** Registers one of each kind with the same extra fields. */
const kinds: [string, (server: McpServer, fields: object) => unknown][] = [
  ["tool", (server, fields) => server.tool("x", { ...fields }, () => "")],
  ["prompt", (server, fields) => server.prompt("x", { ...fields }, () => "")],
  ["resource", (server, fields) => server.resource("x:y", { ...fields }, () => "")],
  ["resource template", (server, fields) => server.resourceTemplate("x:{y}", { ...fields }, () => "")],
];

function mistake(field: string, inside = "") {
  return expect.objectContaining({
    name: ConfigurationError.name,
    code: "INVALID_DEFINITION",
    subject: expect.stringContaining("x"),
    field: inside === "" ? field : `${field}.${inside}`,
  });
}

describe.each(kinds)("_meta of a %s", (_, register) => {
  test.each([
    "plain",
    "traceparent",
    "com.example/key",
    "example.com/a.b_c-d",
    "a/1",
    "com.example/",
    "co-op.example/K",
    "mcp.dev/own",
    "com.example.mcp/key",
  ])("the key %s is taken [META-KEY-PREFIX, META-KEY-NAME]", (key) => {
    expect(() => register(makeServer().server, { _meta: { [key]: 1 } })).not.toThrow();
  });

  test.each(["1abc.com/k", "-a/k", "a-/k", "a..b/k", ".a/k", "/k", "a b/k", "a_b/k", "a/b/c", "ex.com-/k"])(
    "the key %s is refused for its prefix [META-KEY-PREFIX]",
    (key) => {
      expect(() => register(makeServer().server, { _meta: { [key]: 1 } })).toThrow(mistake("_meta"));
    },
  );

  test.each(["a/-k", "a/k-", "a/.k", "a/k.", "a/_k", "a/k_", "k k", "-k", "a/ü"])(
    "the key %s is refused for its name [META-KEY-NAME]",
    (key) => {
      expect(() => register(makeServer().server, { _meta: { [key]: 1 } })).toThrow(mistake("_meta"));
    },
  );

  test.each([
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/own",
    "dev.mcp/k",
    "tools.mcp.com/k",
    "api.modelcontextprotocol.org/k",
  ])("the key %s is refused, since its prefix is reserved [META-RESERVED]", (key) => {
    expect(() => register(makeServer().server, { _meta: { [key]: 1 } })).toThrow(mistake("_meta"));
  });

  test("_meta that JSON cannot write is refused", () => {
    expect(() => register(makeServer().server, { _meta: { k: 1n } })).toThrow(mistake("_meta"));
    const cycle: Record<string, unknown> = {};
    cycle["k"] = cycle;
    expect(() => register(makeServer().server, { _meta: cycle })).toThrow(mistake("_meta"));
  });

  test.each([
    ["no src", {}],
    ["a path", { src: "/icon.png" }],
    ["javascript:", { src: "javascript:alert(1)" }],
    ["file:", { src: "file:///icon.png" }],
    ["ftp:", { src: "ftp://example.com/i.png" }],
    ["sizes that are no list", { src: "https://e.com/i", sizes: "48x48" }],
    ["a size of its own", { src: "https://e.com/i", sizes: ["48"] }],
    ["a theme of its own", { src: "https://e.com/i", theme: "blue" }],
  ])("an icon with %s is refused [ICON-SHAPE]", (_title, icon) => {
    const wrong = Object.keys(icon).at(-1) ?? "src";
    expect(() => register(makeServer().server, { icons: [icon] })).toThrow(mistake("icons", wrong));
  });

  test("well-formed icons are taken [ICON-SHAPE]", () => {
    const icons = [
      { src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48", "96x96"], theme: "light" },
      { src: "http://example.com/i.svg", sizes: ["any"], theme: "dark" },
      { src: "data:image/png;base64,AA==" },
    ];
    expect(() => register(makeServer().server, { icons })).not.toThrow();
  });

  test("a title or description that is not a string is refused", () => {
    expect(() => register(makeServer().server, { title: 5 })).toThrow(mistake("title"));
    expect(() => register(makeServer().server, { description: {} })).toThrow(mistake("description"));
  });
});

describe.each(kinds.slice(2))("annotations of a %s", (_, register) => {
  test.each([
    { priority: -0.1 },
    { priority: 1.1 },
    { priority: Number.NaN },
    { audience: ["everyone"] },
    { audience: ["user", ""] },
    { lastModified: "yesterday" },
    { lastModified: "2026-13-45" },
  ])("%j is refused [ANNOT-RANGE]", (annotations) => {
    const [wrong] = Object.keys(annotations);
    expect(() => register(makeServer().server, { annotations })).toThrow(mistake("annotations", wrong));
  });

  test.each([
    { priority: 0 },
    { priority: 1, audience: [] },
    { audience: ["user", "assistant"] },
    { lastModified: "2026-01-31" },
    { lastModified: "2026-01-31T12:00:00Z" },
    { lastModified: "2026-01-31T12:00:00.5+02:00" },
  ])("%j is taken [ANNOT-RANGE]", (annotations) => {
    expect(() => register(makeServer().server, { annotations })).not.toThrow();
  });
});

describe("the server itself", () => {
  test("its icons are checked like any other [ICON-SHAPE]", () => {
    const info = { name: "x", version: "1" };
    expect(() => new McpServer({ ...info, icons: [{ src: "https://example.com/i.png" }] })).not.toThrow();
    for (const icons of [[{ src: "javascript:alert(1)" }], [{ src: "https://e.com", sizes: ["big"] }]]) {
      expect(() => new McpServer({ ...info, icons })).toThrow(
        expect.objectContaining({ name: ConfigurationError.name, field: expect.stringMatching(/^icons\./) }),
      );
    }
  });

  test.each([
    [undefined, "info"],
    [{ name: "", version: "1" }, "name"],
    [{ name: "x", version: "" }, "version"],
    [{ name: "x" }, "version"],
    [{ name: 5, version: "1" }, "name"],
  ])("%j is refused for its %s", (info, field) => {
    expect(() => new McpServer(info as never)).toThrow(
      expect.objectContaining({ name: ConfigurationError.name, subject: "server", field }),
    );
  });
});

describeMatrix("_meta on the wire", {}, (cell) => {
  test("a handler sees the request's _meta as it came, trace context included [META-OTEL, META-NO-ASSUME]", async () => {
    const { server } = makeServer();
    server.tool("meta", {}, (_, ctx) => JSON.stringify(ctx.meta));
    const client = await open(cell, server);
    const _meta = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
      tracestate: "vendor=1",
      baggage: "user=ada",
      // Reserved, but nothing we know: whatever its value, it changes nothing.
      "io.modelcontextprotocol/unheardOf": { deep: [1, null] },
      "dev.mcp/other": 5,
    };
    const result = await client.request("tools/call", { name: "meta", _meta });
    expect(JSON.parse(textOf(result as never))).toMatchObject(_meta);
  });

  test("what the client says it is changes nothing [META-INFO-NOT-TRUSTED]", async () => {
    const { server } = makeServer();
    server.tool("who", {}, (_, ctx) => JSON.stringify(ctx.client ?? null));
    const client = await open(cell, server);
    const odd = { "io.modelcontextprotocol/clientInfo": { name: 5 } };
    const result = await client.request("tools/call", { name: "who", _meta: odd });
    expect(textOf(result as never)).toBe(
      cell.era === "modern" ? "null" : '{"name":"test-client","version":"1.0.0"}',
    );
  });

  test("a handler's own _meta is kept beside the server's [META-RES-SERVERINFO]", async () => {
    const { server } = makeServer();
    server.prompt("p", {}, () => ({
      messages: [],
      _meta: { "example.com/k": 1, "io.modelcontextprotocol/serverInfo": { name: "forged" } },
    }));
    const { _meta } = await (await open(cell, server)).request("prompts/get", { name: "p" });
    expect(_meta).toMatchObject({ "example.com/k": 1 });
    if (cell.era === "modern") {
      expect(_meta).toMatchObject({
        "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" },
      });
    }
  });
});

describeMatrix("_meta of modern requests", { eras: ["modern"] }, (cell) => {
  test("every result says who answered [META-RES-SERVERINFO]", async () => {
    const { server } = makeServer();
    server.tool("t", {}, () => "");
    server.prompt("p", {}, () => "");
    server.resource("a:b", {}, () => "");
    const client = await open(cell, server);
    const results = [
      await client.request("server/discover"),
      await client.request("tools/list"),
      await client.request("tools/call", { name: "t" }),
      await client.request("prompts/get", { name: "p" }),
      await client.request("resources/read", { uri: "a:b" }),
    ];
    for (const { _meta } of results) {
      expect(_meta).toEqual({ "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" } });
    }
  });

  test.each(["protocolVersion", "clientCapabilities"])(
    "a request without %s is -32602 [META-REQ-MISSING]",
    async (missing) => {
      const { server } = makeServer();
      let runs = 0;
      server.tool("t", {}, () => `${++runs}`);
      const client = await open(cell, server);
      const _meta = { [`io.modelcontextprotocol/${missing}`]: undefined };
      const error = await refusal(client.request("tools/call", { name: "t", _meta }));
      expect(error.code).toBe(-32602);
      expect(error.message).toContain(missing);
      expect(runs).toBe(0);
    },
  );
});

describe("capabilities and the caller", () => {
  test("nothing is remembered from one modern request to the next", async () => {
    const { server } = makeServer();
    server.tool("needs", { requires: { sampling: {} } }, () => "ok");
    const connection = new Connection({ transport: "test" });
    const ask = (clientCapabilities: object) =>
      server.handle(
        {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "needs",
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
            },
          },
        },
        { connection },
      );
    expect(await ask({ sampling: {} })).toHaveProperty("result");
    expect(await ask({})).toMatchObject({ error: { code: -32021 } });
  });
});
