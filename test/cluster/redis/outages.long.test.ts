// A Redis that goes away, comes back with or without its data, hangs or forgets: with every client.
import { afterEach, describe, expect, test } from "vitest";
import {
  type BackplaneRow,
  backplanes,
  type RunningBackplane,
  startBackplane,
} from "../../support/backplanes.ts";
import { type EngineNode, openNode } from "../../support/engine-nodes.ts";
import type { EngineProcess } from "../../support/engines.ts";
import { until } from "../../support/turns.ts";

const rows = backplanes.filter(({ engine }) => engine === "redis-server");
const session = { kind: "session", tag: "a" } as const;
const kept = { keepMs: 60_000 };

let running: RunningBackplane | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

interface Site {
  readonly redis: EngineProcess;
  readonly one: EngineNode;
  readonly other: EngineNode;
}

async function start(row: BackplaneRow, isPersistent = false): Promise<Site> {
  running = await startBackplane({ ...row, options: { ...row.options, isPersistent } });
  const { backplane, process: redis } = running;
  if (redis === undefined) throw new Error(`${row.name} has no process`);
  return { redis, one: await openNode(backplane), other: await openNode(backplane) };
}

/** Every operation of the engine, none of which may wait for Redis to come back. */
function everything({ engine }: EngineNode): Promise<unknown>[] {
  return [
    engine.get(session),
    engine.create(session, "text", 60_000),
    engine.replace(session, "text", 60_000, "version"),
    engine.touch([session], 60_000),
    engine.remove(session),
    engine.count("session"),
    engine.append("log", "text", kept),
    engine.read("log", 0),
    engine.follow(["log"], 60_000),
    engine.unfollow("another"),
    engine.removeLog("log"),
    engine.send("all", "text"),
  ];
}

describe.each(rows)("$name", (row) => {
  test("rejects everything at once while Redis is away, and says once that it is lost and back", async () => {
    const { redis, one, other } = await start(row);
    await one.engine.create(session, "gone", 60_000);
    await one.engine.append("log", "first", { ...kept, follow: "start" });
    await other.engine.follow(["log"], 60_000);
    await redis.kill();
    await until(() => one.outages.length > 0 && other.outages.length > 0);
    const outcomes = await Promise.allSettled(everything(one));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toEqual([]);

    await redis.start();
    await until(() => one.outages.includes("back") && other.outages.includes("back"));
    expect(await one.engine.get(session)).toBeUndefined();
    // No node registers again as a reader, and the new number is greater than the one that Redis has forgotten.
    const [before] = one.entries;
    await other.engine.append("log", "second", kept);
    await until(() => one.entries.length === 2 && other.entries.length === 1);
    expect(one.entries[1]).toMatchObject({ log: "log", previous: 0, text: "second" });
    expect(one.entries[1]?.sequence).toBeGreaterThan(before?.sequence ?? Infinity);
    await one.engine.send(other.id, "hello");
    await until(() => other.messages.includes("hello"));
    expect([one.outages, other.outages]).toEqual([
      ["lost", "back"],
      ["lost", "back"],
    ]);
  });

  test("finds values and logs again if Redis kept them", async () => {
    const { redis, one, other } = await start(row, true);
    const version = await one.engine.create(session, "kept", 60_000);
    const sequence = await one.engine.append("log", "first", { ...kept, follow: "start" });
    await until(() => one.entries.length === 1);
    await redis.restart();
    await until(() => one.outages.includes("back") && other.outages.includes("back"));
    expect(await other.engine.get(session)).toEqual({ text: "kept", version });
    expect(await other.engine.count("session")).toBe(1);
    await other.engine.append("log", "second", kept);
    await until(() => one.entries.length === 2);
    expect(one.entries[1]).toMatchObject({ previous: sequence, text: "second" });
  });

  test("an operation that Redis does not answer rejects when Redis is gone", async () => {
    const { redis, one } = await start(row);
    redis.pause();
    const outcomes = Promise.allSettled(everything(one));
    await redis.kill();
    expect((await outcomes).filter(({ status }) => status === "fulfilled")).toEqual([]);
  });

  test("a subscriber that Redis disconnects is replaced, and follows again", async () => {
    const { redis, one, other } = await start(row);
    await one.engine.follow(["log"], 60_000);
    const killed = Number(redis.cli("client", "kill", "type", "pubsub"));
    expect(killed).toBeGreaterThanOrEqual(2);
    await until(() => one.outages.includes("back") && other.outages.includes("back"));
    await other.engine.append("log", "text", kept);
    await until(() => one.entries.length === 1);
    await other.engine.send("all", "hello");
    await until(() => one.messages.length === 1 && other.messages.length === 1);
    expect([one.outages, other.outages]).toEqual([
      ["lost", "back"],
      ["lost", "back"],
    ]);
  });

  test("scripts that Redis has forgotten are sent again", async () => {
    const { redis, one } = await start(row);
    const version = await one.engine.create(session, "1", 60_000);
    await one.engine.append("log", "1", kept);
    expect(redis.cli("script", "flush")).toBe("OK");
    expect(await one.engine.replace(session, "2", 60_000, version ?? "")).toBeDefined();
    await one.engine.append("log", "2", kept);
    expect((await one.engine.read("log", 0)).map(({ text }) => text)).toEqual(["1", "2"]);
    expect(await one.engine.count("session")).toBe(1);
  });

  test("texts may have several megabytes", async () => {
    const { one, other } = await start(row);
    const text = "🙂".repeat(1_500_000);
    await one.engine.create(session, text, 60_000);
    expect((await other.engine.get(session))?.text === text).toBe(true);
    await other.engine.follow(["log"], 60_000);
    await one.engine.append("log", text, kept);
    await until(() => other.entries.length === 1);
    expect(other.entries[0]?.text === text).toBe(true);
    expect((await other.engine.read("log", 0))[0]?.text === text).toBe(true);
    await one.engine.send(other.id, text);
    await until(() => other.messages.length === 1);
    expect(other.messages[0] === text).toBe(true);
  });

  test("a node that closes while Redis is away leaves no connection behind", async () => {
    const { redis, one, other } = await start(row);
    await redis.kill();
    await until(() => one.outages.length > 0 && other.outages.length > 0);
    await one.engine.close();
    await redis.start();
    await until(() => other.outages.includes("back"));
    expect(one.outages).toEqual(["lost"]);
    await expect(one.engine.send("all", "hello")).rejects.toThrow("has closed its engine");
  });
});
