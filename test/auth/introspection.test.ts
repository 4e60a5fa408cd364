// Tokens that only their authorization server can read, asked about at a real endpoint; and a verifier of one's own.
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { passSeconds, stopClock } from "../support/clock.ts";
import { modernPost } from "../support/http.ts";
import { modernRequest } from "../support/raw.ts";
import { AuthorizationServer, introspectionClient } from "../support/authorization-server.ts";
import { limitOf } from "./limits.ts";
import {
  type AuthChanges,
  bearer,
  headWith,
  mounts,
  notesServer,
  protect,
  type Protected,
} from "./protected.ts";
import { standIn } from "../support/issuer.ts";

let issuer: AuthorizationServer;
beforeEach(async () => {
  issuer = await AuthorizationServer.startForTest();
  stopClock();
});

const call = modernRequest(1, "tools/call", { name: "write_note" });
const endpoint = "/token/introspection";

async function statusOf(edge: Protected, token: string): Promise<number> {
  return (await edge.send(modernPost(call, bearer(token)))).status;
}

function open(introspection: AuthChanges["introspection"] = introspectionClient): Promise<Protected> {
  return protect("serveHttp", notesServer().server, issuer.issuer, { introspection });
}

describe("introspection", () => {
  test.each(mounts)(
    "lets an active token for this resource in · %s [RS-VALIDATE, RS-AUDIENCE]",
    async (mount) => {
      const { server } = notesServer();
      const edge = await protect(mount, server, issuer.issuer, { introspection: introspectionClient });
      const token = await issuer.issue(edge.resource, "notes:write", "opaque-robot");
      const reply = await (await edge.send(modernPost(call, bearer(token)))).complete();
      expect(reply.messages[0]).toMatchObject({ result: { content: [{ text: "Noted for opaque-robot" }] } });
    },
  );

  test("keeps out what is unknown, for another resource, or lacks a scope [RS-401, RS-403, RS-AUDIENCE]", async () => {
    const edge = await open();
    const elsewhere = await issuer.issue("https://other.example", "notes:write", "opaque-robot");
    const weak = await issuer.issue(edge.resource, "notes:read", "opaque-robot");
    expect(await statusOf(edge, "never-issued")).toBe(401);
    expect(await statusOf(edge, elsewhere)).toBe(401);
    expect(await statusOf(edge, weak)).toBe(403);
  });

  test("asks about a token once, however many come with it, and again after a while", async () => {
    const edge = await open();
    const token = await issuer.issue(edge.resource, "notes:write", "opaque-robot");
    const statuses = await Promise.all(Array.from({ length: 8 }, () => statusOf(edge, token)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(issuer.asked.get(endpoint)).toBe(1);
    await issuer.revoke(token);
    expect(await statusOf(edge, token)).toBe(200);
    passSeconds(limitOf("introspection.cacheSeconds"));
    expect(await statusOf(edge, token)).toBe(401);
    expect(issuer.asked.get(endpoint)).toBe(2);
  });

  test("keeps that a token is worth nothing for a moment", async () => {
    const edge = await open();
    expect(await statusOf(edge, "never-issued")).toBe(401);
    expect(await statusOf(edge, "never-issued")).toBe(401);
    expect(issuer.asked.get(endpoint)).toBe(1);
    passSeconds(limitOf("seconds for a refused one"));
    expect(await statusOf(edge, "never-issued")).toBe(401);
    expect(issuer.asked.get(endpoint)).toBe(2);
  });

  test("keeps an answer no longer than the token lives", async () => {
    const edge = await open({ ...introspectionClient, cacheSeconds: 3600 });
    const token = await issuer.issue(edge.resource, "notes:write", "opaque-robot");
    expect(await statusOf(edge, token)).toBe(200);
    passSeconds(310);
    expect(await statusOf(edge, token)).toBe(401);
    expect(issuer.asked.get(endpoint)).toBe(2);
  });

  test("that cannot be had is 503, is not kept, and shows nothing of the token", async () => {
    const { server, logger } = notesServer();
    const edge = await protect("serveHttp", server, issuer.issuer, { introspection: introspectionClient });
    const token = await issuer.issue(edge.resource, "notes:write", "opaque-robot");
    issuer.outage = 500;
    expect(await statusOf(edge, token)).toBe(503);
    expect(JSON.stringify(logger.entries)).not.toContain(token);
    issuer.outage = undefined;
    passSeconds(2);
    expect(await statusOf(edge, token)).toBe(200);
  });

  test("may be at an endpoint that is given, with the secret in the body", async () => {
    const bodies: string[] = [];
    const origin = await standIn((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        bodies.push(body);
        const answer = { active: true, sub: "alice", aud: edge.resource, scope: "notes:write" };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      });
    });
    const given = `${origin}/ask`;
    const edge: Protected = await open({
      ...introspectionClient,
      method: "client_secret_post",
      endpoint: given,
    });
    expect(await statusOf(edge, "some-token")).toBe(200);
    expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toEqual({
      token: "some-token",
      client_id: introspectionClient.clientId,
      client_secret: introspectionClient.clientSecret,
    });
  });

  test("keeps so many answers at most", async () => {
    let asked = 0;
    vi.stubGlobal("fetch", async () => {
      asked++;
      return new Response('{"active":false}', { headers: { "content-type": "application/json" } });
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const auth = await doorOf({
      introspection: { ...introspectionClient, endpoint: "https://auth.example.com/ask" },
    });
    const most = limitOf("introspections kept");
    for (let number = 0; number <= most; number++) await auth(`token-${number}`);
    expect(asked).toBe(most + 1);
    await auth(`token-${most}`);
    await auth("token-1");
    expect(asked).toBe(most + 1);
    await auth("token-0");
    expect(asked).toBe(most + 2);
  });
});

async function doorOf(changes: AuthChanges): Promise<(token: string) => Promise<unknown>> {
  const { bearerAuth } = await import("halyard/auth");
  const resource = "https://mcp.example.com/mcp";
  const auth = bearerAuth({ resource, authorizationServers: ["https://auth.example.com"], ...changes });
  return async (token) => auth.authenticate(headWith(token));
}

describe("verify", () => {
  const resource = "https://mcp.example.com/mcp";
  const claims = { sub: "alice", aud: resource, scope: "notes:write" };

  test("answers what a token says, and issuer, audience and times are checked after it [RS-AUDIENCE, RS-VALIDATE, AUTH-CUSTOM]", async () => {
    const door = async (said: object | undefined): Promise<unknown> =>
      (await doorOf({ verify: async () => said as typeof claims | undefined }))("some-token");
    const issued = "https://auth.example.com";
    expect(await door(claims)).toMatchObject({ issuer: issued, subject: "alice", scopes: ["notes:write"] });
    expect(await door(undefined)).toMatchObject({ status: 401, message: "The token is not valid" });
    expect(await door({ ...claims, aud: undefined })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, aud: "https://other.example" })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, iss: "https://other.example" })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, exp: Date.now() / 1000 - 10 })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, exp: "soon" })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, nbf: Date.now() / 1000 + 60 })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, sub: undefined })).toMatchObject({ status: 401 });
    expect(await door({ ...claims, sub: undefined, client_id: "robot" })).toMatchObject({ subject: "robot" });
  });

  test.each(['some-token"\r\nX: y', "", 5, true, null, () => claims])(
    "that answers with %j says nothing, and it is not repeated",
    async (answer) => {
      const door = await doorOf({ verify: () => answer as never });
      expect(await door("some-token")).toMatchObject({
        status: 401,
        message: expect.stringMatching(/^The token/),
      });
    },
  );

  test.each([
    ["access", "alice"],
    ["access_token", "alice"],
    ["id", undefined],
    ["refresh_token", undefined],
  ])(
    "that answers with the token_use %s is believed only of access tokens [RS-VALIDATE]",
    async (use, subject) => {
      const answer = await (await doorOf({ verify: () => ({ ...claims, token_use: use }) }))("some-token");
      expect(answer).toMatchObject(subject === undefined ? { status: 401 } : { subject });
    },
  );

  test("that throws is 503, and what it throws is not repeated", async () => {
    const door = await doorOf({
      verify: (token) => {
        throw new TypeError(`Cannot read ${token}`);
      },
    });
    const refusal = await door("some-token");
    expect(refusal).toMatchObject({
      status: 503,
      problem: expect.stringMatching(
        /verify\(\) threw a TypeError: return undefined for a token that is not valid$/,
      ),
    });
    expect(JSON.stringify(refusal)).not.toContain("some-token");
  });
});
