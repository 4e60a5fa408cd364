// Every kind of token that must not get in, at every entrance of every mount; and the ones that must.
import { createHmac } from "node:crypto";
import { type CryptoKey, exportSPKI, importJWK, type JWK, UnsecuredJWT } from "jose";
import { type ServerEvent } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { bearerAuth } from "halyard/auth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultyBackplane } from "../support/faulty-backplane.ts";
import { modernPost, openSession, post } from "../support/http.ts";
import { modernRequest } from "../support/raw.ts";
import { until } from "../support/turns.ts";
import { makeKey, type SigningKey } from "../support/signing-keys.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { limitOf } from "./limits.ts";
import { bearer, entrances, mounts, notesServer, openSse, protect, headWith } from "./protected.ts";

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await AuthorizationServer.start();
});
afterAll(() => issuer.close());

const now = (): number => Math.floor(Date.now() / 1000);

/** Signed with the public key as if it were a secret that both sides share. */
async function signedWithPublicKey(claims: object): Promise<string> {
  const { d: _, ...publicJwk } = issuer.key.jwk;
  const spki = await exportSPKI((await importJWK(publicJwk, "ES256", { extractable: true })) as CryptoKey);
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const text = `${encode({ alg: "HS256", typ: "at+jwt", kid: issuer.key.kid })}.${encode(claims)}`;
  return `${text}.${createHmac("sha256", spki).update(text).digest("base64url")}`;
}

interface BadToken {
  readonly name: string;
  readonly make: (aud: string, otherKey: SigningKey) => Promise<string> | string;
  readonly says: string;
  readonly status?: number;
}

const badTokens: readonly BadToken[] = [
  {
    name: "for another audience",
    make: () => issuer.issue("https://other.example/mcp"),
    says: "The token is not for this resource: its audience must be RESOURCE",
  },
  {
    name: "for no audience",
    make: () => issuer.forge({}),
    says: "The token is not for this resource: its audience must be RESOURCE",
  },
  {
    name: "for an audience that begins like ours",
    make: (aud) => issuer.forge({ aud: `${aud}/more` }),
    says: "The token is not for this resource: its audience must be RESOURCE",
  },
  {
    name: "of another issuer",
    make: (aud) => issuer.forge({ aud, iss: "https://issuer.example" }),
    says: "The token is from another issuer: this server accepts tokens of ISSUER",
  },
  {
    name: "of no issuer",
    make: (aud) => issuer.forge({ aud, iss: undefined }),
    says: "The token is from another issuer: this server accepts tokens of ISSUER",
  },
  {
    name: "that has expired",
    make: (aud) => issuer.forge({ aud, exp: now() - 6 }),
    says: "The token has expired",
  },
  {
    name: "that never expires",
    make: (aud) => issuer.forge({ aud, exp: undefined }),
    says: "The token has no valid expiry",
  },
  {
    name: "whose expiry is in milliseconds",
    make: (aud) => issuer.forge({ aud, exp: Date.now() + 60_000 }),
    says: "The token has no valid expiry",
  },
  {
    name: "that is not valid yet",
    make: (aud) => issuer.forge({ aud, nbf: now() + 60 }),
    says: "The token is not valid yet",
  },
  {
    name: "of nobody",
    make: (aud) => issuer.forge({ aud, sub: undefined, client_id: undefined }),
    says: "The token has no subject",
  },
  {
    name: "signed with another key of the same id",
    make: (aud, key) => issuer.forge({ aud }, { key, kid: issuer.key.kid }),
    says: "The signature of the token is not valid",
  },
  {
    name: "signed with an unknown key",
    make: (aud, key) => issuer.forge({ aud }, { key }),
    says: "The signature of the token is not valid",
  },
  {
    name: "with its own key in the header",
    make: (aud, key) => {
      const { kty, crv, x, y } = key.jwk;
      return issuer.forge({ aud }, { key, jwk: { kty, crv, x, y } as JWK });
    },
    says: "The signature of the token is not valid",
  },
  {
    name: "without a signature",
    make: (aud) =>
      new UnsecuredJWT({
        iss: issuer.issuer,
        sub: "alice",
        aud,
        exp: now() + 60,
        scope: "notes:read",
      }).encode(),
    says: "The signature of the token is not valid",
  },
  {
    name: "signed with the public key as a secret",
    make: (aud) => signedWithPublicKey({ iss: issuer.issuer, sub: "alice", aud, exp: now() + 60 }),
    says: "The signature of the token is not valid",
  },
  {
    name: "whose claims were changed",
    make: async (aud) => {
      const [head, , signature] = (await issuer.forge({ aud, sub: "bob" })).split(".");
      const [, claims] = (await issuer.forge({ aud, sub: "alice" })).split(".");
      return [head, claims, signature].join(".");
    },
    says: "The signature of the token is not valid",
  },
  {
    name: "that is a logout token",
    make: (aud) => issuer.forge({ aud }, { typ: "logout+jwt" }),
    says: "The token is not an access token",
  },
  {
    name: "that is bound to a key",
    make: (aud) => issuer.forge({ aud, cnf: { jkt: "x" } }),
    says: "The token is bound to a key and cannot be used as a bearer token",
  },
  {
    name: "that is no JWT",
    make: () => "not-a-token",
    says: "The token is not a signed JSON Web Token (JWT)",
  },
];

describe.each(mounts)("bearerAuth · %s", (mount) => {
  describe.each(Object.entries(entrances))("%s", (_, enter) => {
    test("without a token it is 401, and says where to get one [RS-401, RS-WWW-AUTH-REQUIRED, RS-PRM-DISCOVERY, RS-SCOPE-CHALLENGE, RS-PER-REQUEST, SEC-STATE-HANDLE, SESS-NOT-AUTH]", async () => {
      const { server } = notesServer();
      const edge = await protect(mount, server, issuer.issuer, { requiredScopes: ["notes:read"] });
      const good = await issuer.issue(edge.resource);
      const reply = await (await enter(edge, undefined, good)).complete();
      expect(reply.status).toBe(401);
      expect(reply.headers["www-authenticate"]).toBe(
        `Bearer resource_metadata="${edge.metadataUrl}", scope="notes:read"`,
      );
    });

    test("with a token of the authorization server it is let in [RS-VALIDATE, AUTH-HTTP]", async () => {
      const { server } = notesServer();
      const edge = await protect(mount, server, issuer.issuer, { requiredScopes: ["notes:read"] });
      const good = await issuer.issue(edge.resource);
      const reply = await enter(edge, good, good);
      expect([200, 202, 204]).toContain(reply.status);
      reply.abort();
    });

    test.each(badTokens)(
      "a token $name is refused, and shown nowhere [RS-401, RS-VALIDATE, RS-AUDIENCE, RS-NO-OTHER-TOKENS, SEC-TOKEN-PASSTHROUGH]",
      async ({ make, says }) => {
        const events: ServerEvent[] = [];
        const { server, logger } = notesServer({ observe: (event) => void events.push(event) });
        const edge = await protect(mount, server, issuer.issuer);
        const token = await make(edge.resource, await otherKey);
        const reply = await (await enter(edge, token, await issuer.issue(edge.resource))).complete();
        expect(reply.status).toBe(401);
        const reason = says.replace("RESOURCE", edge.resource).replace("ISSUER", issuer.issuer);
        expect(reply.headers["www-authenticate"]).toBe(
          `Bearer error="invalid_token", error_description="${reason}", resource_metadata="${edge.metadataUrl}"`,
        );
        expect((await reply.answer()).error?.message).toBe(reason);
        const seen = JSON.stringify([reply.text, reply.headers, logger.entries, events]);
        expect(seen).not.toContain(token.split(".")[1] ?? token);
        // As words: three letters may well occur in a random id.
        expect(seen).not.toMatch(/\b(?:alice|bob)\b/);
      },
    );
  });
});

const otherKey = makeKey();

describe.each(mounts)("a session of one principal · %s", (mount) => {
  test("is not there for the token of another, and there for a fresh token of its own [SESS-BIND-USER, SEC-STATE-HANDLE, RS-PER-REQUEST]", async () => {
    const edge = await protect(mount, notesServer().server, issuer.issuer);
    const tokenOf = (sub: string): Promise<string> =>
      issuer.forge({ aud: edge.resource, sub, jti: `${Math.random()}` });
    const { headers } = await openSession(edge, "2025-11-25", bearer(await tokenOf("alice")));
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const status = async (sub: string, method: string): Promise<number> => {
      const given = {
        ...headers,
        ...bearer(await tokenOf(sub)),
        accept: "application/json, text/event-stream",
      };
      const reply = await edge.send(method === "POST" ? post(ping, given) : { method, headers: given });
      reply.abort();
      return reply.status;
    };
    for (const method of ["POST", "GET", "DELETE"]) expect(await status("bob", method)).toBe(404);
    for (const method of ["POST", "GET"]) expect(await status("alice", method)).toBe(200);
    expect(await status("alice", "DELETE")).toBe(204);
    const stream = await openSse(edge, await tokenOf("alice"));
    await until(() => stream.events.length > 0);
    const path = stream.events[0]?.data ?? "";
    const say = async (sub: string): Promise<number> =>
      (await edge.send({ ...post(ping, bearer(await tokenOf(sub))), path })).status;
    expect(await say("bob")).toBe(404);
    expect(await say("alice")).toBe(202);
    stream.abort();
  });
});

describe("the Authorization header", () => {
  const call = modernRequest(1, "tools/call", { name: "whoami" });

  test.each([
    ["Bearer", 400],
    ["Bearer ", 400],
    ["Bearer two tokens", 400],
    ["Bearer a, Bearer b", 400],
    ['Bearer "quoted"', 400],
    ["Basic YWxpY2U6c2VjcmV0", 401],
    ["Bearerx abc", 401],
    ["", 401],
  ])("%s is answered %i [RS-400, RS-401]", async (authorization, status) => {
    const handler = await protect("fetchHandler", notesServer().server, issuer.issuer);
    const reply = await handler.send(modernPost(call, { authorization }));
    expect(reply.status).toBe(status);
    expect(reply.headers["www-authenticate"]).toMatch(/^Bearer /);
    if (status === 400) expect(reply.headers["www-authenticate"]).toContain('error="invalid_request"');
  });

  test.each(mounts)(
    "is the only place of a token: one in the query or in the body is not looked at · %s [RS-401, RS-NO-OTHER-TOKENS, AUTH-OAUTH21-BCP]",
    async (mount) => {
      const edge = await protect(mount, notesServer().server, issuer.issuer);
      const token = await issuer.issue(edge.resource);
      const reply = await edge.send({
        ...modernPost({ ...call, access_token: token }),
        path: `/mcp?access_token=${token}`,
      });
      expect(reply.status).toBe(401);
      expect(reply.headers["www-authenticate"]).not.toContain("error=");
    },
  );

  test("may hold a token as long as docs/reference/limits.md says, and none that is longer [RS-400]", async () => {
    const auth = bearerAuth({
      resource: "https://mcp.example.com/mcp",
      authorizationServers: ["https://auth.example.com"],
      verify: () => undefined,
    });
    const status = async (length: number): Promise<unknown> =>
      auth.authenticate(headWith("a".repeat(length)));
    const longest = limitOf("characters of a token");
    expect(await status(longest)).toMatchObject({ status: 401 });
    expect(await status(longest + 1)).toMatchObject({ status: 400 });
  });

  test("may spell the scheme as it likes", async () => {
    const edge = await protect("serveHttp", notesServer().server, issuer.issuer);
    const token = await issuer.issue(edge.resource);
    const reply = await edge.send(modernPost(call, { authorization: `bEARER ${token}` }));
    expect(reply.status).toBe(200);
  });
});

describe("what a token says", () => {
  test("reaches handlers as ctx.principal, and events only as issuer and subject", async () => {
    const events: ServerEvent[] = [];
    const { server } = notesServer({ observe: (event) => void events.push(event) });
    let seen: unknown;
    server.tool("look", {}, (_, ctx) => {
      seen = ctx.principal;
      return "";
    });
    const edge = await protect("serveHttp", server, issuer.issuer);
    const exp = now() + 100;
    const token = await issuer.forge({
      aud: [edge.resource, "other"],
      exp,
      tenant: "acme",
      scope: "notes:read x",
    });
    await (
      await edge.send(modernPost(modernRequest(1, "tools/call", { name: "look" }), bearer(token)))
    ).complete();
    expect(seen).toMatchObject({
      issuer: issuer.issuer,
      subject: "alice",
      clientId: "app",
      scopes: ["notes:read", "x"],
      expiresAt: (exp + limitOf("clockToleranceSeconds")) * 1000,
      claims: { tenant: "acme" },
    });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "request", principal: { issuer: issuer.issuer, subject: "alice" } }),
    );
    expect(JSON.stringify(events)).not.toContain("acme");
  });

  test.each([
    ["a list of scopes", { scope: ["a", "b"] }, ["a", "b"]],
    ["scp as text", { scope: undefined, scp: "a b" }, ["a", "b"]],
    ["scp as a list", { scope: undefined, scp: ["a", "b"] }, ["a", "b"]],
    ["no scopes", { scope: undefined }, []],
  ])("may have %s", async (_, claims, scopes) => {
    const { server } = notesServer();
    let seen: readonly string[] | undefined;
    server.tool("look", {}, (__, ctx) => {
      seen = ctx.principal?.scopes;
      return "";
    });
    const edge = await protect("serveHttp", server, issuer.issuer);
    const token = await issuer.forge({ aud: edge.resource, ...claims });
    await (
      await edge.send(modernPost(modernRequest(1, "tools/call", { name: "look" }), bearer(token)))
    ).complete();
    expect(seen).toEqual(scopes);
  });

  test.each(mounts)(
    "is not given to handlers, who might pass it on, nor kept with a session · %s [RS-NO-PASSTHROUGH, AUTH-TOKEN-STORAGE]",
    async (mount) => {
      const { backplane, node } = faultyBackplane(memoryBackplane());
      const { server } = notesServer({ backplane });
      const seen: unknown[] = [];
      server.tool("look", {}, (_, ctx) => {
        seen.push(ctx.headers);
        return "";
      });
      const edge = await protect(mount, server, issuer.issuer);
      const token = await issuer.forge({ aud: edge.resource, tenant: "acme" });
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "look" } };
      const { headers } = await openSession(edge, "2025-11-25", bearer(token));
      await (await edge.send(post(call, { ...headers, ...bearer(token) }))).complete();
      const modern = modernRequest(1, "tools/call", { name: "look" });
      await (await edge.send(modernPost(modern, { ...bearer(token), "x-other": "there" }))).complete();
      expect(seen).toHaveLength(2);
      expect(seen[1]).toHaveProperty("x-other");
      const kept = node.asked.filter(({ kind }) => kind === "session").map(({ args }) => args);
      expect(kept.length).toBeGreaterThan(0);
      expect(JSON.stringify([seen, kept])).not.toMatch(/authorization|Bearer|acme|notes:/);
    },
  );

  test("may name a bare host with a slash behind it, as clients that handle URLs write it", async () => {
    const { server } = notesServer();
    const resource = "https://mcp.example.com";
    const edge = await protect("serveHttp", server, issuer.issuer, { resource });
    const token = await issuer.forge({ aud: `${resource}/` });
    const call = modernRequest(1, "tools/call", { name: "whoami" });
    expect((await edge.send(modernPost(call, bearer(token)))).status).toBe(200);
  });

  test.each<unknown>(["5", "0", [5], new Number(5), { valueOf: () => 5 }, true, null])(
    "that expired a year ago opens no door, even if clockToleranceSeconds is %j [RS-401]",
    async (clockToleranceSeconds) => {
      const call = modernRequest(1, "tools/call", { name: "whoami" });
      const aud = "api://notes";
      const outcome = async (auth: object, exp: number): Promise<number> => {
        const given = { audience: aud, verify: () => ({ aud, sub: "ada", exp }), ...auth };
        const edge = await protect("serveHttp", notesServer().server, issuer.issuer, given);
        return (await edge.send(modernPost(call, bearer("opaque")))).status;
      };
      const yearAgo = now() - 365 * 86_400;
      await expect(outcome({ clockToleranceSeconds }, yearAgo)).rejects.toThrow(
        /^bearerAuth: clockToleranceSeconds must be a number of seconds from 0 to 300/,
      );
      expect(await outcome({ clockToleranceSeconds: 5 }, yearAgo)).toBe(401);
      expect(await outcome({ clockToleranceSeconds: 5 }, now() - 2)).toBe(200);
    },
  );

  test.each<unknown>(["1", [1], true, new Date(0), Number.NEGATIVE_INFINITY])(
    "whose nbf is %j, which is not a number, opens no door",
    async (nbf) => {
      const call = modernRequest(1, "tools/call", { name: "whoami" });
      const aud = "api://notes";
      const statusOf = async (claims: object): Promise<number> => {
        const given = { audience: aud, verify: () => ({ aud, sub: "ada", exp: now() + 60, ...claims }) };
        const edge = await protect("serveHttp", notesServer().server, issuer.issuer, given);
        return (await edge.send(modernPost(call, bearer("opaque")))).status;
      };
      expect(await statusOf({ nbf })).toBe(401);
      expect(await statusOf({ nbf: now() - 1 })).toBe(200);
    },
  );

  test("clockToleranceSeconds, audience, requireTokenType and algorithms change what is asked of it [RS-AUDIENCE]", async () => {
    const call = modernRequest(1, "tools/call", { name: "whoami" });
    const status = async (auth: object, claims: object, header: object = {}): Promise<number> => {
      const edge = await protect("serveHttp", notesServer().server, issuer.issuer, auth);
      const token = await issuer.forge({ aud: edge.resource, ...claims }, header);
      return (await edge.send(modernPost(call, bearer(token)))).status;
    };
    expect(await status({ clockToleranceSeconds: 60 }, { exp: now() - 30 })).toBe(200);
    expect(await status({ clockToleranceSeconds: 0 }, { exp: now() - 1 })).toBe(401);
    expect(await status({ audience: ["api://notes"] }, { aud: "api://notes" })).toBe(200);
    expect(await status({ audience: "api://notes" }, {})).toBe(401);
    expect(await status({}, {}, { typ: "JWT" })).toBe(200);
    expect(await status({ requireTokenType: true }, {}, { typ: "JWT" })).toBe(401);
    expect(await status({ requireTokenType: true }, {})).toBe(200);
    expect(await status({ algorithms: ["RS256"] }, {})).toBe(401);
  });
});
