// What is special about the engine on NATS: how things expire, sizes, and servers that cannot be used.
import { headers } from "@nats-io/transport-node";
import { ConfigurationError } from "halyard";
import { natsBackplane } from "halyard/nats";
import { afterEach, describe, expect, test, vi } from "vitest";
import { hasEngine } from "../../support/engines.ts";
import { until } from "../../support/turns.ts";
import { callJetStream, connectTo, openNode, startServer } from "./nodes.ts";

const key = { kind: "session", tag: "a" } as const;

afterEach(() => void vi.useRealTimers());

describe.skipIf(!hasEngine("nats-server"))("the engine on NATS", () => {
  test("the server removes expired values and logs without any node", async () => {
    const server = await startServer();
    const { engine, connection } = await openNode(server);
    await engine.create(key, "1", 150);
    await engine.append("log", "1", { keepMs: 50 });
    await engine.follow(["log"], 150);
    await engine.create({ kind: "key", tag: "a" }, "kept", undefined);
    await engine.close();
    await until(async () => {
      type Page = { streams: { config: { name: string }; state: { messages: number } }[] };
      const { streams } = await callJetStream<Page>(connection, "STREAM.LIST", { offset: 0 });
      const kept = streams.filter(({ state }) => state.messages > 0).map(({ config }) => config.name);
      return kept.length === 1 && kept[0]!.endsWith("_key");
    });
  });

  test("a longer time raises the age of the stream, and another node's shorter one does not lower it", async () => {
    const server = await startServer();
    const [one, other] = [await openNode(server), await openNode(server)];
    await one.engine.create(key, "1", 3_600_000);
    await other.engine.create({ kind: "session", tag: "b" }, "2", 60_000);
    type Page = { streams: { config: { name: string; max_age: number } }[] };
    const { streams } = await callJetStream<Page>(one.connection, "STREAM.LIST", { offset: 0 });
    const session = streams.find(({ config }) => config.name.endsWith("_session"));
    expect(session?.config.max_age).toBe(3_600_000 * 1e6);
  });

  test.each([-3_600_000, 3_600_000])("a clock that is %i ms off changes nothing", async (offMs) => {
    const server = await startServer();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offMs });
    const { engine } = await openNode(server);
    await engine.create({ kind: "session", tag: "long" }, "kept", 60_000);
    await engine.create(key, "short", 50);
    await engine.append("log", "kept", { keepMs: 60_000 });
    await engine.append("brief", "short", { keepMs: 50 });
    await until(async () => (await engine.get(key)) === undefined);
    await until(async () => (await engine.read("brief", 0)).length === 0);
    expect((await engine.get({ kind: "session", tag: "long" }))?.text).toBe("kept");
    expect((await engine.read("log", 0)).length).toBe(1);
  });

  test("a text over the server's limit is rejected before it is sent, with both sizes", async () => {
    const server = await startServer();
    const { engine, outages } = await openNode(server);
    const text = "x".repeat(2 * 1024 * 1024);
    const message = /2097\d\d\d bytes is too large for NATS, which takes 1048576: raise max_payload/;
    await expect(engine.create(key, text, 60_000)).rejects.toThrow(message);
    await expect(engine.append("log", text, { keepMs: 60_000 })).rejects.toThrow(message);
    await expect(engine.send("all", text)).rejects.toThrow(message);
    expect(await engine.get(key)).toBeUndefined();
    expect(outages).toEqual([]);
  });

  test("a message that others publish where entries go does not end following", async () => {
    const server = await startServer();
    const { engine, entries, connection } = await openNode(server);
    const operator = await connectTo(server);
    const subjects: string[] = [];
    operator.subscribe("*.live.*", { callback: (_, { subject }) => void subjects.push(subject) });
    await operator.flush();
    await engine.append("a", "1", { keepMs: 60_000, follow: "start" });
    await until(() => entries.length === 1 && subjects.length === 1);
    operator.publish(subjects[0] ?? "", "forged");
    await operator.flush();
    await connection.flush();
    await engine.append("a", "2", { keepMs: 60_000, follow: "stop" });
    await until(() => entries.length === 2);
    expect(entries.map(({ text }) => text)).toEqual(["1", "2"]);
  });

  test("an unused log leaves the server soon after its time", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const server = await startServer();
    const { engine, connection } = await openNode(server);
    await engine.append("long", "kept", { keepMs: 3_600_000 });
    await engine.append("brief", "x".repeat(100_000), { keepMs: 50 });
    await until(async () => (await engine.read("brief", 0)).length === 0);
    type Page = { streams: { state: { bytes: number } }[] };
    await until(async () => {
      await vi.advanceTimersByTimeAsync(10_000);
      const { streams } = await callJetStream<Page>(connection, "STREAM.LIST", { offset: 0 });
      return streams.every(({ state }) => state.bytes < 100_000);
    });
    expect((await engine.read("long", 0)).length).toBe(1);
  });

  test("an append that starts to follow and fails does not follow", async () => {
    const server = await startServer();
    const { engine, entries, messages } = await openNode(server);
    const text = "x".repeat(2 * 1024 * 1024);
    await expect(engine.append("log", text, { keepMs: 60_000, follow: "start" })).rejects.toThrow();
    await engine.append("log", "1", { keepMs: 60_000 });
    await engine.send("all", "settled");
    await until(() => messages.length === 1);
    expect(entries).toEqual([]);
  });

  test("read begins in the middle with the right numbers before each entry", async () => {
    const server = await startServer();
    const { engine } = await openNode(server);
    const sequences: number[] = [];
    for (const text of ["1", "2", "3"]) {
      sequences.push(await engine.append("log", text, { keepMs: 60_000 }));
      await engine.append("other", text, { keepMs: 60_000 });
    }
    const [first = 0, second = 0, third = 0] = sequences;
    const two = { sequence: second, previous: first, text: "2" };
    const three = { sequence: third, previous: second, text: "3" };
    expect(await engine.read("log", first + 1)).toEqual([two, three]);
    for (const text of ["4", "5", "6"]) await engine.append("other", text, { keepMs: 60_000 });
    const fourth = await engine.append("log", "4", { keepMs: 60_000 });
    // Neither this number nor the one before it belongs to the log.
    expect(await engine.read("log", third + 2)).toEqual([{ sequence: fourth, previous: third, text: "4" }]);
    expect(await engine.read("log", fourth + 2)).toEqual([]);
  });

  test.each(["start", undefined] as const)(
    "a log that has lost its oldest entries to age does not look whole (follow: %s)",
    async (follow) => {
      const server = await startServer();
      const [one, other] = [await openNode(server), await openNode(server)];
      await one.engine.append("log", "first", { keepMs: 100, follow });
      let [oldest] = await one.engine.read("log", 1);
      expect(oldest).toMatchObject({ text: "first", previous: 0 });
      await until(async () => {
        await one.engine.append("log", "later", { keepMs: 100 });
        [oldest] = await other.engine.read("log", 1);
        return oldest?.text === "later";
      });
      expect(oldest?.previous).toBeGreaterThan(0);
    },
  );

  test("read returns the whole log of a server that is too busy to send in time", async () => {
    const server = await startServer();
    const { engine, connection } = await openNode(server);
    for (const text of ["1", "2", "3"]) await engine.append("log", text, { keepMs: 60_000 });
    const { publish } = connection;
    let busy = 2;
    vi.spyOn(connection, "publish").mockImplementation((subject, payload, options) => {
      const isOver = subject.includes(".MSG.NEXT.") && busy-- > 0;
      if (!isOver) return publish.call(connection, subject, payload, options);
      publish.call(connection, options?.reply ?? "", "", { headers: headers(408, "Request Timeout") });
    });
    expect((await engine.read("log", 0)).map(({ text }) => text)).toEqual(["1", "2", "3"]);
    expect(busy).toBeLessThan(0);
  });

  test("a server without JetStream is a configuration error that names the flag", async () => {
    const server = await startServer({ args: ["--jetstream=false"] });
    const opening = openNode(server);
    await expect(opening).rejects.toThrow(ConfigurationError);
    await expect(opening).rejects.toThrow(/without JetStream: start it with `nats-server -js`/);
  });

  test("another program's stream on the same subjects is a configuration error", async () => {
    const server = await startServer();
    const connection = await connectTo(server);
    await callJetStream(connection, "STREAM.CREATE.all", {
      name: "all",
      subjects: ["*.log.>"],
      storage: "memory",
    });
    await expect(openNode(server, connection)).rejects.toThrow(
      /pass another `prefix`, or remove that stream/,
    );
  });

  test("a connection that gives up after some attempts is warned about", async () => {
    const server = await startServer();
    const limited = await openNode(server, await connectTo(server, { maxReconnectAttempts: 10 }));
    expect(limited.logger.entries.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /gives up after 10 attempts to reconnect: connect with `maxReconnectAttempts: -1`/,
      ),
    ]);
    expect((await openNode(server)).logger.entries).toEqual([]);
  });

  test("close leaves the connection to its owner", async () => {
    const server = await startServer();
    const { engine, connection } = await openNode(server);
    await engine.close();
    expect(connection.isClosed()).toBe(false);
    await connection.flush();
  });

  test("a closed or draining connection is rejected, when it is passed and when the server joins", async () => {
    const server = await startServer();
    const connection = await connectTo(server);
    const backplane = natsBackplane(connection);
    const drained = connection.drain();
    expect(() => natsBackplane(connection)).toThrow(/connection is draining/);
    await drained;
    expect(() => natsBackplane(connection)).toThrow(/connection is closed/);
    await expect(backplane.open({} as never)).rejects.toThrow(/connection is closed/);
  });
});

describe("natsBackplane", () => {
  test.each([
    [undefined, /must be a NATS connection, and has no request\(\)/],
    [{ request() {} }, /has no publish\(\): pass what connect\(…\) of @nats-io\/transport-node returns/],
    [Promise.resolve(), /await connect\(…\) first/],
  ])("rejects %o", (connection, message) => {
    expect(() => natsBackplane(connection as never)).toThrow(message);
    expect(() => natsBackplane(connection as never)).toThrow(ConfigurationError);
  });

  test("rejects options that cannot work", () => {
    expect(() => natsBackplane({} as never, { prefiks: "a" } as never)).toThrow(/did you mean prefix\?/);
    expect(() => natsBackplane({} as never, { prefix: "" })).toThrow(
      /prefix must be a text that is not empty/,
    );
  });
});
