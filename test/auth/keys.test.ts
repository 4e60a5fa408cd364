// Where keys come from: found by the metadata of the issuer, kept, asked for again when they change, and not too often.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type JSONWebKeySet, SignJWT } from "jose";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { passSeconds, stopClock } from "../support/clock.ts";
import { modernPost } from "../support/http.ts";
import { modernRequest } from "../support/raw.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { limitOf } from "./limits.ts";
import { type AuthChanges, bearer, notesServer, protect, type Protected } from "./protected.ts";
import { standIn } from "../support/issuer.ts";
import { makeKey } from "../support/signing-keys.ts";

let issuer: AuthorizationServer;
beforeEach(async () => {
  issuer = await AuthorizationServer.startForTest();
  stopClock();
});

const call = modernRequest(1, "tools/call", { name: "whoami" });

async function statusOf(edge: Protected, token: string): Promise<number> {
  return (await edge.send(modernPost(call, bearer(token)))).status;
}

async function open(auth: AuthChanges = {}): Promise<Protected> {
  return protect("serveHttp", notesServer().server, issuer.issuer, auth);
}

describe("keys", () => {
  test("are found by the metadata of the issuer, and asked for once [RS-VALIDATE]", async () => {
    const edge = await open();
    const tokens = await Promise.all([1, 2, 3].map(() => issuer.issue(edge.resource)));
    expect(await Promise.all(tokens.map((token) => statusOf(edge, token)))).toEqual([200, 200, 200]);
    expect(await statusOf(edge, await issuer.issue(edge.resource))).toBe(200);
    expect(issuer.asked.get("/jwks")).toBe(1);
    expect(issuer.asked.get("/.well-known/oauth-authorization-server")).toBe(1);
  });

  test("are asked for again when a token names one that is not there, but not too often", async () => {
    const edge = await open();
    const old = await issuer.issue(edge.resource);
    expect(await statusOf(edge, old)).toBe(200);
    await issuer.rotate();
    const fresh = await issuer.issue(edge.resource);
    expect(await statusOf(edge, fresh)).toBe(401);
    expect(issuer.asked.get("/jwks")).toBe(1);
    passSeconds(limitOf("seconds between fetches of keys") - 1);
    expect(await statusOf(edge, fresh)).toBe(401);
    passSeconds(2);
    expect(await statusOf(edge, fresh)).toBe(200);
    expect(await statusOf(edge, old)).toBe(401);
    expect(issuer.asked.get("/jwks")).toBe(2);
  });

  test("that cannot be used are passed over for a token that names none", async () => {
    const [short, own] = [1024, 2048].map((modulusLength) => generateKeyPairSync("rsa", { modulusLength }));
    const keys = [short, own].map((pair) => pair?.publicKey.export({ format: "jwk" }));
    const edge = await open({ jwks: { keys } as JSONWebKeySet });
    const token = (exp: string): Promise<string> =>
      new SignJWT({ sub: "alice" })
        .setProtectedHeader({ alg: "RS256", typ: "at+jwt" })
        .setIssuer(issuer.issuer)
        .setAudience(edge.resource)
        .setExpirationTime(exp)
        .sign(own?.privateKey as KeyObject);
    expect([await statusOf(edge, await token("1h")), await statusOf(edge, await token("1h ago"))]).toEqual([
      200, 401,
    ]);
  });

  test("are fetched again when they are old", async () => {
    const edge = await open();
    expect(await statusOf(edge, await issuer.issue(edge.resource))).toBe(200);
    passSeconds(limitOf("seconds that keys are kept") - 2);
    expect(await statusOf(edge, await issuer.issue(edge.resource))).toBe(200);
    expect(issuer.asked.get("/jwks")).toBe(1);
    passSeconds(3);
    expect(await statusOf(edge, await issuer.issue(edge.resource))).toBe(200);
    expect(issuer.asked.get("/jwks")).toBe(2);
  });

  test("that no token can name are not asked for over and over", async () => {
    const edge = await open();
    await statusOf(edge, await issuer.issue(edge.resource));
    const key = await makeKey();
    for (let attempt = 0; attempt < 20; attempt++) {
      expect(
        await statusOf(edge, await issuer.forge({ aud: edge.resource }, { key, kid: `${attempt}` })),
      ).toBe(401);
    }
    expect(issuer.asked.get("/jwks")).toBe(1);
  });

  test("at a URL that answers 404 are unavailable, and the log names the URL", async () => {
    const { server, logger } = notesServer();
    const jwks = `${issuer.issuer}/no-such-keys`;
    const edge = await protect("serveHttp", server, issuer.issuer, { jwks });
    expect(await statusOf(edge, await issuer.issue(edge.resource))).toBe(503);
    expect(logger.entries[0]?.message).toBe(
      `Cannot verify tokens right now: Could not fetch the keys at ${jwks}: Expected 200 OK from the JSON Web Key Set HTTP response`,
    );
  });

  test("that cannot be had make it 503 and not 401, are asked for once a second at most, and then are there again", async () => {
    const { server, logger } = notesServer();
    const edge = await protect("serveHttp", server, issuer.issuer);
    const token = await issuer.issue(edge.resource);
    issuer.outage = 500;
    issuer.asked.clear();
    const reply = await edge.send(modernPost(call, bearer(token)));
    expect(reply.status).toBe(503);
    expect(reply.headers["retry-after"]).toBe("5");
    expect(reply.headers["www-authenticate"]).toBeUndefined();
    const asked = new Map(issuer.asked);
    expect(asked.size).toBeGreaterThan(0);
    expect(await statusOf(edge, token)).toBe(503);
    expect(issuer.asked).toEqual(asked);
    expect(logger.entries[0]?.message).toMatch(
      /^Cannot verify tokens right now: Could not fetch the metadata of/,
    );
    issuer.outage = undefined;
    passSeconds(limitOf("seconds after a failed fetch"));
    expect(await statusOf(edge, token)).toBe(200);
  });

  test("at a URL that fails are asked for once a second at most", async () => {
    const edge = await open({ jwks: `${issuer.issuer}/jwks` });
    const token = await issuer.issue(edge.resource);
    issuer.outage = 500;
    for (let attempt = 0; attempt < 5; attempt++) expect(await statusOf(edge, token)).toBe(503);
    expect(issuer.asked.get("/jwks")).toBe(1);
    issuer.outage = undefined;
    passSeconds(limitOf("seconds after a failed fetch"));
    expect(await statusOf(edge, token)).toBe(200);
  });

  test("that are cached still work while others cannot be fetched, however often those are requested", async () => {
    const edge = await open();
    const good = await issuer.issue(edge.resource);
    expect(await statusOf(edge, good)).toBe(200);
    passSeconds(limitOf("seconds between fetches of keys") + 1);
    issuer.outage = 500;
    const madeUp = await issuer.forge({ aud: edge.resource }, { key: await makeKey(), kid: "made-up" });
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await statusOf(edge, madeUp)).toBe(503);
      expect(await statusOf(edge, good)).toBe(200);
    }
    expect(issuer.asked.get("/jwks")).toBe(2);
  });

  test("are waited for 5 seconds at most", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort());
    onTestFinished(() => void vi.restoreAllMocks());
    const edge = await open();
    expect(await statusOf(edge, await issuer.forge({ aud: edge.resource }))).toBe(503);
    expect(timeout).toHaveBeenCalledWith(limitOf("seconds for an answer") * 1000);
  });

  test("of a strange token do not make those of others unavailable", async () => {
    const edge = await open();
    const good = await issuer.issue(edge.resource);
    const strange = await issuer
      .forge({ aud: edge.resource }, { crit: ["b64"], b64: true } as never)
      .catch(() => "a.b.c");
    expect(await statusOf(edge, strange)).not.toBe(503);
    expect(await statusOf(edge, good)).toBe(200);
  });

  test("may be given, or be said to be at a URL", async () => {
    const { d: _, ...publicJwk } = issuer.key.jwk;
    const given = await open({ jwks: { keys: [publicJwk] } });
    expect(await statusOf(given, await issuer.issue(given.resource))).toBe(200);
    expect(issuer.asked.get("/jwks")).toBeUndefined();
    const named = await open({ jwks: `${issuer.issuer}/jwks` });
    expect(await statusOf(named, await issuer.issue(named.resource))).toBe(200);
    expect(issuer.asked.get("/.well-known/oauth-authorization-server")).toBeUndefined();
  });

  test("of one authorization server do not count for another", async () => {
    const other = await AuthorizationServer.startForTest();
    const edge = await open({ authorizationServers: [issuer.issuer, other.issuer] });
    expect(await statusOf(edge, await issuer.issue(edge.resource))).toBe(200);
    expect(await statusOf(edge, await other.issue(edge.resource))).toBe(200);
    const crossed = await issuer.forge({ aud: edge.resource, iss: other.issuer });
    expect(await statusOf(edge, crossed)).toBe(401);
  });
});

describe("metadata of an issuer", () => {
  /** An issuer of which only the metadata is there. */
  async function startIssuer(metadata: (origin: string) => object, path: string): Promise<string> {
    const origin: string = await standIn((request, response) => {
      const isThere = request.url === path;
      response.writeHead(isThere ? 200 : 404, { "content-type": "application/json" });
      response.end(isThere ? JSON.stringify(metadata(origin)) : "");
    });
    return origin;
  }

  const withKeys = (iss: string) => (): object => ({ issuer: iss, jwks_uri: `${issuer.issuer}/jwks` });

  test.each([
    ["RFC 8414", "/.well-known/oauth-authorization-server/tenant"],
    ["OpenID Connect", "/tenant/.well-known/openid-configuration"],
  ])("is read in the form of %s", async (_, path) => {
    const origin = await startIssuer((own) => withKeys(`${own}/tenant`)(), path);
    const edge = await protect("serveHttp", notesServer().server, `${origin}/tenant`);
    expect(await statusOf(edge, await issuer.forge({ iss: `${origin}/tenant`, aud: edge.resource }))).toBe(
      200,
    );
  });

  test.each<[string, (origin: string) => object, RegExp]>([
    ["is of another issuer", withKeys("https://other.example"), /does not match/],
    ["calls itself otherwise", (origin) => withKeys(`${origin}/`)(), /its issuer is .*\/: use that/],
    ["names no keys", (origin) => ({ issuer: origin }), /jwks_uri in the metadata .* is missing/],
    [
      "names keys over http",
      (origin) => ({ issuer: origin, jwks_uri: "http://keys.example/jwks" }),
      /jwks_uri in the metadata .* must start with https:/,
    ],
    [
      "is endless",
      (origin) => ({ issuer: origin, filler: "x".repeat(limitOf("bytes of an answer")) }),
      /larger than \d+ bytes/,
    ],
  ])("that %s is not believed, and the log says why [AUTH-HTTPS]", async (_, metadata, problem) => {
    const origin = await startIssuer(metadata, "/.well-known/oauth-authorization-server");
    const { server, logger } = notesServer();
    const edge = await protect("serveHttp", server, origin);
    expect(await statusOf(edge, await issuer.forge({ iss: origin, aud: edge.resource }))).toBe(503);
    expect(logger.entries.map(({ message }) => message).join()).toMatch(problem);
  });

  test("that names no keys is read again after a moment, and not only when its time is up", async () => {
    let keys = {};
    const origin = await startIssuer(
      (own) => ({ issuer: own, ...keys }),
      "/.well-known/oauth-authorization-server",
    );
    const edge = await protect("serveHttp", notesServer().server, origin);
    const token = await issuer.forge({ iss: origin, aud: edge.resource });
    expect(await statusOf(edge, token)).toBe(503);
    keys = { jwks_uri: `${issuer.issuer}/jwks` };
    expect(await statusOf(edge, token)).toBe(503);
    passSeconds(limitOf("seconds after a failed fetch"));
    expect(await statusOf(edge, token)).toBe(200);
  });

  test("that is elsewhere is not followed there", async () => {
    const origin = await standIn((_, response) => {
      response.writeHead(302, { location: `${issuer.issuer}/.well-known/openid-configuration` }).end();
    });
    const edge = await protect("serveHttp", notesServer().server, origin);
    expect(await statusOf(edge, await issuer.forge({ iss: origin, aud: edge.resource }))).toBe(503);
    expect(issuer.asked.size).toBe(0);
  });
});
