// What an attacker at the engine can do, with and without the secret of the backplane; and which nodes may join.
import { type Backplane, McpServer } from "halyard";
import { type BackplaneOptions, memoryBackplane } from "halyard/cluster";
import { Connection, portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { backplaneThat, type Engine, engineOf, forgetfulBackplane, join } from "../../support/backplane.ts";
import { type Answer, initializeRequest, RawPeer } from "../../support/raw.ts";
import { capabilities, taskServer, type TaskFixture } from "../../support/tasks.ts";
import { nextTurn, until } from "../../support/turns.ts";

const [older, newer] = ["the older secret, of 32 bytes or more", "the newer secret, of 32 bytes or more"];
const alice = { issuer: "https://issuer.example", subject: "alice" };

/** What an engine was given: the names, and the texts by name. */
interface Seen {
  readonly names: string[];
  readonly texts: string[];
  readonly values: Map<string, { key: Parameters<Engine["get"]>[0]; text: string }>;
}

/** The backplane, and everything that reaches its engine. */
function watched(shared: Backplane): { backplane: Backplane; seen: Seen } {
  const seen: Seen = { names: [], texts: [], values: new Map() };
  const put = (key: Parameters<Engine["get"]>[0], text: string): void => {
    seen.names.push(key.tag);
    seen.texts.push(text);
    seen.values.set(`${key.kind} ${key.tag}`, { key, text });
  };
  const backplane = backplaneThat(
    (engine) => ({
      create: (key, text, ttlMs) => (put(key, text), engine.create(key, text, ttlMs)),
      replace: (key, text, ttlMs, version) => (put(key, text), engine.replace(key, text, ttlMs, version)),
      get: (key) => (seen.names.push(key.tag), engine.get(key)),
      append: (log, text, options) => {
        seen.names.push(log);
        seen.texts.push(text);
        return engine.append(log, text, options);
      },
      send: (to, text) => (seen.texts.push(text), engine.send(to, text)),
    }),
    shared,
  );
  return { backplane, seen };
}

interface Node extends TaskFixture {
  readonly peer: RawPeer;
}

async function nodeOf(backplane: Backplane): Promise<Node> {
  const fixture = taskServer({ backplane });
  await join(fixture.server);
  const connection = new Connection({ transport: "memory", principal: alice });
  const peer = new RawPeer(fixture.server, "2025-11-25", connection);
  await peer.say(initializeRequest(0, "2025-11-25", { capabilities }));
  return { ...fixture, peer };
}

async function start({ peer }: Node, name: string, args = {}): Promise<string> {
  const { result } = await peer.request("tools/call", { name, arguments: args, task: {} });
  return String((result?.["task"] as { taskId?: unknown } | undefined)?.taskId);
}

function look({ peer }: Node, taskId: string): Promise<Answer> {
  return peer.request("tasks/get", { taskId });
}

describe("reading the engine", () => {
  /** Runs a task whose result says "hunter2", and returns all that the engine has seen. */
  async function everything(options: BackplaneOptions): Promise<{ text: string; taskId: string }> {
    const { backplane, seen } = watched(memoryBackplane(options));
    const [one, other] = [await nodeOf(backplane), await nodeOf(backplane)];
    const taskId = await start(one, "strict", { name: "hunter2" });
    await until(async () => (await look(other, taskId)).result?.["status"] === "completed");
    await one.server.push.publish("notifications/tools/list_changed");
    await nextTurn();
    return { text: JSON.stringify(seen), taskId };
  }

  test("shows what nodes share, without a secret", async () => {
    const { text, taskId } = await everything({});
    for (const word of [taskId, "hunter2", "alice", "strict", "list_changed"]) expect(text).toContain(word);
  });

  test("shows no id, no owner, no result and no message, with one", async () => {
    const { text, taskId } = await everything({ secret: newer });
    expect(text.length).toBeGreaterThan(1000);
    for (const word of [taskId, "hunter2", "alice", "strict", "list_changed", newer, "jsonrpc", "status"]) {
      expect(text).not.toContain(word);
    }
  });
});

describe("writing to the engine", () => {
  const cancelled = (id: string): string =>
    JSON.stringify({ v: 1, from: "intruder", kind: "task", body: { id, status: "cancelled" } });

  test("stops a task by a forged message, without a secret", async () => {
    const backplane = memoryBackplane();
    const node = await nodeOf(backplane);
    const taskId = await start(node, "wait");
    await until(() => node.waiting() === 1);
    await (await engineOf(backplane)).send("all", cancelled(taskId));
    await until(() => node.aborted.length === 1);
  });

  test("stops nothing by a forged message, with one, and is logged", async () => {
    const backplane = memoryBackplane({ secret: newer });
    const node = await nodeOf(backplane);
    const taskId = await start(node, "wait");
    await until(() => node.waiting() === 1);
    const engine = await engineOf(backplane);
    await engine.send("all", cancelled(taskId));
    await engine.send("all", `a.${cancelled(taskId)}`);
    await until(() => node.log.some(({ message }) => message.startsWith("Ignored a message")));
    expect(node.aborted).toEqual([]);
    expect((await look(node, taskId)).result).toMatchObject({ status: "working" });
  });

  test("changes a task that a client reads, without a secret", async () => {
    const { backplane, seen } = watched(memoryBackplane());
    const node = await nodeOf(backplane);
    const taskId = await start(node, "quick");
    await until(async () => (await look(node, taskId)).result?.["status"] === "completed");
    const engine = await engineOf(backplane);
    const { key, text } = seen.values.get(`task ${taskId}`) ?? {};
    const version = (await engine.get(key!))?.version ?? "";
    await engine.replace(key!, text!.replace('"completed"', '"cancelled"'), 60_000, version);
    expect((await look(node, taskId)).result).toMatchObject({ status: "cancelled" });
  });

  test("makes a value vanish, with one: neither another text nor that of another place opens", async () => {
    const { backplane, seen } = watched(memoryBackplane({ secret: newer }));
    const node = await nodeOf(backplane);
    const ids = [await start(node, "quick"), await start(node, "quick"), await start(node, "quick")];
    for (const id of ids) await until(async () => (await look(node, id)).result?.["status"] === "completed");
    const engine = await engineOf(backplane);
    const tasks = [...seen.values.values()].filter(({ key }) => key.kind === "task");
    expect(tasks).toHaveLength(3);
    const forged = [
      "{}",
      tasks[0]?.text ?? "",
      (tasks[2]?.text ?? "").replace(/.$/, (last) => (last === "A" ? "Q" : "A")),
    ];
    const places = [tasks[0], tasks[1], tasks[2]];
    for (const [at, text] of forged.entries()) {
      const key = places[at]!.key;
      await engine.replace(key, text, 60_000, (await engine.get(key))?.version ?? "");
    }
    for (const id of ids) expect((await look(node, id)).error).toMatchObject({ message: "Unknown task" });
    const logged = node.log.filter(({ message }) => message.startsWith("Ignored a value of the kind task"));
    expect(logged).toHaveLength(3);
  });

  test("adds nothing to a log that others would pass on, with one", async () => {
    const { backplane, seen } = watched(memoryBackplane({ secret: newer }));
    const [one, other] = [await nodeOf(backplane), await nodeOf(backplane)];
    await one.server.push.publish("notifications/tools/list_changed");
    const engine = await engineOf(backplane);
    for (const log of new Set(seen.names)) await engine.append(log, '{"forged":true}', { keepMs: 60_000 });
    await until(() => other.log.some(({ message }) => message.startsWith("Ignored an entry")));
    const taskId = await start(one, "quick");
    await until(async () => (await look(other, taskId)).result?.["status"] === "completed");
  });
});

describe("order", () => {
  test("of messages is kept although they are encrypted, however long each is", async () => {
    const backplane = memoryBackplane({ secret: newer });
    const nodes = [1, 2].map(() => new McpServer({ name: "test", version: "1.0.0" }, { backplane }));
    const [one, other] = nodes.map((server) => portOf(server).cluster) as [Cluster, Cluster];
    const received: unknown[] = [];
    other.on("counted", ({ at }) => void received.push(at));
    await Promise.all(nodes.map((server) => join(server)));
    const sent = Array.from({ length: 200 }, (_, at) => at);
    const filling = (at: number): string => "x".repeat(at % 7 === 0 ? 100_000 : 1);
    for (const at of sent) one.bus.sendSoon(other.node, "counted", { at, filling: filling(at) });
    await until(() => received.length === sent.length);
    expect(received).toEqual(sent);
  });
});

type Cluster = ReturnType<typeof portOf>["cluster"];

describe("joining", () => {
  /** Runs a node with one secret, and resolves with the outcome of starting one with another. */
  async function joining(
    running: BackplaneOptions["secret"],
    other: BackplaneOptions["secret"],
  ): Promise<unknown> {
    const shared = memoryBackplane({ leaseMs: 500 });
    const withSecret = (secret: BackplaneOptions["secret"]): Backplane => ({
      ...shared,
      options: { leaseMs: 500, ...(secret !== undefined && { secret }) },
    });
    await nodeOf(withSecret(running));
    return nodeOf(withSecret(other)).then(
      ({ server }) => server.cluster.nodes().length,
      (error: unknown) => error,
    );
  }

  test.each<[string, BackplaneOptions["secret"], BackplaneOptions["secret"], string]>([
    ["another secret", older, newer, "nothing in common"],
    ["a secret, and the others have none", undefined, newer, "nothing in common"],
    ["no secret, and the others have one", older, undefined, "is missing"],
  ])("is refused with %s", async (_, running, other, problem) => {
    expect(await joining(running, other)).toMatchObject({
      code: "INVALID_OPTION",
      subject: "backplane",
      field: "secret",
      message: expect.stringContaining(problem),
    });
  });

  test.each<[string, BackplaneOptions["secret"], BackplaneOptions["secret"]]>([
    ["the same secret", older, older],
    ["a new one that the others know", [older, newer], [newer, older]],
    ["only the new one, when the others have both", [newer, older], newer],
  ])("succeeds with %s", async (_, running, other) => {
    expect(await joining(running, other)).toBe(2);
  });

  test("keeps the tasks while the secret changes", async () => {
    const shared = memoryBackplane();
    const withSecret = (...secret: string[]): Backplane => ({ ...shared, options: { secret } });
    const first = await nodeOf(withSecret(older));
    const taskId = await start(first, "quick");
    await until(async () => (await look(first, taskId)).result?.["status"] === "completed");
    for (const secrets of [
      [older, newer],
      [newer, older],
    ]) {
      const next = await nodeOf(withSecret(...secrets));
      expect((await look(next, taskId)).result).toMatchObject({ status: "completed" });
    }
  });

  test("succeeds with another secret when no other node runs", async () => {
    const shared = memoryBackplane({ leaseMs: 500 });
    const backplane = (secret: string): Backplane => ({ ...shared, options: { leaseMs: 500, secret } });
    const { cluster } = portOf(taskServer({ backplane: backplane(older) }).server);
    await cluster?.join();
    await cluster?.leave();
    const node = await nodeOf(backplane(newer));
    expect(node.server.cluster.nodes()).toHaveLength(1);
  });

  test("finds the same names after the engine has lost its data", async () => {
    const { backplane, loseEverything } = forgetfulBackplane({ secret: newer });
    const one = await nodeOf(backplane);
    await loseEverything();
    await nextTurn();
    const other = await nodeOf(backplane);
    const taskId = await start(one, "quick");
    await until(async () => (await look(other, taskId)).result?.["status"] === "completed");
  });

  test.each<[unknown, string]>([
    ["short", "at least 32 bytes"],
    [[newer, "short"], "at least 32 bytes"],
    [[], "at least 32 bytes"],
    [7, "at least 32 bytes"],
    [[7], "at least 32 bytes"],
  ])("is not even tried with the secret %j", (secret, problem) => {
    expect(() => memoryBackplane({ secret: secret as string })).toThrow(problem);
  });
});
