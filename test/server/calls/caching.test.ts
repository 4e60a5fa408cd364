// Cache hints: on the six results that must have them, with safe defaults, and never for legacy clients.
import { McpServer, ProtocolError, type ServerOptions } from "halyard";
import { Connection } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { makeServer, open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

const requests: [string, object][] = [
  ["server/discover", {}],
  ["tools/list", {}],
  ["prompts/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["resources/read", { uri: "note:///a" }],
  ["resources/read", { uri: "file:///a" }],
];

function fullServer(options?: ServerOptions): McpServer {
  const { server } = makeServer(options);
  server.tool("t", {}, () => "");
  server.prompt("p", {}, () => "");
  server.resource("note:///a", {}, () => "A");
  server.resourceTemplate("file:///{name}", {}, () => "F");
  return server;
}

describeMatrix("cache hints", { eras: ["modern"] }, (cell) => {
  test.each(requests)(
    "%s %j is neither to be kept nor shared by default [CACHE-FIELDS-REQUIRED, CACHE-TTL-NONNEG, CACHE-SCOPE-VALUES, CACHE-PUBLIC-AWARE]",
    async (method, params) => {
      const client = await open(cell, fullServer());
      const result = await client.request(method, { ...params });
      expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
    },
  );

  test("every list takes a hint of its own [CACHE-FIELDS-REQUIRED, CACHE-PUBLIC]", async () => {
    const server = fullServer({
      cache: {
        "server/discover": { ttlMs: 1, scope: "public" },
        "tools/list": { ttlMs: 2 },
        "prompts/list": { scope: "public" },
        "resources/list": { ttlMs: 4, scope: "private" },
        "resources/templates/list": { ttlMs: 5 },
      },
    });
    const client = await open(cell, server);
    const hint = async (method: string): Promise<unknown[]> => {
      const { ttlMs, cacheScope } = await client.request(method);
      return [ttlMs, cacheScope];
    };
    expect(await hint("server/discover")).toEqual([1, "public"]);
    expect(await hint("tools/list")).toEqual([2, "private"]);
    expect(await hint("prompts/list")).toEqual([0, "public"]);
    expect(await hint("resources/list")).toEqual([4, "private"]);
    expect(await hint("resources/templates/list")).toEqual([5, "private"]);
  });

  test("a resource and a template have a hint of their own [CACHE-FIELDS-REQUIRED]", async () => {
    const { server } = makeServer();
    const handle = server.resource("note:///a", { cache: { ttlMs: 60_000, scope: "public" } }, () => "A");
    server.resourceTemplate("file:///{name}", { cache: { ttlMs: 10 } }, () => "F");
    const client = await open(cell, server);
    const read = (uri: string) => client.request("resources/read", { uri });
    expect(await read("note:///a")).toMatchObject({ ttlMs: 60_000, cacheScope: "public" });
    expect(await read("file:///x")).toMatchObject({ ttlMs: 10, cacheScope: "private" });
    handle.update({ cache: { ttlMs: 5 } });
    expect(await read("note:///a")).toMatchObject({ ttlMs: 5, cacheScope: "private" });
  });

  test("all pages of a list have the same scope [CACHE-PAGES-SCOPE]", async () => {
    const { server } = makeServer({ pageSize: 2, cache: { "tools/list": { ttlMs: 7, scope: "public" } } });
    for (let index = 0; index < 7; index++) server.tool(`t${index}`, {}, () => "");
    const client = await open(cell, server);
    let cursor: unknown;
    let pages = 0;
    do {
      const page = await client.request("tools/list", cursor === undefined ? {} : { cursor });
      expect(page).toMatchObject({ ttlMs: 7, cacheScope: "public" });
      cursor = page["nextCursor"];
      pages++;
    } while (cursor !== undefined);
    expect(pages).toBe(4);
  });

  test("results that may not be cached carry no hint", async () => {
    const server = fullServer();
    server.completion(() => []);
    const client = await open(cell, server);
    const others = [
      await client.request("tools/call", { name: "t" }),
      await client.request("prompts/get", { name: "p" }),
      await client.request("completion/complete", {
        ref: { type: "ref/prompt", name: "p" },
        argument: { name: "a", value: "" },
      }),
    ];
    for (const result of others) {
      expect(result).toHaveProperty("resultType", "complete");
      expect(result).not.toHaveProperty("ttlMs");
      expect(result).not.toHaveProperty("cacheScope");
    }
  });
});

describeMatrix("cache hints", { eras: ["legacy"] }, (cell) => {
  test.each(requests.slice(1))("%s %j carries no hint", async (method, params) => {
    const server = fullServer({ cache: { "tools/list": { ttlMs: 9, scope: "public" } } });
    const result = await (await open(cell, server)).request(method, { ...params });
    expect(result).not.toHaveProperty("ttlMs");
    expect(result).not.toHaveProperty("cacheScope");
    expect(result).not.toHaveProperty("resultType");
  });
});

describe("access", () => {
  const meta = {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const ask = (server: McpServer, subject: string, method: string, params: object = {}) =>
    server.handle(
      { jsonrpc: "2.0", id: 1, method, params: { ...params, ...meta } },
      { connection: new Connection({ transport: "test", principal: { issuer: "https://as", subject } }) },
    );

  test("a list that middleware cuts for one caller is whole for the next, whatever the scope says [CACHE-NOT-ACL, CACHE-PRIVATE]", async () => {
    const { server } = makeServer({ cache: { "tools/list": { ttlMs: 60_000, scope: "public" } } });
    server.tool("open", {}, () => "");
    server.tool("admin", {}, () => "");
    server.resource("note:///a", { cache: { ttlMs: 60_000, scope: "public" } }, () => "A");
    server.use("tools/list", async (_, ctx, next) => {
      const page = await next();
      if (ctx.principal?.subject === "root") return page;
      return { ...page, tools: page.tools.filter((tool) => tool["name"] !== "admin") };
    });
    server.use("resources/read", (_, ctx, next) => {
      if (ctx.principal?.subject !== "root") throw new ProtocolError(-31403, "Not for you");
      return next();
    });
    for (let round = 0; round < 2; round++) {
      expect(await ask(server, "ada", "tools/list")).toMatchObject({ result: { tools: [{ name: "open" }] } });
      expect(await ask(server, "root", "tools/list")).toMatchObject({
        result: { tools: [{ name: "open" }, { name: "admin" }] },
      });
      const uri = "note:///a";
      expect(await ask(server, "root", "resources/read", { uri })).toHaveProperty("result");
      expect(await ask(server, "ada", "resources/read", { uri })).toMatchObject({ error: { code: -31403 } });
    }
  });

  test("what middleware does to a list in place is not seen by the next caller [CACHE-PRIVATE]", async () => {
    const { server } = makeServer();
    server.tool("open", {}, () => "");
    server.tool("admin", {}, () => "");
    server.use("tools/list", async (_, ctx, next) => {
      const page = await next();
      if (ctx.principal?.subject !== "root") {
        try {
          (page.tools as unknown[]).pop();
        } catch {
          // Frozen is as good as not shared.
        }
      }
      return page;
    });
    await ask(server, "ada", "tools/list");
    expect(await ask(server, "root", "tools/list")).toMatchObject({
      result: { tools: [{ name: "open" }, { name: "admin" }] },
    });
  });
});

describe("cache options", () => {
  const bad = [{ ttlMs: -1 }, { ttlMs: 1.5 }, { ttlMs: Number.NaN }, { ttlMs: "5" }, { scope: "shared" }];

  test.each(bad)("%j is refused wherever it is given [CACHE-TTL-NONNEG, CACHE-SCOPE-VALUES]", (hint) => {
    const cache = hint as never;
    const inOptions = expect.objectContaining({ name: "ConfigurationError", code: "INVALID_OPTION" });
    expect(() => makeServer({ cache: { "tools/list": cache } })).toThrow(inOptions);
    const mistake = expect.objectContaining({ name: "ConfigurationError", code: "INVALID_DEFINITION" });
    const { server } = makeServer();
    expect(() => server.resource("a:b", { cache }, () => "")).toThrow(mistake);
    expect(() => server.resourceTemplate("a:{b}", { cache }, () => "")).toThrow(mistake);
    const resource = server.resource("a:b", {}, () => "");
    const template = server.resourceTemplate("a:{b}", {}, () => "");
    expect(() => resource.update({ cache })).toThrow(mistake);
    expect(() => template.update({ cache })).toThrow(mistake);
  });
});
