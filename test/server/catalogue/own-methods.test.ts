// Methods and notifications of one's own, on every revision.
import { ConfigurationError, McpServer } from "halyard";
import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { heard, makeServer, open, refusal } from "../../support/catalogue.ts";
import { paramsOf, settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";
import { edges, sendModern, serve, SessionClient } from "../../support/sessions.ts";

beforeEach(() => allowBeyondSchema("result of acme/", "acme/"));

const search = {
  params: z.strictObject({ query: z.string(), limit: z.number().int().default(2) }),
  result: z.object({ items: z.array(z.string()) }),
};

function searchServer(): ReturnType<typeof makeServer> {
  const made = makeServer();
  made.server.method("acme/search", search, async ({ query, limit }, ctx) => {
    await ctx.notify("acme/searchProgress", { stage: "start" });
    await ctx.notify("acme/searched");
    return { items: Array.from({ length: limit }, (_, at) => `${query}-${at}`) };
  });
  return made;
}

describeMatrix("server.method", {}, (cell) => {
  test("answers with validated parameters, and with its notifications before the result", async () => {
    const client = await open(cell, searchServer().server);
    const result = await client.request("acme/search", { query: "mcp" });
    expect(result).toMatchObject({ items: ["mcp-0", "mcp-1"] });
    expect(result["resultType"]).toBe(cell.era === "modern" ? "complete" : undefined);
    expect(client.notifications("acme/searchProgress").map(paramsOf)).toEqual([{ stage: "start" }]);
    expect(client.notifications("acme/searched")).toEqual([{ jsonrpc: "2.0", method: "acme/searched" }]);
    const last = client.received.at(-1);
    expect(last).toHaveProperty("result");
  });

  test.each([{}, { query: 5 }, { query: "a", more: 1 }])("refuses %j with -32602", async (params) => {
    const client = await open(cell, searchServer().server);
    const error = await refusal(client.request("acme/search", { ...params }));
    expect(error.code).toBe(-32602);
    expect(error.message).toMatch(/^Invalid params for acme\/search: /);
  });

  test("takes any object and may return nothing, without schemas", async () => {
    const { server } = makeServer();
    const seen: unknown[] = [];
    server.method("acme/told", {}, (params) => void seen.push(params));
    const client = await open(cell, server);
    const { _meta, resultType: _, ...own } = await client.request("acme/told", { a: [1] });
    expect([own, seen]).toEqual([{}, [{ a: [1] }]]);
  });

  test("a result that does not fit, or is no object, is an error id, and the log says why", async () => {
    const { server, log } = makeServer();
    server.method("acme/search", search, () => ({ items: 5 as never }));
    server.method("acme/list", {}, () => []);
    const client = await open(cell, server);
    for (const method of ["acme/search", "acme/list"]) {
      const error = await refusal(client.request(method, { query: "a" }));
      expect(error).toMatchObject({ code: -32603, data: { errorId: log.at(-1)?.details?.["errorId"] } });
    }
    const problems = log.map(({ details }) => String(details?.["error"]));
    expect(problems[0]).toContain(
      "Method acme/search returned a value that does not match its result schema",
    );
    expect(problems[1]).toContain("acme/list returned no result");
  });

  test("is seen by middleware, and is no capability", async () => {
    const { server: plain } = makeServer();
    const seen: unknown[] = [];
    const server = plain.use<{ user: string }>(async (request, _, next) => {
      if (request.method.startsWith("acme/")) seen.push([request.method, request.params["query"]]);
      return next({ user: "ada" });
    });
    server.method("acme/search", { params: search.params }, (_, ctx) => ({ user: ctx.user }));
    const client = await open(cell, server, { handshake: false });
    const opened = cell.era === "legacy" ? await client.open() : await client.request("server/discover");
    expect(opened?.["capabilities"]).toEqual({ logging: {} });
    expect(await client.request("acme/search", { query: "x" })).toMatchObject({ user: "ada" });
    expect(seen).toEqual([["acme/search", "x"]]);
  });

  test("has a handle: removed, the method is unknown", async () => {
    const { server } = makeServer();
    const handle = server.method("acme/x", {}, () => ({ v: 1 }));
    const client = await open(cell, server);
    handle.update({ handler: () => ({ v: 2 }) });
    expect(await client.request("acme/x")).toMatchObject({ v: 2 });
    handle.disable();
    expect((await refusal(client.request("acme/x"))).code).toBe(-32601);
    handle.enable();
    expect(await client.request("acme/x")).toMatchObject({ v: 2 });
    expect(handle.remove()).toBe(true);
    expect((await refusal(client.request("acme/x"))).code).toBe(-32601);
  });

  test("what it throws stays here", async () => {
    const { server, log } = makeServer();
    server.method("acme/fails", {}, () => {
      throw new Error("hunter2");
    });
    const client = await open(cell, server);
    expect((await refusal(client.request("acme/fails"))).code).toBe(-32603);
    expect(heard(client)).not.toContain("hunter2");
    expect(log).toHaveLength(1);
  });
});

describeMatrix("ctx.notify", {}, (cell) => {
  test("works in a tool too, and sends nothing after the call has ended", async () => {
    const { server } = makeServer();
    let late = (): void => {};
    server.tool("t", {}, async (_, ctx) => {
      late = () => void ctx.notify("acme/late");
      await ctx.notify("acme/early", { at: 1 });
      return "done";
    });
    const client = await open(cell, server);
    await client.request("tools/call", { name: "t" });
    late();
    await settled(client);
    expect(client.notifications("acme/early")).toHaveLength(1);
    expect(client.notifications("acme/late")).toEqual([]);
  });

  test.each([
    ["notifications/progress", "use ctx.progress(done, total) in a handler"],
    ["notifications/message", "use ctx.log(level, data) in a handler"],
    ["notifications/tools/list_changed", 'use server.push.publish("notifications/tools/list_changed")'],
    ["notifications/cancelled", "choose a name of your own"],
    ["", "choose a name of your own"],
  ])("%j is not an author's to send: %s", async (method, remedy) => {
    const { server, log } = makeServer();
    server.tool("t", {}, (_, ctx) => (void ctx.notify(method), "done"));
    const client = await open(cell, server);
    expect(await client.request("tools/call", { name: "t" })).toHaveProperty("isError", true);
    expect(String(log[0]?.details?.["error"])).toContain(remedy);
    if (method !== "") expect(client.notifications(method)).toEqual([]);
  });
});

describeMatrix("server.method", { eras: ["legacy"], transports: ["memory", "stdio"] }, (cell) => {
  test("needs the handshake as all else does", async () => {
    const client = await open(cell, searchServer().server, { handshake: false });
    const error = await refusal(client.request("acme/search", { query: "a" }));
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining("send initialize first") });
  });
});

describe("a method that cannot be added", () => {
  test.each([
    "tools/call",
    "initialize",
    "server/discover",
    "ping",
    "tasks/result",
    "elicitation/create",
    "roots/list",
    "",
  ])("%j", (name) => {
    const { server } = makeServer();
    expect(() => server.method(name, {}, () => ({}))).toThrow(ConfigurationError);
  });

  test("is taken by an extension, or takes what an extension wants", () => {
    const { server } = makeServer();
    server.extension("com.example/a", { requests: { "a/one": () => ({}) } });
    server.method("a/two", {}, () => ({}));
    expect(() => server.method("a/one", {}, () => ({}))).toThrow("is already a method of an extension");
    expect(() => server.method("a/two", {}, () => ({}))).toThrow("is already registered");
    const extension = { requests: { "a/two": () => ({}) } };
    expect(() => server.extension("com.example/b", extension)).toThrow("is already a method");
  });

  test("has a field or a schema that is none, or no handler", () => {
    const { server } = makeServer();
    const wrong = (definition: object, handler: unknown = () => ({})) =>
      expect(() => server.method("acme/x", definition, handler as never)).toThrow(ConfigurationError);
    wrong({ param: z.object({}) });
    wrong({ params: 5 });
    wrong({ scopes: [""] });
    wrong({}, null);
  });
});

describe.each(edges)("a method over HTTP · %s", (edge) => {
  const auth = (request: { header(name: string): string | undefined }): object => ({
    issuer: "https://issuer.example",
    subject: "ada",
    scopes: (request.header("x-scopes") ?? "").split(" "),
  });

  test("is only for those who have its scopes", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.method("acme/admin", { scopes: ["admin"] }, () => ({ ok: true }));
    const served = await serve(server, { auth: auth as never }, edge);
    const modern = async (scopes: string): Promise<number> =>
      (await sendModern(served.url, "acme/admin", {}, { headers: { "x-scopes": scopes } })).status;
    expect([await modern("read"), await modern("admin")]).toEqual([403, 200]);
    const client = await SessionClient.open(served, { headers: { "x-scopes": "read" } });
    expect((await client.start("acme/admin")).status).toBe(403);
    const headers = { "x-scopes": "read" };
    const batching = await SessionClient.open(served, { headers, revision: "2025-03-26" });
    expect((await batching.post([{ jsonrpc: "2.0", id: 1, method: "acme/admin" }])).status).toBe(403);
    const admin = await SessionClient.open(served, { headers: { "x-scopes": "admin" } });
    expect(await admin.request("acme/admin")).toMatchObject({ result: { ok: true } });
  });

  test("has its parameter repeated in Mcp-Name where it says so", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.method("acme/get", { mirrors: "key" }, ({ key }) => ({ key }));
    const { url } = await serve(server, {}, edge);
    const ask = async (name: string): Promise<number> =>
      (await sendModern(url, "acme/get", { key: "a" }, { headers: { "mcp-name": name } })).status;
    expect([await ask("a"), await ask("b")]).toEqual([200, 400]);
  });
});
