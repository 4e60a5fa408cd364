// What a bearer token can make a server do, and an authorization server can do to it: so much, and no more.
import { type AuthRefusal, developmentIssuer } from "halyard/auth";
import { expect, onTestFinished, vi } from "vitest";
import { limitOf } from "../../auth/limits.ts";
import { makeServer } from "../../support/catalogue.ts";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { modernPost } from "../../support/http.ts";
import { modernCall } from "../../support/http-server.ts";
import { until } from "../../support/turns.ts";
import { makeKey } from "../../support/signing-keys.ts";
import { type HttpDoor, openHttp } from "../mounts.ts";
import type { HttpRow } from "../row.ts";
import { bearer, guarded } from "./authorization.ts";

const introspection = { clientId: "server", clientSecret: "secret" };

/** The endpoint of Streamable HTTP is there on each mount, and its door is the one of every route. */
async function statusOf(door: HttpDoor, token: string): Promise<number> {
  const reply = await door.send(modernPost(modernCall(1, "read"), bearer(token)));
  await reply.complete();
  return reply.status;
}

export const authorizationLimitRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "a token that is too long is not even looked at",
    limit: "characters of a token",
    async attack(mount) {
      const { issuer, door, authenticate } = await guarded(mount);
      const limit = limitOf("characters of a token");
      expect(await authenticate("x".repeat(limit))).toMatchObject({ status: 401 });
      expect(await authenticate("x".repeat(limit + 1))).toMatchObject({ status: 400 });
      // HTTP servers limit headers themselves, by default more strictly.
      expect([400, 431]).toContain(await statusOf(door, "x".repeat(limit + 1)).catch(() => 431));
      expect(await statusOf(door, await issuer.token({ filler: "x".repeat(8000) }))).toBe(200);
    },
  },
  {
    over: "http",
    name: "a token is good for no longer after its end than clocks may differ",
    limit: "clockToleranceSeconds",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      const tolerance = limitOf("clockToleranceSeconds");
      stopClock();
      const now = Math.floor(Date.now() / 1000);
      expect(await statusOf(door, await issuer.token({ exp: now - tolerance + 2 }))).toBe(200);
      expect(await statusOf(door, await issuer.token({ exp: now - tolerance - 1 }))).toBe(401);
      expect(await statusOf(door, await issuer.token({ nbf: now + tolerance + 2 }))).toBe(401);
    },
  },
  {
    over: "http",
    name: "a flood of tokens with keys that nobody knows has them asked for once",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      expect(await statusOf(door, await issuer.token())).toBe(200);
      const key = await makeKey();
      for (let at = 0; at < 10; at++)
        expect(await statusOf(door, await issuer.token({}, { key, kid: `${at}` }))).toBe(401);
      expect(issuer.asked.get("/jwks")).toBe(1);
      passSeconds(limitOf("seconds between fetches of keys") + 1);
      expect(await statusOf(door, await issuer.token({}, { key, kid: "x" }))).toBe(401);
      expect(issuer.asked.get("/jwks")).toBe(2);
    },
  },
  {
    over: "http",
    name: "a key that was taken back counts no longer than keys are kept",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      const [stolen] = issuer.keys;
      expect(await statusOf(door, await issuer.token())).toBe(200);
      issuer.keys = [await makeKey()];
      passSeconds(limitOf("seconds that keys are kept") + 1);
      expect(await statusOf(door, await issuer.token({}, stolen && { key: stolen }))).toBe(401);
      expect(await statusOf(door, await issuer.token())).toBe(200);
    },
  },
  {
    over: "http",
    name: "an authorization server that fails is not asked again at once, whatever tokens come",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      issuer.misbehave = (_, response) => void response.writeHead(500).end();
      stopClock();
      for (let at = 0; at < 5; at++) expect(await statusOf(door, await issuer.token({ at }))).toBe(503);
      const asked = [...issuer.asked.values()].reduce((sum, count) => sum + count, 0);
      expect(asked).toBe(2);
      issuer.misbehave = undefined;
      passSeconds(limitOf("seconds after a failed fetch") + 1);
      expect(await statusOf(door, await issuer.token())).toBe(200);
    },
  },
  {
    over: "http",
    name: "a token that names no key has a few of them tried, and not as many as there are",
    limit: "keys tried for a token",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      const limit = limitOf("keys tried for a token");
      issuer.keys = await Promise.all(Array.from({ length: limit + 1 }, makeKey));
      const statuses = [];
      for (const key of issuer.keys) {
        const unnamed = await issuer.token({}, { key, kid: undefined } as never);
        statuses.push(await statusOf(door, unnamed));
      }
      expect(statuses).toEqual([...Array.from({ length: limit }, () => 200), 401]);
    },
  },
  {
    over: "http",
    name: "an authorization server that never answers is given up, for all who wait at once",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      issuer.misbehave = () => {};
      stopClock();
      const wait = AbortSignal.timeout.bind(AbortSignal);
      const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => wait(50));
      onTestFinished(() => timeout.mockRestore());
      const token = await issuer.token();
      const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(door, token)));
      expect(new Set(statuses)).toEqual(new Set([503]));
      expect(timeout).toHaveBeenCalledWith(limitOf("seconds for an answer") * 1000);
      // Two places where the metadata may be, each asked once.
      expect([...issuer.asked.values()]).toEqual([1, 1]);
    },
  },
  {
    over: "http",
    name: "an authorization server that answers without end is not heard out",
    limit: "bytes of an answer",
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      let sent = 0;
      const limit = limitOf("bytes of an answer");
      issuer.misbehave = (request, response) => {
        if (request.url !== "/jwks") {
          response.setHeader("content-type", "application/json");
          return void response.end(
            JSON.stringify({ issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/jwks` }),
          );
        }
        const pour = (): void => {
          do sent += 65_536;
          while (response.write(" ".repeat(65_536)) && !response.destroyed);
        };
        response.on("drain", pour);
        pour();
      };
      expect(await statusOf(door, await issuer.token())).toBe(503);
      // The buffers of the system hold some more than was read.
      expect(sent).toBeLessThan(limit + 16 * 1024 * 1024);
      issuer.misbehave = undefined;
      passSeconds(limitOf("seconds after a failed fetch") + 1);
      expect(await statusOf(door, await issuer.token())).toBe(200);
    },
  },
  {
    over: "http",
    name: "a flood of made-up tokens does not become a flood of the authorization server",
    limit: "introspections at once",
    async attack(mount) {
      const { issuer, door, authenticate } = await guarded(mount, { introspection });
      const limit = limitOf("introspections at once");
      const waiting: (() => void)[] = [];
      expect(await statusOf(door, "first")).toBe(401);
      issuer.misbehave = (_, response) => {
        response.setHeader("content-type", "application/json");
        waiting.push(() => response.end(JSON.stringify({ active: false })));
      };
      // One address alone gets half of them.
      const asked = Array.from({ length: limit / 2 }, (_, at) => authenticate(`t${at}`));
      await until(() => waiting.length === limit / 2);
      expect(await statusOf(door, "late")).toBe(503);
      for (const answer of waiting) answer();
      for (const refusal of await Promise.all(asked)) expect(refusal).toMatchObject({ status: 401 });
      issuer.misbehave = undefined;
      expect(await statusOf(door, "late")).toBe(401);
    },
  },
  {
    over: "http",
    name: "answers about tokens are kept for so many, and the one asked for longest ago is forgotten",
    limit: "introspections kept",
    async attack(mount) {
      const { issuer, door, authenticate } = await guarded(mount, { introspection });
      let asked = 0;
      const real = globalThis.fetch;
      const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
        if (!String(url).endsWith("/introspect")) return real(url, init);
        asked++;
        return Response.json({ active: false });
      });
      onTestFinished(() => fetched.mockRestore());
      const limit = limitOf("introspections kept");
      stopClock();
      expect(await statusOf(door, "first")).toBe(401);
      for (let at = 0; at < limit - 1; at++) await authenticate(`t${at}`);
      expect(await statusOf(door, "first")).toBe(401);
      expect(asked).toBe(limit);
      for (let at = 0; at < limit; at++) await authenticate(`u${at}`);
      expect(await statusOf(door, "first")).toBe(401);
      expect(asked).toBe(2 * limit + 1);
      expect(issuer.asked.get("/introspect")).toBeUndefined();
    },
  },
  {
    over: "http",
    name: "a token that was taken back counts no longer than an answer about it is kept",
    limit: "introspection.cacheSeconds",
    async attack(mount) {
      const { issuer, door } = await guarded(mount, { introspection });
      const claims = { active: true, iss: issuer.issuer, sub: "alice", aud: "https://mcp.example/mcp" };
      issuer.introspection = claims;
      const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(door, "t")));
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(issuer.asked.get("/introspect")).toBe(1);
      issuer.introspection = { active: false };
      passSeconds(limitOf("introspection.cacheSeconds") + 1);
      expect(await statusOf(door, "t")).toBe(401);
    },
  },
  {
    over: "http",
    name: "a bad token that is brought again and again is asked about once in a while",
    async attack(mount) {
      const { issuer, door } = await guarded(mount, { introspection });
      for (let at = 0; at < 5; at++) expect(await statusOf(door, "bad")).toBe(401);
      expect(issuer.asked.get("/introspect")).toBe(1);
      passSeconds(limitOf("seconds for a refused one") + 1);
      expect(await statusOf(door, "bad")).toBe(401);
      expect(issuer.asked.get("/introspect")).toBe(2);
    },
  },
  {
    over: "http",
    name: "a refusal does not grow with what a client makes its author repeat",
    limit: "characters of a refusal's body",
    async attack(mount) {
      const limit = limitOf("characters of a refusal's body");
      const body = (length: number): AuthRefusal => ({
        status: 401,
        message: "No",
        body: "x".repeat(length),
      });
      const answers = async (length: number): Promise<[number, number]> => {
        const { server } = makeServer();
        const door = await openHttp(mount, server, { auth: () => body(length) });
        const reply = await (await door.send(modernPost(modernCall(1, "read")))).complete();
        return [reply.status, reply.text.length];
      };
      expect(await answers(limit)).toEqual([401, limit]);
      const [status, length] = await answers(limit + 1);
      expect(status).toBe(500);
      expect(length).toBeLessThan(1000);
    },
  },
  {
    over: "http",
    name: "a token for development that leaks from a log is of no use on the next day",
    limit: "seconds of a development token",
    async attack(mount) {
      const issuer = developmentIssuer();
      const { server } = makeServer();
      server.tool("read", {}, () => "read");
      const door = await openHttp(mount, server, { auth: issuer.auth });
      const limit = limitOf("seconds of a development token");
      await expect(issuer.token({ expiresInSeconds: limit + 1 })).rejects.toThrow(/expiresInSeconds/);
      const token = await issuer.token({ expiresInSeconds: limit });
      expect(await statusOf(door, token)).toBe(200);
      passSeconds(limit + limitOf("clockToleranceSeconds") + 1);
      expect(await statusOf(door, token)).toBe(401);
    },
  },
];
