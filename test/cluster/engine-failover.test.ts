// A replica of Redis takes over that lacks the last writes: the nodes notice what is gone, and notify the clients.
import { describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { EngineProxy } from "../support/engine-proxy.ts";
import { type EngineProcess, hasEngine } from "../support/engines.ts";
import { ofType } from "../support/events.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { allBack, arrived, isUpdate, numbersOn, push, startEngine, twoNodes } from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };

function offsetOf(engine: EngineProcess, field: string): number {
  return Number(new RegExp(`${field}:(\\d+)`).exec(engine.cli("info", "replication"))?.[1] ?? -1);
}

/** A replica of the engine, and the proxy through which it follows. */
async function replicate(primary: EngineProcess): Promise<{ replica: EngineProcess; link: EngineProxy }> {
  const link = await EngineProxy.open(primary.url);
  const { port } = new URL(link.url);
  const replica = await startEngine("redis-server", { args: ["--replicaof", "127.0.0.1", port] });
  await until(() => replica.cli("info", "replication").includes("master_link_status:up"));
  return { replica, link };
}

describe.skipIf(!hasEngine("redis-server"))("a replica that lacks the tail", () => {
  test("the loss becomes a gap that the client is notified of, and no number is mistaken", async () => {
    const {
      engine: primary,
      one,
      other,
    } = await twoNodes("redis-server", {
      engine: { args: ["--repl-diskless-sync-delay", "0"] },
    });
    const { replica, link } = await replicate(primary);
    const client = await SessionClient.open(one);
    await client.request("resources/subscribe", note);
    const stream = await clientAt(other, client).get();
    const away = await SessionClient.open(one);
    const awayStream = await away.get();
    await push(one, client.id, 1);
    await push(one, away.id, 1);
    await Promise.all([arrived(stream, 1), arrived(awayStream, 1)]);
    const written = offsetOf(primary, "master_repl_offset");
    await until(() => offsetOf(replica, "slave_repl_offset") >= written);

    link.freeze();
    await push(one, client.id, 2);
    await push(one, away.id, 2);
    await Promise.all([arrived(stream, 2), arrived(awayStream, 2)]);
    const lostSession = await SessionClient.open(one);
    await awayStream.vanish();

    replica.cli("replicaof", "no", "one");
    for (const { proxy } of [one, other]) proxy.lead(replica.url);
    await primary.kill();
    await allBack(one, other);
    await stream.message(isUpdate);
    await until(() => ofType(other.events, "gap").some(({ session }) => session === client.id));
    expect(await push(one, client.id, 3)).toBe(true);
    await arrived(stream, 3);
    expect(numbersOn(stream)).toEqual([1, 2, 3]);

    // The event id of a lost entry is no place in the new log.
    expect(await push(other, away.id, 3)).toBe(true);
    const resumed = await clientAt(other, away).get(awayStream.lastEventId);
    expect(resumed.status).toBe(200);
    await until(() => ofType(other.events, "gap").some(({ session }) => session === away.id));
    expect(await push(one, away.id, 4)).toBe(true);
    await arrived(resumed, 4);
    expect(new Set(numbersOn(resumed)).size).toBe(numbersOn(resumed).length);

    const place = stream.lastEventId;
    await stream.vanish();
    await push(one, client.id, 5);
    const next = await clientAt(one, client).get(place);
    await arrived(next, 5);
    expect(numbersOn(next)).toEqual([5]);
    for (const node of [one, other])
      expect((await clientAt(node, lostSession).start("ping")).status).toBe(404);
  });
});
