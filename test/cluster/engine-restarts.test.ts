// The engine is killed and comes back: with its data, or empty. Clients are notified of what they may have missed, and nothing hangs.
import type { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { listenOver, methodsOf, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import {
  addNode,
  allBack,
  arrived,
  defineEcho,
  engineNames,
  hasBeen,
  isUpdate,
  modernStatus,
  numbersOn,
  push,
  sealedBy,
  textOf,
  twoNodes,
} from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };

describe.each(engineNames)("%s", (name) => {
  test("restarted with its data: sessions and streams continue, and every listener is notified to read again", async () => {
    const { engine, one, other } = await twoNodes(name, { engine: { isPersistent: true } });
    const client = await SessionClient.open(one);
    await client.request("resources/subscribe", note);
    const stream = await clientAt(other, client).get();
    const listening = await listenOver(one.url, { resourceSubscriptions: [note.uri] });
    await push(one, client.id, 1);
    await arrived(stream, 1);
    await engine.kill();
    await Promise.all([hasBeen(one, "lost"), hasBeen(other, "lost")]);
    await expect(push(one, client.id, 2)).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
    expect(await modernStatus(one)).toBe(200);
    await engine.start();
    await allBack(one, other);
    expect(await push(one, client.id, 3)).toBe(true);
    expect(await push(other, client.id, 4)).toBe(true);
    await arrived(stream, 4);
    expect(numbersOn(stream)).toEqual([1, 3, 4]);
    await stream.message(isUpdate);
    await listening.message(isUpdate);
    const resumed = await client.get(stream.lastEventId);
    await push(other, client.id, 5);
    await arrived(resumed, 5);
    expect(numbersOn(resumed)).toEqual([5]);
    expect(await client.request("tools/call", { name: "echo" })).toHaveProperty("result");
  });

  test("restarted empty: sessions end with 404, listeners are notified to read again, and new sessions work", async () => {
    const { engine, one, other } = await twoNodes(name);
    const client = await SessionClient.open(one);
    const idle = await SessionClient.open(other);
    const stream = await clientAt(other, client).get();
    const idleStream = await clientAt(one, idle).get();
    const listening = await listenOver(one.url, { resourceSubscriptions: [note.uri] });
    await push(one, client.id, 1);
    await arrived(stream, 1);
    await engine.restart();
    await allBack(one, other);
    await listening.message(isUpdate);
    for (const node of [one, other]) expect((await clientAt(node, client).start("ping")).status).toBe(404);
    // Its client says nothing, and must find out nevertheless.
    await Promise.all([stream.closed, idleStream.closed]);
    expect((await idle.get()).status).toBe(404);
    const again = await SessionClient.open(other);
    const fresh = await clientAt(one, again).get();
    expect(await push(other, again.id, 2)).toBe(true);
    await arrived(fresh, 2);
    expect(await other.server.push.isSubscribed(note.uri)).toBe(true);
    await other.server.resources.updated(note.uri);
    await until(() => methodsOf(listening.messages).filter((told) => told.includes(note.uri)).length === 2);
  });

  test("restarted empty: a result that was stored but not yet written still reaches its client", async () => {
    const gate = deferred();
    const define = (server: McpServer): void => {
      defineEcho(server);
      server.tool("slow", {}, async (_, ctx) => {
        await ctx.progress(1);
        await gate.promise;
        return "done";
      });
    };
    const { engine, one, other } = await twoNodes(name, { define });
    const client = await SessionClient.open(one);
    const reply = await client.post({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "slow", arguments: {}, _meta: { progressToken: 1 } },
    });
    await reply.message(({ method }) => method === "notifications/progress");
    await until(() => reply.lastEventId !== undefined);
    one.engine.deafen();
    gate.resolve();
    await until(() =>
      one.engine.asked.some(
        ({ operation, args }) => operation === "append" && String(args[1]).includes("done"),
      ),
    );
    await engine.restart();
    one.engine.heal();
    await allBack(one, other);
    await reply.closed;
    expect(reply.messages.filter(({ id }) => id === 7)).toHaveLength(1);
  });

  test("restarted empty: a state that was sealed before is still good, on every node", async () => {
    const { engine, one, other } = await twoNodes(name);
    const state = await sealedBy(one);
    expect(await textOf(other, state)).toBe("now");
    await engine.restart();
    await allBack(one, other);
    expect(await textOf(one, state)).toBe("now");
    expect(await textOf(other, state)).toBe("now");
    const third = await addNode(engine);
    expect(await textOf(third, await sealedBy(other))).toBe("now");
  });
});
