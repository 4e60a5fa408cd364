// The headers of a client's HTTP requests: those that each revision demands, and those of its user.
import { connect } from "halyard/client";
import { describe, expect, test } from "vitest";
import { failing, HttpScript, newestLegacy, newestModern, start } from "../../support/http-script.ts";
import { legacyDates, metaKeys } from "../../support/revisions.ts";

const both = "application/json, text/event-stream";

describe("a modern client", () => {
  test("posts each request alone, with the headers that repeat it [HTTP26-POST-EACH, HTTP26-ACCEPT, HTTP26-META-HEADERS, HTTP26-BODY-SINGLE, HTTP26-VERSION-HEADER, HTTP26-VERSION-HEADER-MATCH, HTTP26-MCP-METHOD, HTTP26-MCP-NAME, BASE-BATCH-REMOVED]", async () => {
    const { server, client } = await start();
    for (const method of ["prompts/get", "resources/read", "work"])
      server.on(method, ({ result }) => result());
    await Promise.all([
      client.request("prompts/get", { name: "greet" }),
      client.request("resources/read", { uri: "note:///a" }),
      client.request("work"),
    ]);
    const posts = server.asked.filter(({ method }) => method === "POST");
    expect(posts).toHaveLength(4);
    for (const { headers, message, path } of posts) {
      const meta = message.params?.["_meta"] as Record<string, unknown>;
      expect(path).toBe("/mcp");
      expect(headers).toMatchObject({
        accept: both,
        "content-type": "application/json",
        "mcp-method": message.method,
      });
      expect(headers["mcp-protocol-version"]).toBe(meta[metaKeys.protocolVersion]);
      expect(headers["mcp-session-id"]).toBeUndefined();
    }
    expect(server.of("prompts/get")[0]?.headers["mcp-name"]).toBe("greet");
    expect(server.of("resources/read")[0]?.headers["mcp-name"]).toBe("note:///a");
    expect(server.of("work")[0]?.headers["mcp-name"]).toBeUndefined();
  });

  test.each([
    ["Zürich", "=?base64?WsO8cmljaA==?="],
    [" spaced ", "=?base64?IHNwYWNlZCA=?="],
    ["=?base64?QQ==?=", "=?base64?PT9iYXNlNjQ/UVE9PT89?="],
    ["a\nb", "=?base64?YQpi?="],
    ["plain name", "plain name"],
  ])("sends the name %j as %s [HTTP26-MCP-NAME-ENCODE]", async (name, header) => {
    const { server, client } = await start();
    server.on("prompts/get", ({ result }) => result());
    await client.request("prompts/get", { name });
    expect(server.of("prompts/get")[0]?.headers["mcp-name"]).toBe(header);
  });

  test("sends methods and names in the case that they have [HTTP26-HEADER-VALUE-CS]", async () => {
    const { server, client } = await start();
    for (const method of ["Work/Hard", "prompts/get"]) server.on(method, ({ result }) => result());
    await client.request("Work/Hard");
    await client.request("prompts/get", { name: "GreeT" });
    expect(server.of("Work/Hard")[0]?.headers["mcp-method"]).toBe("Work/Hard");
    expect(server.of("prompts/get")[0]?.headers).toMatchObject({
      "mcp-method": "prompts/get",
      "mcp-name": "GreeT",
    });
  });

  test.each([
    ["node:http", {}],
    ["fetch", { fetch: globalThis.fetch }],
  ])(
    "compares the names of headers without regard to case, over %s [HTTP26-HEADER-NAME-CI]",
    async (_, way) => {
      const headers = { "X-TEAM": "weather", authorization: "Bearer all" };
      const { server, client } = await start({ headers, ...way });
      server.on("work", ({ result }) => result());
      await client.request("work", {}, { headers: { "x-Team": "rain", AUTHORIZATION: "Bearer own" } });
      expect(server.of("work")[0]?.headers).toMatchObject({ "x-team": "rain", authorization: "Bearer own" });
      for (const name of ["MCP-METHOD", "mCp-PrOtOcOl-vErSiOn"])
        expect(await failing(client.request("work", {}, { headers: { [name]: "x" } }))).toMatchObject({
          code: "INVALID_OPTION",
        });
    },
  );

  test("sends the method of a notification as a header, too [HTTP26-NOTIF-MCP-METHOD-TOLERANT]", async () => {
    const { server, client } = await start();
    await client.notify("notifications/custom", { a: 1 });
    expect(server.of("notifications/custom")[0]?.headers).toMatchObject({
      "mcp-method": "notifications/custom",
      "mcp-protocol-version": newestModern,
    });
  });
});

describe.each(legacyDates)("a client of %s", (revision) => {
  test("posts each message alone, and names the revision once it is agreed on [HTTP-POST-EACH, HTTP-POST-ACCEPT, HTTP-POST-BODY-SINGLE, HTTP-VERSION-HEADER, HTTP-VERSION-HEADER-VALUE, HTTP-VERSION-HEADER-NONE, SESS-ECHO, INIT-RESPECT-VERSION, BASE-BATCH-REMOVED]", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ result }) => result());
    await client.request("work");
    await server.next("GET");
    await client.close();
    const version = revision < "2025-06-18" ? undefined : revision;
    const later = server.asked.slice(1);
    expect(server.asked[0]?.message.method).toBe("initialize");
    expect(server.asked[0]?.headers["mcp-protocol-version"]).toBeUndefined();
    expect(server.asked[0]?.headers["mcp-session-id"]).toBeUndefined();
    expect(later.map(({ method }) => method)).toEqual(expect.arrayContaining(["POST", "GET", "DELETE"]));
    for (const { headers, method, message } of later) {
      expect(headers["mcp-protocol-version"]).toBe(version);
      expect(headers["mcp-session-id"]).toBe("session-1");
      expect(headers["mcp-method"]).toBeUndefined();
      if (method !== "POST") continue;
      expect(message).not.toBeInstanceOf(Array);
      expect(headers.accept).toBe(both);
    }
  });
});

test("initialize names no revision, although the client has probed for a modern one before [HTTP-VERSION-HEADER]", async () => {
  const server = await HttpScript.open(newestLegacy);
  server.on("server/discover", ({ refuse }) => refuse(400, "Missing session"));
  const client = await connect(server.url);
  await client.close();
  const [probe] = server.of("server/discover");
  const [first] = server.of("initialize");
  expect(probe?.headers["mcp-protocol-version"]).toBe(newestModern);
  expect(first?.headers["mcp-protocol-version"]).toBeUndefined();
  expect(first?.headers["mcp-method"]).toBeUndefined();
  expect(server.of("notifications/initialized")[0]?.headers["mcp-protocol-version"]).toBe(newestLegacy);
});

describe.each([newestModern, newestLegacy])("headers of the user, on %s", (revision) => {
  test("go with every request, and those of a call with that call", async () => {
    const { server, client } = await start({ revision, headers: { "X-Team": "weather" } });
    server.on("work", ({ result }) => result());
    await client.request("work", {}, { headers: { "X-Call": "1", Authorization: "Bearer own" } });
    await client.request("work");
    const [first, second] = server.of("work");
    expect(first?.headers).toMatchObject({ "x-team": "weather", "x-call": "1", authorization: "Bearer own" });
    expect(second?.headers).toMatchObject({ "x-team": "weather" });
    expect(second?.headers["x-call"]).toBeUndefined();
    expect(second?.headers.authorization).toBeUndefined();
  });

  test.each([
    "Accept",
    "content-type",
    "MCP-Protocol-Version",
    "Mcp-Session-Id",
    "mcp-method",
    "Last-Event-ID",
    "Host",
  ])("must not set %s", async (name) => {
    const { server, client } = await start({ revision });
    const error = await failing(client.request("work", {}, { headers: { [name]: "x" } }));
    expect(error).toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining(name) });
    expect(server.of("work")).toEqual([]);
  });
});

test.each([
  [{ Accept: "text/html" }, "Accept"],
  [{ "X-A": "1\r\nX-B: 2" }, "X-A"],
  [{ "X A": "1" }, "X A"],
])("connect refuses the headers %j", async (headers, named) => {
  const server = await HttpScript.open();
  const error = await failing(connect(server.url, { headers }));
  expect(error).toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining(named) });
  expect(server.asked).toEqual([]);
});

test.each(["ftp://example.com/mcp", "https://user:secret@example.com/mcp"])(
  "connect refuses %s",
  async (url) => {
    const error = await failing(connect(url));
    expect(error).toMatchObject({ code: "INVALID_OPTION" });
    expect(error.message).not.toContain("secret");
  },
);
