// What redisBackplane asks of a Redis server, what it costs there, and how its keys are laid out.
import { createClient } from "@redis/client";
import { redisBackplane } from "halyard/redis";
import { afterEach, describe, expect, test } from "vitest";
import { type EngineNode, openNode } from "../../support/engine-nodes.ts";
import { type EngineOptions, EngineProcess, hasEngine } from "../../support/engines.ts";
import { until } from "../../support/turns.ts";

const running: EngineProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((redis) => redis.stop()));
});

async function start(options: EngineOptions = {}): Promise<EngineProcess> {
  const redis = await EngineProcess.start("redis-server", options);
  running.push(redis);
  return redis;
}

function open(redis: EngineProcess, prefix?: string): Promise<EngineNode> {
  return openNode(redisBackplane(createClient({ url: redis.url })), prefix);
}

/** How often Redis ran each command since it was told to count anew, but for those that clients connect with. */
function commandsOf(redis: EngineProcess): Record<string, number> {
  const lines = redis.cli("info", "commandstats").matchAll(/^cmdstat_([^:|]+)[^:]*:calls=(\d+)/gm);
  const counted = Array.from(lines, ([, name = "", calls]) => [name, Number(calls)] as const);
  return Object.fromEntries(counted.filter(([name]) => !["config", "info", "command"].includes(name)));
}

const record = JSON.stringify({ id: "x".repeat(36), text: "y".repeat(340) });

describe.runIf(hasEngine("redis-server"))("redisBackplane", () => {
  test("warns once if Redis may evict keys, and says what to set", async () => {
    const redis = await start({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
    const { logger, outages } = await open(redis);
    const warnings = (): string[] => logger.entries.map(({ message }) => message);
    expect(warnings()).toEqual([
      "Redis has maxmemory-policy allkeys-lru: when its memory is full, Redis silently removes sessions, tasks and messages. " +
        "Set `maxmemory-policy noeviction`",
    ]);
    redis.cli("client", "kill", "type", "pubsub");
    await until(() => outages.includes("back"));
    expect(warnings().length).toBe(1);
  });

  test("says nothing about eviction if Redis evicts nothing", async () => {
    const { logger } = await open(await start());
    expect(logger.entries).toEqual([]);
  });

  test("numbers of entries never go back, whatever the server's clock does", async () => {
    const redis = await start();
    const { engine } = await open(redis);
    const future = 8_000_000_000_000_000;
    redis.cli("rpush", "test:{a}:log", `${future} 0 1 x`);
    const sequence = await engine.append("a", "next", { keepMs: 60_000 });
    expect(sequence).toBe(future + 1);
    expect((await engine.read("a", 1)).map(({ previous }) => previous)).toEqual([0, future]);
  });

  test("nodes that never come back do not stay among the followers of a log", async () => {
    const redis = await start();
    const { engine, id } = await open(redis);
    for (const log of ["a", "b"]) redis.cli("zadd", `test:{${log}}:followers`, "1", "dead", "2", "gone");
    await engine.follow(["a"], 60_000);
    await engine.append("b", "1", { keepMs: 60_000, follow: "start" });
    for (const log of ["a", "b"]) expect(redis.cli("zrange", `test:{${log}}:followers`, "0", "-1")).toBe(id);
  });

  test("works for a user who may not ask for INFO", async () => {
    const redis = await start();
    redis.cli("acl", "setuser", "default", "-info", "-config");
    const { engine, logger } = await open(redis);
    expect(await engine.create({ kind: "session", tag: "a" }, record, 1000)).toBeDefined();
    expect(logger.entries).toEqual([]);
  });

  test("refuses a server in cluster mode with a client that knows no clusters", async () => {
    await expect(open(await start({ isCluster: true }))).rejects.toThrow(
      "Redis runs in cluster mode: pass a client of createCluster() or new Redis.Cluster() to redisBackplane",
    );
  });

  test("refuses a replica, and leaves a server that becomes one", async () => {
    const redis = await start();
    const node = await open(redis);
    redis.cli("replicaof", "127.0.0.1", "1");
    await expect(open(redis)).rejects.toThrow("is a replica");
    await expect(node.engine.append("log", "text", { keepMs: 1000 })).rejects.toThrow("READONLY");
    await until(() => node.outages.includes("lost"));
    redis.cli("replicaof", "no", "one");
    await until(() => node.outages.includes("back"));
    await node.engine.append("log", "text", { keepMs: 1000 });
  });

  test("an idle session takes less than 1 KB, its place in the count included", async () => {
    const redis = await start();
    const { engine } = await open(redis, "halyard:a server with a name:");
    const ids = Array.from({ length: 200 }, () => crypto.randomUUID());
    for (const tag of ids) await engine.create({ kind: "session", tag }, record, 60_000);
    await engine.touch(
      ids.map((tag) => ({ kind: "session", tag })),
      60_000,
    );
    const keys = redis.cli("keys", "*").split("\n");
    expect(keys.length).toBe(ids.length + 1);
    const bytes = keys.map((key) => Number(redis.cli("memory", "usage", key, "samples", "0")));
    const total = bytes.reduce((sum, size) => sum + size, 0) / ids.length;
    expect(total).toBeGreaterThan(record.length);
    expect(total).toBeLessThan(1024);
  });

  test("needs one command for an entry and one for a message, and never looks for keys", async () => {
    const redis = await start();
    const [one, other] = [await open(redis), await open(redis)];
    const session = { kind: "session", tag: "a" } as const;
    await one.engine.create(session, record, 60_000);
    await one.engine.append("log", "first", { keepMs: 60_000, follow: "start" });
    await other.engine.follow(["log"], 60_000);
    await one.engine.count("session");
    redis.cli("config", "resetstat");
    for (let count = 0; count < 100; count++) {
      await one.engine.append("log", "text", { keepMs: 60_000 });
      await other.engine.send(one.id, "text");
    }
    await until(() => one.messages.length === 100 && other.entries.length === 100);
    const { evalsha, publish, ...inside } = commandsOf(redis);
    // Every entry is published twice by the script, to both followers.
    expect({ evalsha, publish }).toEqual({ evalsha: 100, publish: 300 });
    expect(Object.keys(inside).toSorted()).toEqual([
      "lindex",
      "llen",
      "pexpire",
      "rpush",
      "time",
      "zrangebyscore",
    ]);
  });

  test("every key expires, and keys of one tag share a hash tag", async () => {
    const redis = await start();
    const { engine } = await open(redis, "a{b}:");
    const tag = "{}*\r\n";
    const version = await engine.create({ kind: "session", tag }, record, 60_000);
    await engine.replace({ kind: "session", tag }, record, 60_000, version ?? "");
    await engine.create({ kind: "mark", tag }, "", 60_000);
    await engine.append(tag, "text", { keepMs: 60_000, follow: "start" });
    await engine.follow([tag, "unknown"], 60_000);
    const keys = redis.cli("keys", "*").split("\n");
    expect(keys.toSorted()).toEqual([
      "a%007bb%007d:index:session",
      "a%007bb%007d:{%007b%007d%002a%000d%000a}:followers",
      "a%007bb%007d:{%007b%007d%002a%000d%000a}:log",
      "a%007bb%007d:{%007b%007d%002a%000d%000a}:mark",
      "a%007bb%007d:{%007b%007d%002a%000d%000a}:session",
      "a%007bb%007d:{unknown}:followers",
    ]);
    expect(keys.filter((key) => Number(redis.cli("pttl", key)) <= 0)).toEqual([]);
  });
});
