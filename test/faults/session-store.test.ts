// A session store that fails, throws, or never answers: what is known here is served, the rest is 503, and nothing is unhandled.
import { McpServer } from "halyard";
import { MemorySessionStore, type SessionStore } from "halyard/node";
import { describe, expect, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { recordingLogger } from "../support/log.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { edges, initialize, serve, SessionClient } from "../support/sessions.ts";
import { nextTurn } from "../support/turns.ts";

const outages: Readonly<Record<string, () => Promise<never>>> = {
  rejects: () => Promise.reject(new Error("down")),
  throws: () => {
    throw new Error("down");
  },
  "never answers": () => new Promise<never>(() => {}),
};

/** A store that can be taken away, and counts what it is asked meanwhile. */
class Outage implements SessionStore {
  readonly store = new MemorySessionStore();
  fail: (() => Promise<never>) | undefined;
  asked = 0;

  save: SessionStore["save"] = (...save) => this.#ask(() => this.store.save(...save));
  load: SessionStore["load"] = (id) => this.#ask(() => this.store.load(id));
  touch: SessionStore["touch"] = (...touch) => this.#ask(() => this.store.touch(...touch));
  remove: SessionStore["remove"] = (id) => this.#ask(() => this.store.remove(id));

  #ask<T>(ask: () => Promise<T>): Promise<T> {
    if (this.fail === undefined) return ask();
    this.asked++;
    return this.fail();
  }
}

expectNoUnhandledRejections();

describe.each(edges)("%s", (edge) => {
  describe.each(Object.entries(outages))("a store that %s", (_, fail) => {
    async function setup() {
      holdClocks("setInterval", "clearInterval", "setTimeout", "clearTimeout");
      const logger = recordingLogger();
      const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
      server.resource("note:///a", {}, () => "");
      server.secureRequestState({ keys: ["a secret of thirty-two bytes, or more"] });
      const sessionStore = new Outage();
      const served = await serve(server, { sessionStore, limits: { idleMs: 60_000 } }, edge);
      const client = await SessionClient.open(served);
      /** Lets the time pass that a store has to answer, once it has been asked. */
      const orTimeUp = async <T>(work: Promise<T>): Promise<T> => {
        const { asked } = sessionStore;
        while (sessionStore.asked === asked) await nextTurn();
        await vi.advanceTimersByTimeAsync(5000);
        return work;
      };
      return { logger, server, sessionStore, served, client, orTimeUp };
    }

    test("ends no process and no session that is known here; others are 503, and the log says it once", async () => {
      const { logger, sessionStore, served, client, orTimeUp } = await setup();
      sessionStore.fail = fail;
      await vi.advanceTimersByTimeAsync(50_000);
      expect(await client.request("ping")).toMatchObject({ result: {} });
      await vi.advanceTimersByTimeAsync(50_000);
      expect(await client.request("ping")).toMatchObject({ result: {} });
      for (let at = 0; at < 3; at++) {
        const unknown = await orTimeUp(new SessionClient(served.url, "unknown").start("ping"));
        expect([unknown.status, unknown.headers["retry-after"]]).toEqual([503, "5"]);
        const fresh = await orTimeUp(initialize(served.url));
        expect([fresh.status, fresh.headers["mcp-session-id"]]).toEqual([503, undefined]);
      }
      expect(served.stats().sessions).toBe(1);
      expect(logger.entries.filter(({ level }) => level === "error")).toHaveLength(1);
    });

    test("is told what it missed when it is back: uses, changes, and ends", async () => {
      const { server, sessionStore, served, client, orTimeUp } = await setup();
      const { store } = sessionStore;
      const ended = await SessionClient.open(served);
      sessionStore.fail = fail;
      expect(await orTimeUp(client.request("resources/subscribe", { uri: "note:///a" }))).toMatchObject({
        result: {},
      });
      expect(await server.push.isSubscribed("note:///a")).toBe(true);
      expect(await orTimeUp(ended.delete())).toBe(503);
      expect((await orTimeUp(ended.start("ping"))).status).toBe(503);
      sessionStore.fail = undefined;
      await vi.advanceTimersByTimeAsync(15_000);
      expect(await store.load(ended.id)).toBeUndefined();
      expect(await store.load(client.id)).toMatchObject({ subscriptions: ["note:///a"] });
      expect((await ended.start("ping")).status).toBe(404);
      for (let at = 0; at < 4; at++) {
        expect(await client.request("ping")).toMatchObject({ result: {} });
        await vi.advanceTimersByTimeAsync(40_000);
      }
      expect(await store.load(client.id)).toBeDefined();
    });

    test("is asked one thing at a time by what looks after sessions", async () => {
      const { sessionStore, client } = await setup();
      sessionStore.fail = fail;
      for (let at = 0; at < 10; at++) {
        await client.request("ping");
        await vi.advanceTimersByTimeAsync(1000);
      }
      expect(sessionStore.asked).toBeLessThanOrEqual(11);
      if (fail === outages["never answers"]) expect(sessionStore.asked).toBeLessThanOrEqual(3);
    });
  });
});
