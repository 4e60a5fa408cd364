// The hub as a whole: it gives back what it took, and delivers exactly what was asked for whatever the order of things.
import * as fc from "fast-check";
import { McpServer, type RequestId } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { isAck, listen, settled, stampedWith, stopListening, toldTo } from "../../support/listen.ts";
import { PipePeer } from "../../support/pipe.ts";
import { nextTurn } from "../../support/turns.ts";

function fullServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.prompt("greet", {}, () => "Hello");
  server.resource("note:///a", {}, () => "a");
  return server;
}

describe("the hub", () => {
  test("is empty again after 10,000 subscriptions have come and gone", async () => {
    const server = fullServer();
    const peer = new PipePeer(server);
    const filter = { toolsListChanged: true, resourceSubscriptions: ["note:///a", "note:///b"] };
    for (let at = 0; at < 10_000; at++) {
      peer.start("subscriptions/listen", { notifications: filter }, at % 7);
      stopListening(peer.client, at % 7);
      if (at % 100 === 99) await nextTurn();
      else await Promise.resolve().then(() => Promise.resolve());
    }
    await nextTurn();
    expect(await server.push.count()).toBe(0);
    expect(await server.push.isSubscribed("note:///a")).toBe(false);
    expect(peer.pipe.connection.subscriptions).toBe(0);
    for (let id = 0; id < 7; id++) expect(peer.pipe.connection.inFlight.has(id)).toBe(false);
    await peer.pipe.end(0);
  });

  test("is empty again after 1,000 legacy sessions have come and gone", async () => {
    const server = fullServer();
    for (let at = 0; at < 1000; at++) {
      const client = await connect(server, { revision: "2025-11-25" });
      await client.request("resources/subscribe", { uri: "note:///a" });
      void client.close();
    }
    await nextTurn();
    expect(await server.push.count()).toBe(0);
    expect(await server.push.sessions()).toEqual([]);
    expect(await server.push.isSubscribed("note:///a")).toBe(false);
  });

  test("tells every observer what was pushed, and how many it reached", async () => {
    const pushed: unknown[] = [];
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      { observe: (event) => event.type === "push" && pushed.push(event) },
    );
    server.tool("first", {}, () => "first");
    server.resource("note:///a", {}, () => "a");
    await nextTurn();
    pushed.length = 0;
    const client = await connect(server, { revision: "2026-07-28" });
    await listen(client, { resourceSubscriptions: ["note:///a"] }, 1);
    await server.resources.updated("note:///a");
    await server.push.broadcast("notifications/message", { level: "info", data: 1 });
    expect(pushed).toEqual([
      { type: "push", notification: "notifications/resources/updated", key: "note:///a", delivered: 1 },
      { type: "push", notification: "notifications/message", key: undefined, delivered: 0 },
    ]);
    await client.close();
  });
});

// What may happen, in any order. Ids are few, so that they are used again, and of every kind.
const ids: RequestId[] = [0, "", "0", 1, "1", "sub"];
const uris = ["note:///a", "note:///b", "note:///c"];
const lists = ["tools", "prompts", "resources"] as const;

type Step =
  | { readonly do: "listen"; readonly id: RequestId; readonly lists: string[]; readonly uris: string[] }
  | { readonly do: "cancel"; readonly id: RequestId }
  | { readonly do: "change"; readonly list: (typeof lists)[number] }
  | { readonly do: "update"; readonly uri: string }
  | { readonly do: "turn" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("listen" as const),
    id: fc.constantFrom(...ids),
    lists: fc.subarray([...lists]),
    uris: fc.subarray(uris),
  }),
  fc.record({ do: fc.constant("cancel" as const), id: fc.constantFrom(...ids) }),
  fc.record({ do: fc.constant("change" as const), list: fc.constantFrom(...lists) }),
  fc.record({ do: fc.constant("update" as const), uri: fc.constantFrom(...uris) }),
  fc.record({ do: fc.constant("turn" as const) }),
);

interface Open {
  readonly lists: readonly string[];
  readonly uris: readonly string[];
}

describe("the hub under any order of events", () => {
  test("each subscription is told exactly what it asked for, in order, stamped with its id [SUB-OPT-IN, SUB-ACK-FIRST, SUB-ID-VALUE, SUB-CONCURRENT-FANOUT, SUB-CANCEL-SERVER-STOP]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const server = fullServer();
        await nextTurn();
        const peer = new PipePeer(server);
        const open = new Map<RequestId, Open>();
        const expected = new Map<RequestId, string[]>(ids.map((id) => [id, []]));
        const tell = (wants: (subscription: Open) => boolean, what: string): void => {
          for (const [id, subscription] of open) if (wants(subscription)) expected.get(id)?.push(what);
        };
        for (const next of steps) {
          switch (next.do) {
            case "listen": {
              // The same id again while it is open is refused, and harms nothing.
              if (!open.has(next.id)) {
                open.set(next.id, next);
                expected.get(next.id)?.push("ack");
              }
              const flags = Object.fromEntries(next.lists.map((list) => [`${list}ListChanged`, true]));
              const notifications = { ...flags, resourceSubscriptions: next.uris };
              peer.start("subscriptions/listen", { notifications }, next.id);
              break;
            }
            case "cancel":
              open.delete(next.id);
              stopListening(peer.client, next.id);
              // The id is free once the call has ended, a few microtasks later.
              await nextTurn();
              break;
            case "change":
              tell((subscription) => subscription.lists.includes(next.list), `${next.list}/list_changed`);
              await server.push.publish(`notifications/${next.list}/list_changed`);
              break;
            case "update":
              tell((subscription) => subscription.uris.includes(next.uri), `resources/updated ${next.uri}`);
              await server.resources.updated(next.uri);
              break;
            case "turn":
              await nextTurn();
          }
        }
        await settled(peer.client);
        const told = new Map(
          ids.map((id) => [
            id,
            stampedWith(peer.written, id).map((message) =>
              isAck(message) ? "ack" : (toldTo([message], id)[0] ?? "result"),
            ),
          ]),
        );
        expect(told).toEqual(expected);
        expect(await server.push.count()).toBe(open.size);
        await peer.pipe.end(0);
        expect(await server.push.count()).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test("a reader that is slow at any time still ends up knowing everything that changed", async () => {
    const events = fc.array(fc.oneof(step, fc.constantFrom("slow" as const, "drain" as const)), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(events, async (steps) => {
        const server = fullServer();
        await nextTurn();
        const peer = new PipePeer(server);
        const filter = {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: uris,
        };
        await listen(peer.client, filter, "all");
        /** When each topic last changed, and was last told, by a clock of our own. */
        const changed = new Map<string, number>();
        const told = new Map<string, number>();
        let clock = 0;
        peer.onWrite = (message) => {
          const [what] = toldTo([message], "all");
          if (what !== undefined) told.set(what, clock);
        };
        for (const next of steps) {
          clock++;
          if (next === "slow") peer.slow = true;
          else if (next === "drain") peer.drain();
          else if (next.do === "change") {
            changed.set(`${next.list}/list_changed`, clock);
            await server.push.publish(`notifications/${next.list}/list_changed`);
          } else if (next.do === "update") {
            changed.set(`resources/updated ${next.uri}`, clock);
            await server.resources.updated(next.uri);
          }
        }
        clock++;
        peer.drain();
        for (const [what, at] of changed) expect(told.get(what) ?? 0).toBeGreaterThanOrEqual(at);
        await peer.pipe.end(0);
      }),
      { numRuns: 150 },
    );
  });
});
