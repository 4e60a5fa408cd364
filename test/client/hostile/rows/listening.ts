// Subscriptions: unrequested acknowledgements and changes, and floods of them.
import { expect, onTestFinished } from "vitest";
import { failing, newestLegacy } from "../../../support/http-script.ts";
import type { ServerEnd } from "../../../support/scripted-wire.ts";
import { nextTurn, until } from "../../../support/turns.ts";
import type { Row } from "../row.ts";
import { expectAlive, type Wired, wired } from "../wired.ts";

const idKey = "io.modelcontextprotocol/subscriptionId";
const acknowledge = (end: ServerEnd, id: unknown, notifications: unknown): void =>
  end.notify("notifications/subscriptions/acknowledged", { _meta: { [idKey]: id }, notifications });

/** A modern server that acknowledges what it is asked, and keeps the ids of its streams. */
async function listened(): Promise<Wired & { ids: unknown[] }> {
  const ids: unknown[] = [];
  const all = await wired({});
  all.server.on("subscriptions/listen", ({ id, params }, end) => {
    ids.push(id);
    acknowledge(end, id, params?.["notifications"]);
  });
  return { ...all, ids };
}

const uri = "note:///a";

export const listeningRows: readonly Row[] = [
  {
    name: "acknowledgements and changes that name other subscriptions, or none, reach nobody",
    async attack() {
      const { server, client, ids, ignored } = await listened();
      const changes: unknown[] = [];
      const listening = await client.listen({ resources: [uri] }, (change) => void changes.push(change));
      onTestFinished(() => listening.close());
      const [id] = ids;
      for (const other of [String(id), Number(id) + 1, null, undefined, [id], { id }, "__proto__"]) {
        acknowledge(server.end, other, { toolsListChanged: true });
        server.end.notify("notifications/resources/updated", { uri, _meta: { [idKey]: other } });
      }
      acknowledge(server.end, id, { toolsListChanged: true, promptsListChanged: true });
      server.end.notify("notifications/tools/list_changed", { _meta: { [idKey]: id } });
      for (const odd of [1, null, {}, undefined])
        server.end.notify("notifications/resources/updated", { uri: odd, _meta: { [idKey]: id } });
      server.end.notify("notifications/resources/updated", { uri, _meta: { [idKey]: id } });
      await until(() => changes.length > 0);
      expect(changes).toEqual([{ kind: "resource", uri, cause: "changed" }]);
      expect(listening.honoured).toEqual({ resources: [uri] });
      expect(ignored()).toHaveLength(20);
    },
  },
  {
    name: "changes that nobody takes are kept up to the limit, however long their URIs are",
    limit: "limits.maxChanges",
    async attack() {
      const { server, client, ids } = await listened();
      const listening = await client.listen({ resources: [uri], tools: true });
      const [id] = ids;
      for (let at = 0; at < 200; at++) {
        const long = `${uri}/${at}/${"x".repeat(200_000)}`;
        server.end.notify("notifications/resources/updated", { uri: long, _meta: { [idKey]: id } });
      }
      for (let at = 0; at < 5000; at++)
        server.end.notify("notifications/tools/list_changed", { _meta: { [idKey]: id } });
      await expectAlive(client);
      const iterator = listening[Symbol.asyncIterator]();
      let characters = 0;
      let count = 0;
      for (;;) {
        const next = iterator.next();
        const taken = await Promise.race([next, nextTurn().then(() => undefined)]);
        if (taken === undefined || taken.done) break;
        characters += taken.value.uri?.length ?? 0;
        count++;
      }
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThanOrEqual(1025);
      expect(characters).toBeLessThan(10_000_000);
      await listening.close();
    },
  },
  {
    name: "a server that ends each stream at once is not asked again and again",
    async attack() {
      const { server, client } = await wired({}, { backoff: { firstMs: 50, maxMs: 100, maxAttempts: 3 } });
      server.on("subscriptions/listen", ({ id, params }, end) => {
        acknowledge(end, id, params?.["notifications"]);
        return { resultType: "complete" };
      });
      const listening = await client.listen({ tools: true }, () => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(server.of("subscriptions/listen").length).toBeLessThan(12);
      await listening.close();
    },
  },
  {
    name: "an acknowledgement of nothing, or of any shape, is a clear error",
    async attack() {
      for (const notifications of [
        undefined,
        null,
        [],
        "x",
        {},
        { __proto__: null, x: 1 },
        { toolsListChanged: "yes" },
      ]) {
        const { server, client } = await wired({});
        server.on("subscriptions/listen", ({ id }, end) => acknowledge(end, id, notifications));
        expect((await failing(client.listen({ tools: true }))).message).toContain("tools");
      }
    },
  },
  {
    name: "a flood of changes on a session calls the handler, and asks for nothing",
    async attack() {
      const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
      const { server, client } = await wired({ revision: newestLegacy, capabilities });
      server.on("resources/subscribe", () => ({})).on("resources/unsubscribe", () => ({}));
      let seen = 0;
      const listening = await client.listen({ tools: true, resources: [uri] }, () => void seen++);
      const before = server.received.length;
      for (let at = 0; at < 5000; at++) {
        server.end.notify("notifications/tools/list_changed");
        server.end.notify("notifications/resources/updated", { uri });
      }
      await expectAlive(client);
      expect(seen).toBeGreaterThan(0);
      expect(server.received.length).toBe(before + 1);
      await listening.close();
    },
  },
];
