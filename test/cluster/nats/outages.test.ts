// The NATS engine when the server goes away and comes back, with its data or without.
import type { NatsConnection, Status } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { hasEngine } from "../../support/engines.ts";
import { nextTurn, until } from "../../support/turns.ts";
import { callJetStream, connectTo, openNode, startServer } from "./nodes.ts";

const key = { kind: "session", tag: "a" } as const;
const kept = { keepMs: 60_000 };
const outage = ["lost", "back"];

type Engine = Awaited<ReturnType<typeof openNode>>["engine"];

/** Every method of an engine that needs the server. */
const calls: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
  get: (engine) => engine.get(key),
  create: (engine) => engine.create(key, "late", 60_000),
  replace: (engine) => engine.replace(key, "late", 60_000, "1.1"),
  touch: (engine) => engine.touch([key], 60_000),
  remove: (engine) => engine.remove(key),
  count: (engine) => engine.count("session"),
  append: (engine) => engine.append("log", "late", kept),
  read: (engine) => engine.read("log", 0),
  follow: (engine) => engine.follow(["log"], 60_000),
  unfollow: (engine) => engine.unfollow("other"),
  removeLog: (engine) => engine.removeLog("log"),
  send: (engine) => engine.send("all", "late"),
};

describe.skipIf(!hasEngine("nats-server"))("outages of NATS", () => {
  test("a restart with data: nodes are lost and back once, and follow as before", async () => {
    const server = await startServer({ isPersistent: true });
    const [one, other] = [await openNode(server), await openNode(server)];
    const version = await one.engine.create(key, "1", 60_000);
    await one.engine.append("log", "before", { ...kept, follow: "start" });
    await other.engine.follow(["log"], 60_000);
    await server.restart("SIGTERM");
    await until(() => one.outages.length === 2 && other.outages.length === 2);

    expect(await other.engine.get(key)).toEqual({ text: "1", version });
    expect(await other.engine.replace(key, "2", 60_000, version ?? "")).toBeDefined();
    await other.engine.append("log", "after", kept);
    await other.engine.send("all", "hello");
    await until(() => one.entries.length === 2 && other.entries.length === 1 && one.messages.length === 1);
    const entries = await one.engine.read("log", 0);
    expect(entries.map(({ text }) => text)).toEqual(["before", "after"]);
    expect(one.entries.map(({ text }) => text)).toEqual(["before", "after"]);
    expect([one.outages, other.outages]).toEqual([outage, outage]);
  });

  test("a restart without data: the streams are there again before the nodes are back", async () => {
    const server = await startServer();
    const [one, other] = [await openNode(server), await openNode(server)];
    const version = await one.engine.create(key, "1", 60_000);
    await one.engine.append("log", "before", { ...kept, follow: "start" });
    await server.restart();
    await until(() => one.outages.length === 2 && other.outages.length === 2);

    expect(await one.engine.get(key)).toBeUndefined();
    expect(await one.engine.read("log", 0)).toEqual([]);
    // The stream gives out the same number again, which must not be the same version.
    const again = await other.engine.create(key, "other", 60_000);
    expect(again).not.toBe(version);
    expect(await one.engine.replace(key, "2", 60_000, version ?? "")).toBeUndefined();
    expect((await one.engine.get(key))?.text).toBe("other");
    await other.engine.append("log", "after", kept);
    await until(() => one.entries.length === 2);
    expect([one.outages, other.outages]).toEqual([outage, outage]);
  });

  test("while the server is away every call rejects at once, and nothing is done later", async () => {
    const server = await startServer({ isPersistent: true });
    const { engine, outages, messages } = await openNode(server);
    await server.kill();
    await until(() => outages.length === 1);

    const rejected: string[] = [];
    for (const [name, call] of Object.entries(calls)) call(engine).catch(() => rejected.push(name));
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    expect(rejected.toSorted()).toEqual(Object.keys(calls).toSorted());

    await server.start();
    await until(() => outages.length === 2);
    await engine.send("all", "in time");
    await until(() => messages.length > 0);
    expect(messages).toEqual(["in time"]);
    expect(await engine.get(key)).toBeUndefined();
    expect(await engine.read("log", 0)).toEqual([]);
    expect(outages).toEqual(outage);
  });

  test("a client that says everything twice has a node that is lost and back once", async () => {
    const server = await startServer();
    const { engine, outages, messages } = await openNode(server, sayingTwice(await connectTo(server)));
    await server.restart();
    await until(() => outages.includes("back"));
    // Each round trip is time in which it could say so again.
    for (const text of ["1", "2", "3"]) {
      await engine.send("all", text);
      await until(() => messages.includes(text));
    }
    expect(outages).toEqual(outage);
  });

  test("calls in flight reject when the connection breaks, before their own time is over", async () => {
    const server = await startServer({ isPersistent: true });
    const { engine, outages } = await openNode(server);
    server.pause();
    const inFlight = [engine.get(key), engine.append("log", "1", kept), engine.read("log", 0)];
    const outcomes = Promise.allSettled(inFlight);
    await server.kill();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { message: expect.stringMatching(/is lost/) },
      });
    }
    expect(outages).toEqual(["lost"]);
  });

  test("a server that comes back without JetStream is not back", async () => {
    const server = await startServer();
    const node = await openNode(server);
    await server.kill();
    await server.start("--jetstream=false");
    const reconnected = node.connection.status()[Symbol.asyncIterator]();
    while ((await reconnected.next()).value?.type !== "reconnect");
    await expect(node.engine.get(key)).rejects.toThrow();
    await server.restart();
    await until(() => node.outages.length === 2);
    expect(await node.engine.get(key)).toBeUndefined();
    expect(node.outages).toEqual(outage);
  });

  test("a stream that an operator deletes counts as an outage, and is created again", async () => {
    const server = await startServer();
    const node = await openNode(server);
    const first = await node.engine.append("log", "1", { ...kept, follow: "start" });
    const { streams } = await callJetStream<{ streams: string[] }>(node.connection, "STREAM.NAMES");
    for (const name of streams) await callJetStream(node.connection, `STREAM.DELETE.${name}`);
    await expect(node.engine.append("log", "2", kept)).rejects.toThrow(/JetStream/);
    expect(node.outages[0]).toBe("lost");
    await until(() => node.outages.length === 2);
    expect(await node.engine.append("log", "3", kept)).toBeGreaterThan(first);
    await until(() => node.entries.some(({ text }) => text === "3"));
    expect(node.outages).toEqual(outage);
  });

  test("a connection that its owner closes is lost for good", async () => {
    const server = await startServer();
    const { engine, outages, connection } = await openNode(server);
    await connection.close();
    await until(() => outages.length === 1);
    await expect(engine.get(key)).rejects.toThrow(/connection is closed/);
    await expect(engine.send("all", "x")).rejects.toThrow(/connection is closed/);
    await engine.close();
    expect(outages).toEqual(["lost"]);
  });
});

/** The connection, with every status event doubled. */
function sayingTwice(connection: NatsConnection): NatsConnection {
  async function* status(): AsyncGenerator<Status> {
    for await (const event of connection.status()) yield* [event, event];
  }
  return new Proxy(connection, {
    get(target, name) {
      if (name === "status") return status;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
