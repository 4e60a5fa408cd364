// Tokens for tests and development: signed by one call, good on this machine, and refused wherever others may come in.
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { McpServer } from "halyard";
import {
  type AuthRefusal,
  type DevelopmentTokenOptions,
  developmentIssuer,
  type RequestHead,
} from "halyard/auth";
import { connect } from "halyard/client";
import { oauth } from "halyard/client/oauth";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, nodeHandler, serveHttp, type ServeHttpOptions } from "halyard/node";
import { decodeProtectedHeader } from "jose";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { describeEdges, modernPost, sendTo } from "../support/http.ts";
import { modernRequest } from "../support/raw.ts";
import { until } from "../support/turns.ts";
import { limitOf } from "./limits.ts";
import { bearer, notesServer } from "./protected.ts";

const call = (name: string): ReturnType<typeof modernRequest> => modernRequest(1, "tools/call", { name });
const remedy = "keep to 127.0.0.1 and localhost, or pass bearerAuth({ … }) with your authorization server";
const instead = "in production, pass bearerAuth({ … }) with your authorization server";

afterEach(() => void vi.unstubAllEnvs());

describeEdges("developmentIssuer", (open) => {
  test("signs tokens that the server takes, with their subject, scopes and claims", async () => {
    const issuer = developmentIssuer({ requiredScopes: ["notes:read"] });
    const { server } = notesServer();
    server.tool("claims", {}, (_, ctx) =>
      JSON.stringify([ctx.principal?.clientId, ctx.principal?.claims?.["team"]]),
    );
    const edge = await open(server, { auth: issuer.auth });
    const ask = async (name: string, options?: DevelopmentTokenOptions): Promise<[number, string]> => {
      const reply = await edge.send(modernPost(call(name), bearer(await issuer.token(options))));
      return [reply.status, JSON.stringify(await reply.answer())];
    };
    expect(await ask("whoami")).toEqual([
      200,
      expect.stringContaining("https://development-issuer.invalid developer"),
    ]);
    const writer = { subject: "alice", scopes: ["notes:read", "notes:write"] };
    expect(await ask("write_note", writer)).toEqual([200, expect.stringContaining("Noted for alice")]);
    const own = await ask("claims", { clientId: "desk", claims: { team: "blue" } });
    expect(own[1]).toContain(JSON.stringify(JSON.stringify(["desk", "blue"])).slice(1, -1));
  });

  test.each<[string, DevelopmentTokenOptions, number, string]>([
    [
      "too few scopes",
      { scopes: ["notes:read"] },
      403,
      "Insufficient scope: notes:write is missing; this requires notes:read notes:write",
    ],
    ["no scopes", { scopes: [] }, 403, "Insufficient scope: notes:read is missing"],
    [
      "another audience",
      { audience: "https://other.example" },
      401,
      "The token is not for this resource: its audience must be http://localhost:3000/mcp",
    ],
    ["an expiry that has passed", { expiresInSeconds: -60 }, 401, "The token has expired"],
  ])("refuses a token with %s, as bearerAuth does", async (_, options, status, message) => {
    const issuer = developmentIssuer({ requiredScopes: ["notes:read"] });
    const edge = await open(notesServer().server, { auth: issuer.auth });
    const reply = await edge.send(modernPost(call("write_note"), bearer(await issuer.token(options))));
    expect(reply.status).toBe(status);
    expect((await reply.answer()).error?.message).toBe(message);
    expect(reply.headers["www-authenticate"]).toContain(`error_description="${message}"`);
  });

  test("takes options that are undefined for options that are left out", async () => {
    const issuer = developmentIssuer({ resource: undefined, audience: undefined });
    const edge = await open(notesServer().server, { auth: issuer.auth });
    const reply = await edge.send(modernPost(call("whoami"), bearer(await issuer.token())));
    expect(reply.status).toBe(200);
  });

  test("makes its keys anew: a token of another one, with the same name, is refused", async () => {
    const [issuer, other] = [developmentIssuer(), developmentIssuer()];
    const edge = await open(notesServer().server, { auth: issuer.auth });
    const token = await other.token();
    const reply = await edge.send(modernPost(call("whoami"), bearer(token)));
    expect(reply.status).toBe(401);
    expect((await reply.answer()).error?.message).toBe("The signature of the token is not valid");
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: "ES256", typ: "at+jwt" });
  });

  test.each([
    "x-forwarded-for",
    "forwarded",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "cf-connecting-ip",
    "via",
  ])("refuses a request that a proxy has passed on, by its %s", async (header) => {
    const issuer = developmentIssuer();
    const edge = await open(notesServer().server, { auth: issuer.auth });
    const headers = { ...bearer(await issuer.token()), [header]: "198.51.100.7" };
    const reply = await edge.send(modernPost(call("whoami"), headers));
    expect(reply.status).toBe(403);
    expect((await reply.answer()).error?.message).toBe(
      `developmentIssuer() is for this machine only, but the request passed a proxy, which added ${header}: ${instead}`,
    );
  });
});

describe("developmentIssuer does not start", () => {
  test.each<[string, ServeHttpOptions, string]>([
    [
      "on every address",
      { host: "0.0.0.0", allowedHosts: ["localhost"] },
      `HTTP: host is 0.0.0.0, but developmentIssuer() is for this machine only: ${remedy}`,
    ],
    [
      "on one of several addresses",
      { host: ["127.0.0.1", "::"] },
      `HTTP: host is ::, but developmentIssuer() is for this machine only: ${remedy}`,
    ],
    [
      "under a public host",
      { allowedHosts: ["[::1]:3000", "localhost:3000", "mcp.example.com"] },
      `HTTP: allowedHosts has mcp.example.com, but developmentIssuer() is for this machine only: ${remedy}`,
    ],
    [
      "under any host",
      { allowedHosts: ["*"] },
      `HTTP: allowedHosts has *, but developmentIssuer() is for this machine only: ${remedy}`,
    ],
    [
      "behind a proxy",
      { trustProxy: true },
      `HTTP: trustProxy is true, but developmentIssuer() is for this machine only: ${remedy}`,
    ],
  ])("%s", async (_, options, message) => {
    const { auth } = developmentIssuer();
    const server = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });
    const failure = expect.objectContaining({ name: "ConfigurationError", message });
    await expect(serveHttp(server(), { port: 0, ...options, auth })).rejects.toThrow(failure);
    const { host, ...mounted } = options;
    if (host !== undefined) return;
    for (const handle of [nodeHandler, fetchHandler])
      expect(() => handle(server(), { ...mounted, auth } as HttpOptions)).toThrow(failure);
  });

  test.each([
    "https://mcp.example.com/mcp",
    "http://192.168.1.2:3000/mcp",
    "http://localhost.example.com/mcp",
    "mcp",
  ])("for the resource %s", (resource) => {
    const message = `developmentIssuer: resource must be a URL of this machine, such as "http://localhost:3000/mcp", not ${JSON.stringify(resource)}: ${instead}`;
    expect(() => developmentIssuer({ resource })).toThrow(expect.objectContaining({ message }));
  });

  test("in production", () => {
    vi.stubEnv("NODE_ENV", "production");
    const message = `developmentIssuer: NODE_ENV is "production": ${instead}`;
    expect(() => developmentIssuer()).toThrow(expect.objectContaining({ message }));
  });
});

describe("a request from another machine", () => {
  const head = (address: string | undefined): RequestHead => ({
    method: "POST",
    path: "/mcp",
    query: "",
    address,
    headers: () => ({}),
    header: () => undefined,
  });

  test.each(["192.168.1.7", "::ffff:10.0.0.1", "fe80::1", "2001:db8::1", "127.0.0.1.evil"])(
    "is refused, whatever its Host says: %s",
    async (address) => {
      const refusal = (await developmentIssuer().auth.authenticate(head(address))) as AuthRefusal;
      expect(refusal.status).toBe(403);
      expect(refusal.message).toBe(
        `developmentIssuer() is for this machine only, but the request comes from ${address}: ${instead}`,
      );
    },
  );

  test.each(["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", undefined])(
    "is told from one of this machine: %s",
    async (address) => {
      const refusal = (await developmentIssuer().auth.authenticate(head(address))) as AuthRefusal;
      expect(refusal.status).toBe(401);
    },
  );

  const own = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === "IPv4" && !each.internal);
  test.runIf(own !== undefined)("is refused by nodeHandler on a server that listens everywhere", async () => {
    const issuer = developmentIssuer();
    const handler = nodeHandler(notesServer().server, { auth: issuer.auth });
    const http = createServer(handler).listen(0, "0.0.0.0");
    onTestFinished(async () => {
      await handler.close();
      http.close();
    });
    await until(() => http.listening);
    const { port } = http.address() as AddressInfo;
    const headers = { ...bearer(await issuer.token()), host: "localhost" };
    const status = async (host: string): Promise<number> =>
      (await sendTo(port, modernPost(call("whoami"), headers), host)).status;
    expect(await status("127.0.0.1")).toBe(200);
    expect(await status(own?.address ?? "")).toBe(403);
  });
});

test("a token lives as long as docs/reference/limits.md says at most", async () => {
  const { token } = developmentIssuer();
  const longest = limitOf("seconds of a development token");
  await token({ expiresInSeconds: longest });
  await expect(token({ expiresInSeconds: longest + 1 })).rejects.toThrow(
    `token() of developmentIssuer: expiresInSeconds must be a number of seconds up to ${longest}, not ${longest + 1}`,
  );
});

test("a client that would sign in reads that it needs a token of the issuer", async () => {
  const http = createServer((request, response) => void handler(request, response)).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await until(() => http.listening);
  const resource = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const handler = nodeHandler(notesServer().server, { auth: developmentIssuer({ resource }).auth });
  onTestFinished(() => handler.close());
  await expect(connect(resource, { auth: oauth() })).rejects.toThrow(
    'No authorization server can be at "https://development-issuer.invalid": if the server uses developmentIssuer(), pass a token of its issuer.token() as auth',
  );
});
