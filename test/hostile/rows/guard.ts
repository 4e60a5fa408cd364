// A page that the user visits speaks to a server on the user's machine: nothing of it gets past the guard.
import { expect } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import { modernPost, post, type RawRequest } from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { modernCall } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { type HttpDoor, openHttp } from "../mounts.ts";
import type { HttpRow } from "../row.ts";

type Mount = Parameters<HttpRow["attack"]>[0];

/** A server that counts how often it was made to do something. */
async function counting(
  mount: Mount,
): Promise<{ door: HttpDoor; calls: () => number; requests: () => number }> {
  const { server, events } = makeServer();
  let calls = 0;
  server.tool("act", {}, () => `${++calls}`);
  const door = await openHttp(mount, server);
  return { door, calls: () => calls, requests: () => events.filter(({ type }) => type === "request").length };
}

const changed = (request: RawRequest, headers: Record<string, string | undefined>): RawRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

/** Each of these headers, on every route, is refused by 403 before anything is done. */
async function refusesEach(mount: Mount, header: string, values: readonly string[]): Promise<void> {
  const { door, requests } = await counting(mount);
  for (const route of door.routes) {
    for (const value of values) {
      const reply = await door.send(changed(route, { [header]: value }));
      // A server in front may find that it is no host at all.
      expect([400, 403], `${route.method ?? "POST"} ${value}`).toContain((await reply.complete()).status);
    }
  }
  expect(requests()).toBe(0);
}

const rebinding = (name: string, advisory: string, header: string, values: readonly string[]): HttpRow => ({
  over: "http",
  name,
  advisories: [advisory],
  requirements: header === "host" ? ["HTTP-HOST-VALIDATE"] : ["HTTP-ORIGIN-VALIDATE", "HTTP-ORIGIN-403"],
  attack: (mount) => refusesEach(mount, header, values),
});

const notSse = {
  "HTTP+SSE": "takes messages of a stream that is open, and a cross-site page has none",
} as const;

export const guardRows: readonly HttpRow[] = [
  rebinding("a foreign Host is refused on every route, with no option set", "CVE-2025-66414", "host", [
    "evil.example",
    "evil.example:80",
  ]),
  rebinding("a foreign Origin is refused on every route, with no option set", "CVE-2025-66416", "origin", [
    "https://evil.example",
    "http://evil.example:8080",
  ]),
  rebinding("a Host that only looks like this machine is refused", "CVE-2026-35568", "host", [
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "localhost@evil.example",
    "127.0.0.1.",
    "0.0.0.0",
  ]),
  rebinding("an Origin that only looks like this machine is refused", "CVE-2026-63118", "origin", [
    "null",
    "http://localhost.evil.example",
    "http://localhost@evil.example",
    "file://",
    "chrome-extension://localhost",
  ]),
  {
    over: "http",
    name: "both routes of HTTP+SSE stand behind the same guard",
    advisories: ["CVE-2026-34742"],
    requirements: ["SSE24-ORIGIN"],
    leftOut: {
      serveHttp: "has the routes only when HTTP+SSE is mounted, which is a mount of its own here",
      fetchHandler: "the same",
      Express: "the same",
    },
    async attack(mount) {
      const { door } = await counting(mount);
      const client = await door.connect();
      await refusesEach(mount, "host", ["evil.example"]);
      await refusesEach(mount, "origin", ["https://evil.example"]);
      expect(await client.request("ping")).toEqual({});
    },
  },
  {
    over: "http",
    name: "a request without a Host, or with two, gets nowhere",
    advisories: ["CVE-2026-42559"],
    requirements: ["HTTP-HOST-VALIDATE"],
    async attack(mount) {
      const { door, requests } = await counting(mount);
      const path = door.routes[0]?.path ?? "/mcp";
      for (const head of [
        `POST ${path} HTTP/1.0\r\n`,
        `GET ${path} HTTP/1.0\r\nAccept: text/event-stream\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\nConnection: close\r\n`,
        `GET http://localhost${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n`,
      ]) {
        const text = await openRaw(door.port).request(`${head}\r\n`);
        expect(text, head).toMatch(/^HTTP\/1\.[01] 40[0-9]/);
      }
      expect(requests()).toBe(0);
    },
  },
  {
    over: "http",
    name: "an upgrade to WebSocket is not taken, and gets past no guard",
    advisories: ["CVE-2026-59950"],
    async attack(mount) {
      const { door } = await counting(mount);
      const path = door.routes[0]?.path ?? "/mcp";
      const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`;
      const foreign = openRaw(door.port);
      foreign.socket.write(`${head}Origin: https://evil.example\r\n\r\n`);
      await expect.poll(foreign.text).toMatch(/^HTTP\/1\.1 403/);
      const own = openRaw(door.port);
      own.socket.write(`${head}\r\n`);
      await expect.poll(own.text).toMatch(/^HTTP\/1\.1 /);
      expect(own.text()).not.toMatch(/^HTTP\/1\.1 101/);
    },
  },
  {
    over: "http",
    name: "a page cannot run a tool with a POST that a browser sends without asking first",
    advisories: ["GO-2026-4773"],
    leftOut: notSse,
    async attack(mount) {
      const { door, calls } = await counting(mount);
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        undefined,
      ]) {
        for (const origin of ["https://evil.example", undefined]) {
          const request = modernPost(modernCall(1, "act"), { "content-type": type, origin });
          expect((await door.send(request)).status).toBe(origin === undefined ? 415 : 403);
        }
      }
      expect(calls()).toBe(0);
    },
  },
  {
    over: "http",
    name: "no page may read an answer: there is no CORS header, nor a preflight that allows one",
    advisories: ["CVE-2026-34237"],
    async attack(mount) {
      const { door } = await counting(mount);
      const preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      };
      for (const origin of ["http://localhost:1", "https://evil.example"]) {
        for (const route of [...door.routes, { ...door.routes[0], method: "OPTIONS", body: undefined }]) {
          const reply = await door.send(changed(route, { origin, ...preflight }));
          const names = Object.keys(reply.headers).filter((name) => name.startsWith("access-control-"));
          expect(names).toEqual([]);
          reply.abort();
        }
      }
    },
  },
  {
    over: "http",
    name: "what a proxy header says changes nothing about the host",
    async attack(mount) {
      const { door } = await counting(mount);
      for (const route of door.routes) {
        const headers = {
          host: "evil.example",
          "x-forwarded-host": "localhost",
          forwarded: "host=localhost",
        };
        expect((await door.send(changed(route, headers))).status).toBe(403);
      }
    },
  },
  {
    over: "http",
    name: "headers count whatever the case of their names, and twice is not another value",
    leftOut: notSse,
    async attack(mount) {
      const { door, calls } = await counting(mount);
      const { body } = modernPost(modernCall(1, "act"));
      const rest = `\r\nConnection: close\r\nContent-Length: ${String(body).length}\r\n\r\n${String(body)}`;
      const own =
        "POST /mcp HTTP/1.1\r\nHOST: localhost\r\nCONTENT-TYPE: application/json\r\nmcp-PROTOCOL-version: 2026-07-28\r\nMCP-METHOD: tools/call\r\nmcp-NAME: act";
      expect(await openRaw(door.port).request(own + rest)).toContain('"text":"1"');
      for (const added of ["oRiGiN: https://evil.example", "Mcp-Name: other", "Mcp-Method: tools/list"]) {
        const text = await openRaw(door.port).request(`${own}\r\n${added}${rest}`);
        expect(text, added).toMatch(/^HTTP\/1\.1 40[03]/);
      }
      expect(calls()).toBe(1);
      expect((await door.send(post("{}", { "mcp-session-id": "a, b" }))).status).toBe(404);
    },
  },
  {
    over: "http",
    name: "the health path, which any host may ask, tells one word and is no way to anything else",
    async attack(mount) {
      const { server, events } = makeServer();
      const door = await openHttp(mount, server, { health: true });
      const asks = (request: RawRequest): Promise<HttpReply> =>
        door.send(changed({ path: "/health", ...request }, { host: "evil.example" }));
      expect((await (await asks({ method: "GET" })).complete()).text).toBe("ok");
      for (const path of ["/health/", "/health/../mcp", "/Health", "//health", "/mcp"])
        expect((await asks({ method: "GET", path })).status, path).not.toBe(200);
      expect((await asks(modernPost(modernCall(1, "act")))).status).toBe(405);
      const foreign = await door.send({
        method: "GET",
        path: "/health",
        headers: { origin: "https://evil.example" },
      });
      expect(foreign.status).toBe(403);
      expect(events.filter(({ type }) => type === "request")).toEqual([]);
    },
  },
];
