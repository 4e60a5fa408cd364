// Which clients redisBackplane accepts, and that it takes their options but leaves them alone.
import { createClient, createClientPool, createSentinel } from "@redis/client";
import { redisBackplane } from "halyard/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openNode } from "../../support/engine-nodes.ts";
import { EngineProcess, hasEngine } from "../../support/engines.ts";
import { until } from "../../support/turns.ts";

const session = { kind: "session", tag: "a" } as const;

describe("redisBackplane", () => {
  const strangers: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    "an address": "redis://127.0.0.1:6379",
    "the options of a client": { url: "redis://127.0.0.1:6379" },
    "the constructor of a client": Redis,
    "a pool": createClientPool(),
    "a sentinel": createSentinel({ name: "main", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] }),
  };
  test.each(Object.entries(strangers))("refuses %s in place of a client", (_, stranger) => {
    expect(() => redisBackplane(stranger as never)).toThrow(
      "redisBackplane: client must be a client: createClient({ url }) or createCluster() of redis 5 or later",
    );
  });

  test("refuses options that cannot work", () => {
    const client = createClient();
    const secret = "x".repeat(32);
    for (const [options, message] of [
      [{ prefix: "" }, "prefix must be a text that is not empty"],
      [{ prefix: 1 }, "prefix must be a text that is not empty, not 1"],
      [{ secret: "x".repeat(31) }, "secret must be a text of at least 32 bytes"],
      [{ secret: [secret, "short"] }, "secret must be a text of at least 32 bytes"],
      [
        { secret: [] },
        "secret must be a text of at least 32 bytes, or a list of them, not an empty list: create one with `openssl rand -base64 32`",
      ],
      [{ leaseMs: 0 }, "leaseMs must be a whole number of milliseconds from 1 to 2147483647, not 0"],
      [{ prefixes: "x" }, "prefixes is not an option: did you mean prefix?"],
    ] as const) {
      expect(() => redisBackplane(client, options as never)).toThrow(`redisBackplane: ${message}`);
    }
    const options = { prefix: "p", secret: [secret, "ü".repeat(16)], leaseMs: 1000 };
    expect(redisBackplane(client, options)).toMatchObject({ engine: "Redis", options });
  });

  test("says what to do if nothing listens", async () => {
    for (const client of [createClient({ url: "redis://127.0.0.1:1" }), idle("redis://127.0.0.1:1")]) {
      await expect(openNode(redisBackplane(client))).rejects.toMatchObject({
        code: "BACKPLANE_UNAVAILABLE",
        message: expect.stringMatching(
          /^Could not connect to Redis: .*ECONNREFUSED.*\. Start Redis, or correct the options of the client/,
        ) as string,
      });
    }
  });

  test("refuses a client of ioredis that is closed", async () => {
    const client = idle("redis://127.0.0.1:1");
    client.disconnect();
    await until(() => client.status === "end");
    expect(() => redisBackplane(client)).toThrow("redisBackplane: client is closed");
  });
});

/** A client of ioredis that does not connect by itself. */
function idle(url: string, options: object = {}): Redis {
  const client = new Redis(url, { lazyConnect: true, ...options });
  client.on("error", () => {});
  return client;
}

describe.runIf(hasEngine("redis-server"))("redisBackplane on a server", () => {
  let redis: EngineProcess;
  beforeAll(async () => {
    redis = await EngineProcess.start("redis-server", { args: ["--requirepass", "open sesame"] });
  });
  afterAll(() => redis?.stop());

  const url = (): string => redis.url.replace("//", `//:${encodeURIComponent("open sesame")}@`);

  /** A client in use, with options that would spoil what the backplane does. */
  const clients = {
    "@redis/client": async () => {
      const client = createClient({
        url: url(),
        RESP: 2,
        keyPrefix: "mine:",
        commandOptions: { typeMapping: { 36: Buffer, 58: String } },
      });
      await client.connect();
      onTestFinished(() => client.destroy());
      return { client, call: (...command: string[]) => client.sendCommand(command) };
    },
    ioredis: async () => {
      const client = new Redis(url(), {
        keyPrefix: "mine:",
        stringNumbers: true,
        enableAutoPipelining: true,
        protocol: 2,
      });
      onTestFinished(() => client.disconnect());
      return { client, call: (name: string, ...args: string[]) => client.call(name, ...args) };
    },
  };

  test.each(Object.entries(clients))(
    "%s: takes over the password, and no other option that matters",
    async (_, make) => {
      const { client, call } = await make();
      const backplane = redisBackplane(client);
      const [one, other] = [await openNode(backplane, "p:"), await openNode(backplane, "p:")];
      await one.engine.remove(session);
      const version = await one.engine.create(session, "text", 60_000);
      expect(await other.engine.get(session)).toEqual({ text: "text", version });
      expect(await other.engine.replace(session, "more", 60_000, version ?? "")).toBeDefined();
      await other.engine.follow(["log"], 60_000);
      await one.engine.append("log", "entry", { keepMs: 60_000 });
      await until(() => other.entries.length === 1);
      expect(String(await call("KEYS", "*"))).toMatch(/^(.*,)?p:{a}:session/);
    },
  );

  test.each(Object.entries(clients))("%s: leaves the client alone", async (_, make) => {
    const { client, call } = await make();
    const before = Number(await call("CLIENT", "ID"));
    const node = await openNode(redisBackplane(client), "p:");
    await node.engine.send("all", "hello");
    await node.engine.close();
    // The same connection, which still works, and was neither subscribed nor closed.
    expect(Number(await call("CLIENT", "ID"))).toBe(before);
    await until(async () => !/cmd=(subscribe|publish)/.test(String(await call("CLIENT", "LIST"))));
  });

  test.each(Object.entries(clients))("%s: refuses a client that is subscribed", async (_, make) => {
    const { client } = await make();
    await (client as Redis).subscribe("mine", () => {});
    expect(() => redisBackplane(client)).toThrow(
      "redisBackplane: client is in subscriber mode: pass the client that sends your commands",
    );
  });

  test.each(["@redis/client", "ioredis"])("%s: a wrong password is said", async (name) => {
    const wrong = redis.url.replace("//", "//:wrong@");
    const client = name === "ioredis" ? idle(wrong) : createClient({ url: wrong });
    await expect(openNode(redisBackplane(client))).rejects.toThrow(/Could not connect to Redis: .*WRONGPASS/);
  });
});
