// One caller among many: what it may have of the server, and that no trick gives it more.
import type { HttpOptions } from "halyard/node";
import { expect } from "vitest";
import { stoppedClock } from "../../support/clock.ts";
import { modernPost, post, type RawRequest } from "../../support/http.ts";
import { discover, httpServer, modernCall, ping } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { until } from "../../support/turns.ts";
import { type HttpDoor, openHttp } from "../mounts.ts";
import type { HttpRow } from "../row.ts";

type Mount = Parameters<HttpRow["attack"]>[0];
type RateLimit = Exclude<HttpOptions["rateLimit"], false | undefined>;

async function limited(mount: Mount, rateLimit: RateLimit, options: HttpOptions = {}) {
  const fixture = httpServer();
  const clock = stoppedClock();
  const door = await openHttp(mount, fixture.server, {
    ...options,
    rateLimit: { perPrincipal: false, ...rateLimit, now: clock.now },
  });
  return { ...fixture, door, clock };
}

const as = (user: string | undefined): RawRequest =>
  modernPost(discover, user === undefined ? {} : { "x-user": user });

async function statuses(door: HttpDoor, ...requests: RawRequest[]): Promise<number[]> {
  const seen: number[] = [];
  for (const request of requests) {
    const reply = await door.send(request);
    seen.push(reply.status);
    reply.abort();
  }
  return seen;
}

const noRate = { perMinute: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY };

export const callerRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "a caller that hurries is told how long to wait, and is served when it has waited so long and no sooner",
    limit: "perMinute",
    async attack(mount) {
      const { door, clock } = await limited(mount, { perPrincipal: { perMinute: 6, burst: 1 } });
      expect(await statuses(door, as("a"))).toEqual([200]);
      const refused = await door.send(as("a"));
      expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "10" } });
      clock.advance(9999);
      expect(await statuses(door, as("a"))).toEqual([429]);
      clock.advance(1);
      expect(await statuses(door, as("a"), as("a"), as("b"))).toEqual([200, 429, 200]);
    },
  },
  {
    over: "http",
    name: "what is refused on one route is refused on all of them, unread, and costs the others nothing",
    limit: "burst",
    async attack(mount) {
      const { door } = await limited(mount, { perAddress: { perMinute: 1, burst: 3 } });
      expect(await statuses(door, as("a"), as("b"), as("c"), as("d"))).toEqual([200, 200, 200, 429]);
      for (const route of [...door.routes, { method: "PUT" }, { method: "GET", path: "/nothing" }])
        expect(await statuses(door, route as RawRequest)).not.toContain(200);
      const raw = openRaw(door.port);
      raw.socket.write(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
      );
      // Express reads a body before it calls the endpoint.
      if (mount !== "Express") await until(() => raw.text().startsWith("HTTP/1.1 429"));
    },
  },
  {
    over: "http",
    name: "a batch counts as its messages, so that it is no way past the limit",
    leftOut: { "HTTP+SSE": "is of a revision without batches" },
    async attack(mount) {
      const { door } = await limited(mount, { perPrincipal: { perMinute: 1, burst: 10 } });
      const headers = { "x-user": "a", "mcp-protocol-version": "2025-03-26" };
      const batch = Array.from({ length: 50 }, (_, id) => ({ ...ping, id }));
      await statuses(door, post(batch, headers));
      expect(await statuses(door, as("a"), as("b"))).toEqual([429, 200]);
    },
  },
  {
    over: "http",
    name: "requests that never end are as many as one caller may have at once, and others have their own",
    limit: "concurrent",
    async attack(mount) {
      const { door, waiting, gate } = await limited(mount, { perPrincipal: { ...noRate, concurrent: 2 } });
      const wait = modernPost(modernCall(1, "wait"), { "x-user": "a" });
      const held = [door.send(wait), door.send(wait)];
      await until(() => waiting() === 2);
      const refused = await door.send(as("a"));
      expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
      expect(await statuses(door, as("b"), as(undefined))).toEqual([200, 200]);
      gate.resolve();
      for (const reply of await Promise.all(held)) await reply.complete();
      expect(await statuses(door, as("a"))).toEqual([200]);
    },
  },
  {
    over: "http",
    name: "a crowd of callers takes no more memory than the limit, and pushes nobody's count out",
    limit: "limits.maxCallers",
    async attack(mount) {
      const perPrincipal = { perMinute: 1, burst: 1 };
      const { door } = await limited(mount, { perPrincipal }, { limits: { maxCallers: 3 } });
      expect(await statuses(door, as("known"))).toEqual([200]);
      const crowd = Array.from({ length: 20 }, (_, at) => as(`crowd ${at}`));
      const seen = await statuses(door, ...crowd);
      // Two have places of their own, and all others share one.
      expect(seen.filter((status) => status === 200)).toHaveLength(3);
      expect(door.stats().callers).toBe(3);
      expect(await statuses(door, as("known"))).toEqual([429]);
    },
  },
  {
    over: "http",
    name: "names that look alike are counted apart, and headers of a proxy make nobody another",
    async attack(mount) {
      const { door } = await limited(mount, {
        perPrincipal: { perMinute: 1, burst: 1 },
        perAddress: { perMinute: 1, burst: 5 },
      });
      expect(await statuses(door, as("__proto__"), as("constructor"), as("__proto__"))).toEqual([
        200, 200, 429,
      ]);
      const forged = {
        "x-forwarded-for": "203.0.113.9",
        forwarded: "for=203.0.113.9",
        "x-real-ip": "203.0.113.9",
      };
      const other = (at: number): RawRequest => modernPost(discover, { "x-user": `u${at}`, ...forged });
      expect(await statuses(door, other(1), other(2), other(3))).toEqual([200, 200, 429]);
    },
  },
];
