// What cannot work, or would not be safe, fails when it is made and names the remedy.
import { ConfigurationError, McpServer } from "halyard";
import { bearerAuth } from "halyard/auth";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { notesServer } from "./protected.ts";

const whole = { resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] };
const introspection = { clientId: "notes", clientSecret: "secret" };

function failureOf(make: () => unknown): ConfigurationError {
  try {
    make();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown");
}

describe("bearerAuth", () => {
  test.each<[string, object, string, RegExp]>([
    ["no resource", { resource: undefined }, "resource", /absolute URL: use the URL that users enter/],
    ["a resource that is no URL", { resource: "/mcp" }, "resource", /absolute URL/],
    ["a resource with a fragment", { resource: "https://mcp.example.com/mcp#a" }, "resource", /fragment/],
    [
      "a resource with an empty fragment",
      { resource: "https://mcp.example.com/mcp#" },
      "resource",
      /fragment/,
    ],
    ["a resource over http", { resource: "http://mcp.example.com/mcp" }, "resource", /https:/],
    ["a resource with a password", { resource: "https://a:b@mcp.example.com" }, "resource", /credentials/],
    ["a resource like loopback", { resource: "http://localhost.evil.example" }, "resource", /https:/],
    [
      "no authorization server",
      { authorizationServers: [] },
      "authorizationServers",
      /is empty: name the issuer/,
    ],
    ["none at all", { authorizationServers: undefined }, "authorizationServers", /is empty/],
    [
      "one over http",
      { authorizationServers: ["http://auth.example.com"] },
      "authorizationServers",
      /https:/,
    ],
    ["one that is no URL", { authorizationServers: ["auth"] }, "authorizationServers", /absolute URL/],
    ["one with a query", { authorizationServers: ["https://a.example?b"] }, "authorizationServers", /query/],
    ["an empty audience", { audience: [] }, "audience", /is empty/],
    ["an audience of nothing", { audience: "" }, "audience", /not empty/],
    ["no algorithm", { algorithms: [] }, "algorithms", /is empty: choose from RS256/],
    ["the algorithm none", { algorithms: ["RS256", "none"] }, "algorithms", /has none/],
    ["HMAC", { algorithms: ["HS256"] }, "algorithms", /for a shared secret use verify/],
    ["a scope with a blank", { requiredScopes: ["a b"] }, "requiredScopes", /visible ASCII/],
    ["a scope with a quote", { scopesSupported: ['a"b'] }, "scopesSupported", /visible ASCII/],
    ["scopes that are no list", { requiredScopes: "a" }, "requiredScopes", /must be a list/],
    ["offline_access", { scopesSupported: ["offline_access"] }, "scopesSupported", /offline_access/],
    ["a hierarchy of no scopes", { scopeHierarchy: { "a b": [] } }, "scopeHierarchy", /visible ASCII/],
    ["keys over http", { jwks: "http://auth.example.com/jwks" }, "jwks", /https:/],
    [
      "keys and introspection",
      { jwks: { keys: [] }, introspection },
      "introspection",
      /cannot be combined with jwks/,
    ],
    [
      "keys and verify",
      { jwks: { keys: [] }, verify: () => undefined },
      "verify",
      /cannot be combined with jwks/,
    ],
    [
      "introspection without a secret",
      { introspection: { clientId: "a" } },
      "introspection.clientSecret",
      /required/,
    ],
    [
      "introspection over http",
      { introspection: { ...introspection, endpoint: "http://auth.example.com" } },
      "introspection.endpoint",
      /https:/,
    ],
    ["a clock that differs much", { clockToleranceSeconds: 3600 }, "clockToleranceSeconds", /from 0 to 300/],
    ["a clock that is none", { clockToleranceSeconds: Number.NaN }, "clockToleranceSeconds", /from 0 to 300/],
    [
      "documentation that is no URL",
      { resourceDocumentation: "docs" },
      "resourceDocumentation",
      /absolute URL/,
    ],
  ])(
    "fails for %s [RS-PRM-AS, RS-AUDIENCE, RS-OFFLINE, AUTH-HTTPS, AUTH-OAUTH21-BCP]",
    (_, changes, field, problem) => {
      const error = failureOf(() => bearerAuth({ ...whole, ...changes } as never));
      expect(error).toMatchObject({ code: "INVALID_OPTION", subject: "bearerAuth", field });
      expect(error.message).toMatch(problem);
    },
  );

  test("fails for keys of one authorization server where there are several", () => {
    const authorizationServers = ["https://a.example", "https://b.example"];
    for (const one of [{ jwks: { keys: [] } }, { introspection }]) {
      const error = failureOf(() => bearerAuth({ ...whole, authorizationServers, ...one }));
      expect(error.message).toContain("works with one authorization server only");
    }
  });

  test.each([
    "http://localhost:3000/mcp",
    "http://127.0.0.1/mcp",
    "http://[::1]:3000/mcp",
    "https://a.example",
  ])("takes %s as a resource", (resource) => {
    expect(bearerAuth({ ...whole, resource }).resource).toBe(resource);
  });
});

describe("scopes of definitions", () => {
  const doors = { serveHttp, nodeHandler, fetchHandler };

  test.each(Object.entries(doors))(
    "%s does not start a server with scopes without auth",
    async (_, serve) => {
      const { server } = notesServer();
      const start = async (): Promise<unknown> => serve(server, {});
      await expect(start()).rejects.toThrow(/auth is missing: definitions of this server require scopes/);
    },
  );

  test("must be a list of scopes, and not public", () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const scoped = { scopes: ["a"] };
    const failures = [
      failureOf(() => server.tool("a", { scopes: ["a b"] }, () => "")),
      failureOf(() => server.tool("a", { scopes: "a" as never }, () => "")),
      failureOf(() => server.prompt("a", { scopes: ["offline_access"] }, () => "")),
      failureOf(() => server.resource("a:b", { ...scoped, cache: { scope: "public" } }, () => "")),
      failureOf(() => server.resourceTemplate("a:{b}", { ...scoped, cache: { scope: "public" } }, () => "")),
    ];
    expect(failures.map(({ field }) => field)).toEqual(["scopes", "scopes", "scopes", "cache", "cache"]);
  });
});

describe("the address of the endpoint", () => {
  test("is warned about when the resource says another path, and no proxy is said to be in between", async () => {
    const warnings = async (options: object): Promise<number> => {
      const logger = recordingLogger();
      const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
      await nodeHandler(server, { auth: bearerAuth(whole), ...options }).close();
      return logger.entries.filter(({ level }) => level === "warn").length;
    };
    expect(await warnings({})).toBe(0);
    expect(await warnings({ path: "/api" })).toBe(1);
    expect(await warnings({ path: "/api", trustProxy: true })).toBe(0);
  });

  test("is allowed as a host because it is the resource", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const handler = fetchHandler(server, { auth: bearerAuth(whole) });
    const status = async (host: string): Promise<number> =>
      (await handler(new Request(`https://${host}/mcp`, { method: "POST" }))).status;
    expect(await status("mcp.example.com")).toBe(401);
    expect(await status("evil.example")).toBe(403);
    await handler.close();
    const served = await serveHttp(server, { port: 0, host: "0.0.0.0", auth: bearerAuth(whole) });
    await served.close();
  });
});
