// Two clients of one server: neither sees, stops or answers what is the other's.
import type { JsonObject } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect } from "vitest";
import { call, makeServer, textOf } from "../../support/catalogue.ts";
import { deferred, nextTurn } from "../../support/turns.ts";
import { openDoor } from "../mounts.ts";
import type { MessageRow } from "../row.ts";

const start = (client: TestClient, id: number | string, name: string, args: JsonObject = {}): void =>
  client.send({ jsonrpc: "2.0", id, method: "tools/call", ...client.withMeta({ name, arguments: args }) });

/** None that a handshake uses. */
const ids = [21, 22, "x"];

const answerTo = (client: TestClient, id: number | string): Promise<unknown> =>
  client.waitFor((message) => "id" in message && message.id === id && !("method" in message));

/** `hold` answers what it was given, once the gate is open. */
function holdingServer() {
  const made = makeServer();
  const gate = deferred();
  let begun = 0;
  made.server.tool("hold", { input: { type: "object" } }, async (args, ctx) => {
    begun++;
    await gate.promise;
    ctx.progress(1);
    return ctx.signal.aborted ? "cancelled" : JSON.stringify(args);
  });
  return { ...made, gate, begun: () => begun };
}

export const isolationRows: readonly MessageRow[] = [
  {
    over: "messages",
    name: "two clients that use the same ids at the same time each get their own answers",
    advisories: ["CVE-2026-25536"],
    async attack(mount) {
      const { server, gate, begun } = holdingServer();
      const door = await openDoor(mount, server);
      const clients = [await door.connect(), await door.connect()];
      for (const [at, client] of clients.entries())
        for (const id of ids) start(client, id, "hold", { of: at, id });
      await expect.poll(begun).toBe(6);
      gate.resolve();
      for (const [at, client] of clients.entries()) {
        for (const id of ids) {
          const text = JSON.stringify({ of: at, id });
          expect(await answerTo(client, id)).toMatchObject({ result: { content: [{ text }] } });
        }
        expect(JSON.stringify(client.received)).not.toContain(JSON.stringify({ of: 1 - at }).slice(1, -1));
      }
    },
  },
  {
    over: "messages",
    name: "a cancellation names an id of another client, and stops nothing of it",
    async attack(mount) {
      const { server, gate, begun } = holdingServer();
      const door = await openDoor(mount, server);
      const [victim, other] = [await door.connect(), await door.connect()];
      start(victim, "v", "hold");
      await expect.poll(begun).toBe(1);
      other.notify("notifications/cancelled", { requestId: "v" });
      await other.request("ping");
      gate.resolve();
      expect(await answerTo(victim, "v")).toMatchObject({ result: { content: [{ text: "{}" }] } });
    },
  },
  {
    over: "messages",
    name: "an answer to a question that another client was asked is taken for none",
    async attack(mount) {
      const { server } = makeServer();
      server.tool("ask", {}, async (_, ctx) => JSON.stringify(await ctx.ask("roots/list", {})));
      const door = await openDoor(mount, server);
      const capabilities = { roots: {} };
      const [victim, other] = [await door.connect({ capabilities }), await door.connect({ capabilities })];
      start(victim, "v", "ask");
      const question = await victim.waitFor((message) => "method" in message && "id" in message);
      const { id } = question as unknown as { id: string };
      other.send({ jsonrpc: "2.0", id, result: { forged: true } });
      await other.request("ping");
      victim.send({ jsonrpc: "2.0", id, result: { own: true } });
      expect(await answerTo(victim, "v")).toMatchObject({ result: { content: [{ text: '{"own":true}' }] } });
    },
  },
  {
    over: "messages",
    name: "an answer to nothing that was asked, whatever its id is made of, is passed over",
    async attack(mount) {
      const { server } = makeServer();
      server.tool("fine", {}, () => "fine");
      const client = await (await openDoor(mount, server)).connect();
      for (const id of ["1", 1, null, {}, [], '{"toString":1}'])
        client.send({ jsonrpc: "2.0", id, result: {} });
      client.sendText('{"jsonrpc":"2.0","id":{"toString":1},"result":{}}');
      client.sendText('{"jsonrpc":"2.0","id":{"toString":1},"error":null}');
      expect(textOf(await call(client, "fine"))).toBe("fine");
    },
  },
  {
    over: "messages",
    name: "what is pushed to one session, and its progress under a token that both use, reach no other",
    requirements: ["HTTP-MULTI-NO-BROADCAST"],
    async attack(mount) {
      const { server, events, gate, begun } = holdingServer();
      const door = await openDoor(mount, server);
      const [victim, other] = [await door.connect(), await door.connect()];
      const opened = events.find((event) => event.type === "session");
      await server.push.toSession(opened?.session ?? "", "notifications/message", {
        level: "info",
        data: "private",
      });
      const params = { name: "hold", arguments: {}, _meta: { progressToken: 7 } };
      for (const [id, client] of [victim, other].entries())
        client.send({ jsonrpc: "2.0", id: `p${id}`, method: "tools/call", params });
      await expect.poll(begun).toBe(2);
      gate.resolve();
      await Promise.all([answerTo(victim, "p0"), answerTo(other, "p1")]);
      await victim.waitFor((message) => JSON.stringify(message).includes("private"));
      await nextTurn();
      for (const client of [victim, other])
        expect(client.notifications("notifications/progress")).toHaveLength(1);
      expect(JSON.stringify(other.received)).not.toContain("private");
    },
  },
];
