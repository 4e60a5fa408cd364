// `list` on a resource template: what it lists is in resources/list, for the caller alone.
import { ConfigurationError, type Context, McpServer, type Principal, ProtocolError } from "halyard";
import type { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { heard, makeServer, open, refusal } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { edges, sendModern, serve } from "../../support/sessions.ts";

const read = () => "text";

/** The URIs of every page. */
async function pages(client: TestClient): Promise<string[][]> {
  const found: string[][] = [];
  let cursor: unknown;
  do {
    const page = await client.request("resources/list", cursor === undefined ? {} : { cursor });
    found.push((page["resources"] as { uri: string }[]).map(({ uri }) => uri));
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return found;
}

const notes = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ uri: `${prefix}:${at}` }));

describeMatrix("list of a template", {}, (cell) => {
  test("adds what it lists after the resources, as the revision shows resources", async () => {
    const { server } = makeServer();
    server.resource("a:static", { name: "static" }, read);
    server.resourceTemplate(
      "n:{id}",
      {
        mimeType: "text/plain",
        list: async () => [
          { uri: "n:1", name: "one", title: "One", size: 3 },
          { uri: "n:2", mimeType: "text/html" },
        ],
      },
      read,
    );
    server.resourceTemplate("m:{id}", { list: () => ({ resources: [{ uri: "m:1", unknown: 1 }] }) }, read);
    server.resourceTemplate("o:{id}", {}, read);
    const { resources } = await (await open(cell, server)).request("resources/list");
    const title = cell.revision >= "2025-06-18" ? { title: "One" } : {};
    expect(resources).toEqual([
      { uri: "a:static", name: "static" },
      { uri: "n:1", name: "one", ...title, size: 3, mimeType: "text/plain" },
      { uri: "n:2", name: "n:2", mimeType: "text/html" },
      { uri: "m:1", name: "m:1" },
    ]);
  });

  test("is in pages together with the resources, wherever a page ends", async () => {
    for (const pageSize of [1, 2, 3, 4, 5, 9, 100]) {
      const { server } = makeServer({ pageSize });
      for (const { uri } of notes("s", 3)) server.resource(uri, {}, read);
      server.resourceTemplate("a:{id}", { list: () => notes("a", 4) }, read);
      server.resourceTemplate("b:{id}", { list: () => [] }, read);
      server.resourceTemplate("c:{id}", { list: () => notes("c", 2) }, read);
      const found = await pages(await open(cell, server));
      expect(found.flat()).toEqual(
        [...notes("s", 3), ...notes("a", 4), ...notes("c", 2)].map(({ uri }) => uri),
      );
      expect(found.every((page) => page.length <= pageSize)).toBe(true);
    }
  });

  test("leaves out what is registered as a resource", async () => {
    const { server } = makeServer();
    server.resource("n:1", { name: "own" }, read);
    server.resourceTemplate("n:{id}", { list: () => [{ uri: "n:1" }, { uri: "n:2" }] }, read);
    expect((await pages(await open(cell, server))).flat()).toEqual(["n:1", "n:2"]);
  });

  test("runs with the context of the request, and is not to be shared", async () => {
    const { server } = makeServer({ cache: { "resources/list": { ttlMs: 60_000, scope: "public" } } });
    const seen: unknown[] = [];
    server.resourceTemplate(
      "n:{id}",
      {
        list: (ctx: Context) => (seen.push([ctx.method, ctx.revision, ctx.client?.name]), notes("n", 1)),
      },
      read,
    );
    const page = await (await open(cell, server)).request("resources/list");
    expect(seen).toEqual([["resources/list", cell.revision, "test-client"]]);
    if (cell.era === "modern") expect(page).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
    else expect(page).not.toHaveProperty("cacheScope");
  });

  test("that fails, or returns what is no list, is an error id, and the log says why", async () => {
    const returns = [
      () => {
        throw new Error("hunter2");
      },
      async () => Promise.reject(new Error("hunter2")),
      () => "n:1",
      () => [{ name: "no uri" }],
      () => [null],
      () => undefined,
    ];
    for (const list of returns) {
      const { server, log } = makeServer();
      server.resourceTemplate("n:{id}", { list: list as never }, read);
      const client = await open(cell, server);
      expect((await refusal(client.request("resources/list"))).code).toBe(-32603);
      expect(heard(client)).not.toContain("hunter2");
      expect(log).toHaveLength(1);
      expect(String(log[0]?.details?.["error"])).toMatch(/hunter2|resource template "n:\{id\}" must return/);
    }
  });

  test("may refuse with an error of its own", async () => {
    const { server } = makeServer();
    const list = () => {
      throw new ProtocolError(-31403, "Not for you");
    };
    server.resourceTemplate("n:{id}", { list }, read);
    expect((await refusal((await open(cell, server)).request("resources/list"))).code).toBe(-31403);
  });

  test("a cursor of its own continues where the template has gone, and one that is none is refused", async () => {
    const { server } = makeServer({ pageSize: 1 });
    server.resource("s:1", {}, read);
    const handle = server.resourceTemplate("n:{id}", { list: () => notes("n", 3) }, read);
    const client = await open(cell, server);
    const first = await client.request("resources/list");
    const second = await client.request("resources/list", { cursor: first["nextCursor"] });
    expect(second["resources"]).toMatchObject([{ uri: "n:0" }]);
    handle.remove();
    const gone = await client.request("resources/list", { cursor: second["nextCursor"] });
    expect([gone["resources"], gone["nextCursor"]]).toEqual([[], undefined]);
    for (const place of ['["tools",1,1]', '["resources",1,1,1]', '["resources",1,01]', '["resources",0,1]']) {
      const cursor = Buffer.from(place).toString("base64url");
      expect((await refusal(client.request("resources/list", { cursor }))).code).toBe(-32602);
    }
    const elsewhere = Buffer.from('["tools",1,1]').toString("base64url");
    server.tool("t", {}, () => "");
    expect((await refusal(client.request("tools/list", { cursor: elsewhere }))).code).toBe(-32602);
  });
});

describe.each(edges)("list of a template with scopes · %s", (edge) => {
  test.each(["usable", "all"] as const)(
    "runs only for callers that have them, with scopedLists %s",
    async (scopedLists) => {
      const server = new McpServer({ name: "test", version: "1.0.0" }, { scopedLists });
      let runs = 0;
      const list = (ctx: Context) => (runs++, notes(ctx.principal?.subject ?? "", 1));
      server.resourceTemplate("n:{id}", { scopes: ["read"], list }, read);
      const auth = (request: { header(name: string): string | undefined }): Principal => ({
        issuer: "https://issuer.example",
        subject: request.header("x-user") ?? "",
        scopes: request.header("x-user") === "ada" ? ["read"] : [],
      });
      const { url } = await serve(server, { auth }, edge);
      const ask = async (user: string): Promise<unknown> =>
        (await sendModern(url, "resources/list", {}, { headers: { "x-user": user } })).json();
      expect(await ask("ada")).toMatchObject({
        result: { resources: [{ uri: "ada:0" }], cacheScope: "private" },
      });
      expect(await ask("bob")).toMatchObject({ result: { resources: [] } });
      expect(runs).toBe(1);
    },
  );
});

test("list that is no function is refused", () => {
  const { server } = makeServer();
  const definition = { list: [] as never };
  expect(() => server.resourceTemplate("n:{id}", definition, read)).toThrow(ConfigurationError);
});
