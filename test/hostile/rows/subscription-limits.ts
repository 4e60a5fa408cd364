// What peers may subscribe to, one by one and all together.
import type { JsonObject } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect } from "vitest";
import { makeServer, refusal } from "../../support/catalogue.ts";
import { listen, stopListening } from "../../support/listen.ts";
import { until } from "../../support/turns.ts";
import { openDoor } from "../mounts.ts";
import type { MessageRow } from "../row.ts";

const pipesOnly = {
  serveHttp: "has a connection for each listen request: see `maxListens`",
  fetchHandler: "the same",
  Express: "the same",
  "HTTP+SSE": "is of a revision without listen requests",
} as const;

export const subscriptionLimitRows: readonly MessageRow[] = [
  {
    over: "messages",
    name: "one subscription too many on a pipe is refused",
    limit: "limits.maxSubscriptions",
    leftOut: pipesOnly,
    async attack(mount) {
      const { server } = makeServer({ limits: { maxSubscriptions: 1 } });
      server.tool("t", {}, () => "");
      const client = await (await openDoor(mount, server)).connect({ revision: "2026-07-28" });
      await listen(client, { toolsListChanged: true }, "first");
      const second = client.request("subscriptions/listen", { notifications: { toolsListChanged: true } });
      expect(await refusal(second)).toMatchObject({ code: -32600 });
    },
  },
  {
    over: "messages",
    name: "one subscribed resource too many is refused",
    limit: "limits.maxSubscribedKeys",
    async attack(mount) {
      const { server } = makeServer({ limits: { maxSubscribedKeys: 2 } });
      for (const at of [1, 2, 3]) server.resource(`note:///${at}`, {}, () => "");
      const client = await (await openDoor(mount, server)).connect();
      for (const at of [1, 2]) await client.request("resources/subscribe", { uri: `note:///${at}` });
      expect(await refusal(client.request("resources/subscribe", { uri: "note:///3" }))).toMatchObject({
        code: -32600,
      });
    },
  },
  {
    over: "messages",
    name: "long URIs cannot be piled up in subscriptions, and each is given back when it ends",
    limit: "limits.maxSubscribedLength",
    async attack(mount) {
      const { server } = makeServer({ limits: { maxSubscribedLength: 2000 } });
      server.resourceTemplate("note:///{id}", {}, () => "");
      const client = await (await openDoor(mount, server)).connect();
      const ask = (method: string, id: string): Promise<unknown> =>
        client.request(`resources/${method}`, { uri: `note:///${id.repeat(900)}` });
      for (const id of ["a", "b", "a"]) await ask("subscribe", id);
      expect(await refusal(ask("subscribe", "c"))).toMatchObject({ code: -32600 });
      await ask("unsubscribe", "a");
      await ask("subscribe", "c");
    },
  },
  {
    over: "messages",
    name: "all peers together subscribe to no more than the limit, and who leaves makes room",
    limit: "limits.maxTotalSubscribedLength",
    leftOut: { stdio: "has one peer" },
    async attack(mount) {
      const { server } = makeServer({ limits: { maxTotalSubscribedLength: 3800 } });
      server.resourceTemplate("note:///{id}", {}, () => "");
      const door = await openDoor(mount, server);
      const [one, other] = [await door.connect({ user: "one" }), await door.connect({ user: "other" })];
      const uri = (id: string): JsonObject => ({ uri: `note:///${id.repeat(900)}` });
      await one.request("resources/subscribe", uri("a"));
      await other.request("resources/subscribe", uri("a"));
      expect(await refusal(other.request("resources/subscribe", uri("b")))).toMatchObject({ code: -32600 });
      await one.request("resources/unsubscribe", uri("a"));
      await one.request("resources/subscribe", uri("b"));
    },
  },
  {
    over: "messages",
    name: "subscriptions to short URIs count for what they take, not for their characters alone",
    limit: "limits.maxTotalSubscribedLength",
    async attack(mount) {
      const { server } = makeServer({ limits: { maxTotalSubscribedLength: 20_000 } });
      server.resourceTemplate("n:{id}", {}, () => "");
      const door = await openDoor(mount, server);
      const client = await door.connect();
      let taken = 0;
      while (taken < 500) {
        const subscribed = client.request("resources/subscribe", { uri: `n:${taken}` });
        if (await subscribed.then(() => false).catch(() => true)) break;
        taken++;
      }
      expect(taken).toBeGreaterThan(30);
      expect(taken).toBeLessThan(50);
    },
  },
  {
    over: "messages",
    name: "listen requests of all peers together name no more than the limit, and who leaves makes room",
    limit: "limits.maxTotalSubscribedLength",
    leftOut: { "HTTP+SSE": "is of a revision without listen requests" },
    async attack(mount) {
      const { server } = makeServer({ limits: { maxTotalSubscribedLength: 3800 } });
      server.resourceTemplate("note:///{id}", {}, () => "");
      const door = await openDoor(mount, server);
      const revision = "2026-07-28";
      const one = await door.connect({ revision, user: "one" });
      const filter = (...ids: string[]): JsonObject => ({
        resourceSubscriptions: ids.map((id) => `note:///${id.repeat(900)}`),
      });
      // Room for one caller is half of everything, and then what another has left.
      const refused = { code: -32600 };
      const ask = (client: TestClient, ...ids: string[]): Promise<unknown> =>
        client.request("subscriptions/listen", { notifications: filter(...ids) });
      expect(await refusal(ask(one, "a", "b"))).toMatchObject(refused);
      await listen(one, filter("a"), "first");
      expect(await refusal(ask(one, "a"))).toMatchObject(refused);
      if (mount !== "stdio") {
        const other = await door.connect({ revision, user: "other" });
        await listen(other, filter("a"), "theirs");
        expect(await refusal(ask(other, "a"))).toMatchObject(refused);
        stopListening(other, "theirs");
      }
      stopListening(one, "first");
      await until(async () => (await server.push.count()) === 0);
      await listen(one, filter("b"), "second");
    },
  },
];
