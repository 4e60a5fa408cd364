// Tasks of a cluster: any node reads, answers, cancels, awaits and lists them, and those of a node that is gone fail.
import { type Backplane, type ServerOptions } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { Connection } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { join } from "../../support/backplane.ts";
import { faultyBackplane } from "../../support/faulty-backplane.ts";
import { nameForm } from "../../support/asking-server.ts";
import { open } from "../../support/catalogue.ts";
import { listen, settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { type Answer, initializeRequest, metaKeys, newestModern, RawPeer } from "../../support/raw.ts";
import {
  accepted,
  capabilities,
  taskServer,
  type TaskFixture,
  Tasks,
  textOf,
  withTasks,
} from "../../support/tasks.ts";
import { until } from "../../support/turns.ts";

type Node = TaskFixture & { readonly tasks: Tasks };

/** Beats come often, so that nodes soon notice who is gone. */
const quick = { leaseMs: 250 };
const gone = "The node that ran the task is gone";

describeMatrix("a task of another node", { ...withTasks, transports: ["memory", "http"] }, (cell) => {
  async function nodeOf(backplane: Backplane, options: ServerOptions = {}): Promise<Node> {
    const fixture = taskServer({ backplane, ...options });
    await join(fixture.server);
    return { ...fixture, tasks: new Tasks(await open(cell, fixture.server, { capabilities })) };
  }

  async function twoNodes(): Promise<[here: Node, there: Node]> {
    const backplane = memoryBackplane();
    return [await nodeOf(backplane), await nodeOf(backplane)];
  }

  test("can be read, and its end is known at once", async () => {
    const [here, there] = await twoNodes();
    const { taskId } = await here.tasks.start("wait");
    expect(await there.tasks.get(taskId)).toMatchObject({ status: "working" });
    const waiting = there.tasks.result(taskId);
    await settled(there.tasks.client);
    here.gate.resolve();
    expect(await waiting).toMatchObject(textOf("waited"));
    expect(await there.tasks.get(taskId)).toMatchObject({ status: "completed" });
  });

  test("asks where its client waits for the result, and gets the answer from there", async () => {
    const [here, there] = await twoNodes();
    here.server.tool("ask-later", { task: { pollIntervalMs: 10 } }, async (_, ctx) => {
      await here.gate.promise;
      return JSON.stringify(await ctx.elicit("Your name?", nameForm));
    });
    const { taskId } = await here.tasks.start("ask-later");
    // So that it can be asked nowhere else.
    await here.tasks.client.close();
    here.gate.resolve();
    const result = there.tasks.result(taskId);
    await there.tasks.answer(taskId, accepted({ name: "Ada" }));
    expect(await result).toMatchObject(textOf('{"name":"Ada"}'));
    expect(await here.server.push.pendingAsks()).toBe(0);
    expect(await there.server.push.pendingAsks()).toBe(0);
  });

  test("can be cancelled: its handler is notified, and a late result changes nothing", async () => {
    const [here, there] = await twoNodes();
    const { taskId } = await here.tasks.start("wait");
    await until(() => here.waiting() === 1);
    await there.tasks.cancel(taskId);
    await until(() => here.aborted.length === 1);
    here.gate.resolve();
    await settled(here.tasks.client);
    for (const { tasks } of [here, there]) {
      expect(await tasks.get(taskId)).toMatchObject({ status: "cancelled" });
    }
  });

  test("fails if its node is gone, and says so to who reads it and to who waits for it", async () => {
    const backplane = memoryBackplane(quick);
    const dying = faultyBackplane(backplane);
    const [here, there] = [await nodeOf(dying.backplane), await nodeOf(backplane)];
    const [read, awaited] = [await here.tasks.start("wait"), await here.tasks.start("wait")];
    const waiting = there.tasks.result(awaited.taskId);
    await settled(there.tasks.client);
    dying.node.halt();
    await expect(waiting).rejects.toMatchObject({ code: -32603, message: gone });
    await until(async () => (await there.tasks.get(read.taskId)).status === "failed");
    expect(await there.tasks.get(read.taskId)).toMatchObject({ statusMessage: gone });
    // The node was only halted: what it comes to now is too late.
    dying.node.heal();
    here.gate.resolve();
    await until(async () => (await here.tasks.get(read.taskId)).status === "failed");
    await settled(here.tasks.client);
    expect(await there.tasks.get(read.taskId)).toMatchObject({ status: "failed", statusMessage: gone });
  });
});

describeMatrix("tasks/update on another node", { eras: ["modern"], transports: ["memory"] }, (cell) => {
  test("refuses an answer that does not fit, and the question stays open", async () => {
    const backplane = memoryBackplane();
    const [here, there] = [taskServer({ backplane }), taskServer({ backplane })];
    await Promise.all([join(here.server), join(there.server)]);
    const { taskId } = await new Tasks(await open(cell, here.server, { capabilities })).start("ask");
    const tasks = new Tasks(await open(cell, there.server, { capabilities }));
    await expect(tasks.answer(taskId, accepted({ name: 7 }))).rejects.toMatchObject({ code: -32602 });
    await tasks.answer(taskId, accepted({ name: "Ada" }));
    expect(await tasks.result(taskId)).toMatchObject(textOf("Hello, Ada"));
  });
});

describeMatrix("listening on another node", { eras: ["modern"], transports: ["memory"] }, (cell) => {
  test("hears of the task's end", async () => {
    const backplane = memoryBackplane();
    const [here, there] = [taskServer({ backplane }), taskServer({ backplane })];
    await Promise.all([join(here.server), join(there.server)]);
    const tasks = new Tasks(await open(cell, here.server, { capabilities }));
    const client = await open(cell, there.server, { capabilities });
    const { taskId } = await tasks.start("wait");
    expect(await listen(client, { taskIds: [taskId] }, "l")).toEqual({ taskIds: [taskId] });
    here.gate.resolve();
    await until(() => client.notifications("notifications/tasks").length > 0);
    const [told] = client.notifications("notifications/tasks");
    expect(told?.params).toMatchObject({ taskId, status: "completed" });
  });

  test("hears that the node which ran the task is gone, without asking", async () => {
    const backplane = memoryBackplane(quick);
    const dying = faultyBackplane(backplane);
    const [here, there] = [taskServer({ backplane: dying.backplane }), taskServer({ backplane })];
    await Promise.all([join(here.server), join(there.server)]);
    const tasks = new Tasks(await open(cell, here.server, { capabilities }));
    const client = await open(cell, there.server, { capabilities });
    const { taskId } = await tasks.start("wait");
    await listen(client, { taskIds: [taskId] }, "l");
    dying.node.halt();
    await until(() => client.notifications("notifications/tasks").length > 0, 20_000);
    const [told] = client.notifications("notifications/tasks");
    expect(told?.params).toMatchObject({ taskId, status: "failed", statusMessage: gone });
    dying.node.heal();
  });
});

describe("the tasks of a principal, on all nodes together", () => {
  const _meta = { [metaKeys.clientCapabilities]: capabilities };

  async function peersOf(subject: string, options: ServerOptions, revision: string): Promise<RawPeer[]> {
    const peers = [0, 1].map(async () => {
      const { server } = taskServer(options);
      await join(server);
      const connection = new Connection({ transport: "memory", principal: { issuer: "i", subject } });
      const peer = new RawPeer(server, revision, connection);
      if (revision !== newestModern) await peer.say(initializeRequest(0, revision));
      return peer;
    });
    return Promise.all(peers);
  }

  test("are listed on each, oldest first, and to no other caller", async () => {
    const options = { backplane: memoryBackplane() };
    const [one, other] = (await peersOf("alice", options, "2025-11-25")) as [RawPeer, RawPeer];
    const started: unknown[] = [];
    for (const peer of [one, other, one]) {
      const { result } = await peer.request("tools/call", { name: "quick", task: {} });
      started.push((result?.["task"] as { taskId?: unknown } | undefined)?.taskId);
    }
    for (const peer of [one, other]) {
      const { result } = await peer.request("tasks/list");
      const listed = result?.["tasks"] as { taskId: string; createdAt: string }[];
      expect(listed.map(({ taskId }) => taskId).toSorted()).toEqual(started.toSorted());
      expect(listed.map(({ createdAt }) => createdAt)).toEqual(
        listed.map(({ createdAt }) => createdAt).toSorted(),
      );
    }
    const [stranger] = (await peersOf("eve", options, "2025-11-25")) as [RawPeer];
    expect((await stranger.request("tasks/list")).result).toMatchObject({ tasks: [] });
    const { error } = await stranger.request("tasks/get", { taskId: started[0] });
    expect(error).toMatchObject({ code: -32602, message: "Unknown task" });
  });

  test("are no more than maxTasksPerPrincipal, and no larger than maxSizePerPrincipal", async () => {
    const tasks = { maxTasksPerPrincipal: 2, maxSizePerPrincipal: 4000 };
    const options = { backplane: memoryBackplane(), tasks };
    const [one, other] = (await peersOf("alice", options, newestModern)) as [RawPeer, RawPeer];
    const start = (peer: RawPeer): Promise<Answer> => peer.request("tools/call", { name: "quick", _meta });
    expect(await start(one)).toHaveProperty("result");
    expect(await start(other)).toHaveProperty("result");
    for (const peer of [one, other]) expect(await start(peer)).toHaveProperty("error.code", -32600);
    const [modest] = (await peersOf("bob", options, newestModern)) as [RawPeer];
    expect(await start(modest)).toHaveProperty("result");
  });

  /** Starts that many tasks at once on each node, and returns the errors of those that did not start. */
  async function startedAtOnce(peers: readonly RawPeer[], count: number): Promise<unknown[]> {
    const starting = peers.flatMap((peer) =>
      Array.from({ length: count }, () => peer.request("tools/call", { name: "quick", _meta })),
    );
    return (await Promise.all(starting)).map(({ error }) => error).filter((error) => error !== undefined);
  }

  test("can all start at once: each node changes the list for many of them together", async () => {
    const { backplane, node } = faultyBackplane(memoryBackplane());
    const peers = await peersOf("alice", { backplane, tasks: { maxRunningPerPrincipal: 400 } }, newestModern);
    expect(await startedAtOnce(peers, 200)).toEqual([]);
    expect(node.operations.filter((operation) => operation === "get task-list").length).toBeLessThan(100);
  });

  test("that wait for an engine which fails do not start, and later ones do", async () => {
    const { backplane, node } = faultyBackplane(memoryBackplane());
    const [peer] = (await peersOf("alice", { backplane }, newestModern)) as [RawPeer];
    node.fail("get task-list");
    expect(await startedAtOnce([peer], 50)).toHaveLength(50);
    node.heal();
    expect(await startedAtOnce([peer], 50)).toEqual([]);
  });
});
