// What the engine delivers twice, in another order, or no longer has when a client resumes: nothing is doubled, lost or out of order.
import type { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { engineOf } from "../support/backplane.ts";
import { clientAt } from "../support/cluster.ts";
import { ofType } from "../support/events.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { listenOver, methodsOf, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import {
  arrived,
  defineEcho,
  engineNames,
  type EngineNode,
  isUpdate,
  numbersOn,
  push,
  twoNodes,
} from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };
const numbers = Array.from({ length: 20 }, (_, at) => at + 1);

function define(server: McpServer): void {
  defineEcho(server);
  server.tool("ask", {}, async (_, ctx) => String((await ctx.roots()).length));
}

/** How each of the nodes hears what the engine delivers, until the returned function is called. */
const disturbances: Readonly<Record<string, (nodes: readonly EngineNode[]) => () => void>> = {
  twice(nodes) {
    for (const { engine } of nodes) engine.double();
    return () => {};
  },
  "in reverse": (nodes) => {
    for (const { engine } of nodes) engine.hold();
    const timer = setInterval(() => {
      for (const { engine } of nodes) engine.release();
    }, 20);
    return () => clearInterval(timer);
  },
  "twice, in reverse, and late": (nodes) => {
    for (const { engine } of nodes) engine.hold();
    const timer = setInterval(() => {
      for (const { engine } of nodes) engine.release((held) => [...held.toReversed(), ...held]);
    }, 300);
    return () => clearInterval(timer);
  },
};

describe.each(engineNames)("%s", (name) => {
  test.each(Object.entries(disturbances))("heard %s", async (_, disturb) => {
    const { one, other } = await twoNodes(name, { define });
    const stop = disturb([one, other]);
    try {
      const client = await SessionClient.open(one, { capabilities: { roots: {} } });
      await client.request("resources/subscribe", note);
      const stream = await clientAt(other, client).get();
      const listening = await listenOver(other.url, { resourceSubscriptions: [note.uri] });
      for (const data of numbers) await push(data % 2 ? one : other, client.id, data);
      await until(() => numbersOn(stream).length === numbers.length);
      await one.server.resources.updated(note.uri);
      await Promise.all([stream.message(isUpdate), listening.message(isUpdate)]);
      await one.server.push.broadcast("notifications/message", { level: "info", data: 21 });
      await arrived(stream, 21);

      const asking = await client.call("ask");
      const question = await asking.message(({ method }) => method === "roots/list");
      expect(await clientAt(other, client).answer(question, { result: { roots: [] } })).toBe(202);
      await asking.closed;
      expect(
        asking.messages.filter(({ id, method }) => id !== undefined && method === undefined),
      ).toHaveLength(1);
      expect(asking.messages.filter(({ method }) => method === "roots/list")).toHaveLength(1);
      await push(one, client.id, 22);
      await arrived(stream, 22);
      expect(numbersOn(stream)).toEqual([...numbers, 21, 22]);
      expect(methodsOf(listening.messages).filter((told) => told.includes(note.uri))).toHaveLength(1);
    } finally {
      stop();
    }
  });

  test("the reply to a call is resumed on another node, before and after its end", async () => {
    const { one, other } = await twoNodes(name, { define });
    const client = await SessionClient.open(one, { capabilities: { roots: {} } });
    const asking = await client.call("ask");
    const question = await asking.message(({ method }) => method === "roots/list");
    const [primed] = asking.events;
    const elsewhere = await clientAt(other, client).get(asking.lastEventId);
    expect(await client.answer(question, { result: { roots: [] } })).toBe(202);
    await elsewhere.closed;
    const isResult = ({ result }: { result?: unknown }): boolean => result !== undefined;
    expect(elsewhere.messages.filter(isResult)).toHaveLength(1);
    expect(asking.messages.filter(isResult)).toHaveLength(0);
    const again = await clientAt(other, client).get(primed?.id);
    await again.closed;
    expect(again.messages.map(({ method = "result" }) => method)).toEqual(["roots/list", "result"]);
  });

  test("a log that expires while its client resumes is a gap that the client is notified of", async () => {
    const { one, other } = await twoNodes(name);
    const client = await SessionClient.open(one);
    await client.request("resources/subscribe", note);
    const stream = await client.get();
    await push(one, client.id, 1);
    await arrived(stream, 1);
    await stream.vanish();
    await until(() => one.engine.operations.includes("unfollow"));
    const gate = deferred();
    other.engine.delay("read", () => gate.promise);
    const resuming = clientAt(other, client).get(stream.lastEventId);
    await until(() => other.engine.operations.includes("read"));
    await removeLog(one, client.id);
    gate.resolve();
    const resumed = await resuming;
    await resumed.message(isUpdate);
    expect(ofType(other.events, "gap").some(({ session }) => session === client.id)).toBe(true);
    other.engine.heal();
    await push(one, client.id, 2);
    await arrived(resumed, 2);
    expect(numbersOn(resumed)).toEqual([2]);
  });

  test("an entry that was lost on its way and cannot be read at once is read later", async () => {
    const { one, other } = await twoNodes(name);
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    const missed = other.engine.missEntry();
    await push(one, client.id, 1);
    await missed;
    other.engine.fail("read");
    other.engine.forget();
    await push(one, client.id, 2);
    await until(() => other.engine.operations.includes("read"));
    other.engine.heal();
    await arrived(stream, 2);
    expect(numbersOn(stream)).toEqual([1, 2]);
  });

  test("a change that the engine refused once is made good, although the engine was never lost", async () => {
    const { one, other } = await twoNodes(name);
    const listening = await listenOver(other.url, { resourceSubscriptions: [note.uri] });
    one.engine.fail("append");
    await one.server.resources.updated(note.uri);
    one.engine.heal();
    await listening.message(isUpdate);
  });
});

/** Removes the log of a session, as its expiry does. */
async function removeLog({ backplane }: EngineNode, session: string): Promise<void> {
  const engine = await engineOf(backplane);
  await engine.removeLog(session);
}
