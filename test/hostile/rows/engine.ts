// An attacker who reads and writes at the engine of a cluster, with and without a secret of the nodes.
import type { JsonObject, McpServer } from "halyard";
import { expect, onTestFinished } from "vitest";
import { nameForm } from "../../support/asking-server.ts";
import { modernPost } from "../../support/http.ts";
import type { EventReply } from "../../support/event-reply.ts";
import { type Answer, modernRequest, metaKeys } from "../../support/raw.ts";
import { SessionClient } from "../../support/sessions.ts";
import { deferred, until } from "../../support/turns.ts";
import {
  busMessage,
  type HttpMount,
  type NodeDoor,
  openCluster,
  type OpenedCluster,
  overwrite,
} from "../cluster.ts";
import { saysToBe } from "../mounts.ts";
import type { HttpRow } from "../row.ts";

const secret = "a secret of the nodes, of 32 bytes or more";
const headers = saysToBe("owner");
const noSession = { "HTTP+SSE": "keeps its streams in one process" } as const;
const elicitation = { elicitation: { form: {} } };

const storedKinds: readonly string[] = ["session", "owner", "task", "task-list"];

/** Not what any value is, each in another way. */
const malformed: readonly string[] = [
  "",
  "{",
  "null",
  "7",
  '"text"',
  "[]",
  "[null,7,{}]",
  "{}",
  '{"__proto__":{"owner":"x"}}',
  '{"keys":7}',
  '{"keys":[{"secret":"c2hvcnQ","madeAt":1},{"secret":7},null]}',
  '{"version":1,"revision":7,"initialized":true,"clientCapabilities":[],"subscriptions":{}}',
  '{"v":1,"k":"push","m":{}}',
  '{"k":"publish","id":7,"method":"notifications/tools/list_changed"}',
  '{"k":"publish","id":"a","method":7}',
  '{"k":"broadcast","id":"a","method":"notifications/message","params":[]}',
  '{"k":"get","s":-1,"n":"x"}',
  '{"k":"send","s":1e999,"m":"{}"}',
  '{"k":"constructor"}',
  "x".repeat(300_000),
];

/** `long` is a task that runs until the test ends, `ask` one call that asks. */
async function opened(mount: HttpMount, withSecret: boolean): Promise<OpenedCluster> {
  const gate = deferred<string>();
  onTestFinished(() => gate.resolve("over"));
  const define = (server: McpServer): void => {
    server.tool("long", { task: "optional" }, () => gate.promise);
    server.tool("quick", { task: "optional" }, () => "hunter2");
    server.tool("ask", {}, async (_, ctx) =>
      JSON.stringify(await ctx.elicit("Who?", nameForm, { key: "who" })),
    );
  };
  return openCluster(mount, { define, backplane: withSecret ? { secret } : {} });
}

function at(node: NodeDoor, { id }: { readonly id: string }): SessionClient {
  return new SessionClient(node.url, id, { headers });
}

async function begin(client: SessionClient, name: string): Promise<string> {
  const { result } = await client.request("tools/call", { name, arguments: {}, task: {} });
  return String(((result as JsonObject)["task"] as JsonObject)["taskId"]);
}

async function statusOf(client: SessionClient, taskId: string): Promise<unknown> {
  const { result, error } = await client.request("tasks/get", { taskId });
  return ((result ?? error) as JsonObject)[result === undefined ? "message" : "status"];
}

async function ended(client: SessionClient, taskId: string): Promise<void> {
  await until(async () => (await statusOf(client, taskId)) === "completed");
}

/** A GET stream that the node has opened. */
async function openStream(client: SessionClient): Promise<EventReply> {
  const stream = await client.get();
  await until(() => stream.lastEventId !== undefined);
  return stream;
}

function push(node: NodeDoor, client: SessionClient, data: string): Promise<unknown> {
  return node.server.push.toSession(client.id, "notifications/message", { level: "info", data });
}

function answered({ result }: Answer): JsonObject {
  const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };
  return { requestState: result?.["requestState"], inputResponses };
}

/** A modern call that asks, and whose state the nodes seal. */
async function callAsking(node: NodeDoor, more: JsonObject): Promise<Answer> {
  const meta = { [metaKeys.clientCapabilities]: elicitation };
  const call = modernRequest(1, "tools/call", { name: "ask", ...more }, meta);
  return (await node.send(modernPost(call, headers))).answer();
}

const wellFormed = (text: string): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: text } });

/** Writes what a forger would wish: the end of a task and of sessions, and messages to clients. */
async function forge(
  { engine, written }: OpenedCluster,
  names: { readonly session: string; readonly ended: string; readonly taskId: string },
): Promise<void> {
  await engine.send("all", busMessage("ended", { id: names.ended }));
  await engine.send("all", busMessage("task", { id: names.taskId, status: "cancelled" }));
  await engine.append(names.session, JSON.stringify({ k: "push", m: wellFormed("forged push") }), {
    keepMs: 60_000,
  });
  const broadcast = {
    k: "broadcast",
    method: "notifications/message",
    params: { level: "info", data: "forged broadcast" },
  };
  for (const log of written.logs) {
    await engine.append(log, JSON.stringify({ ...broadcast, id: `intruder.${log}` }), { keepMs: 60_000 });
  }
}

export const engineRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "values in the engine that are none count as absent on every node, and the log has it",
    leftOut: noSession,
    async attack(mount) {
      const { nodes, engine, written } = await opened(mount, false);
      for (const text of malformed) {
        const client = await SessionClient.open(nodes[0], { headers });
        const taskId = await begin(client, "quick");
        await ended(client, taskId);
        const values = written.values.splice(0).filter(({ key }) => storedKinds.includes(key.kind));
        expect(storedKinds.filter((kind) => !values.some(({ key }) => key.kind === kind))).toEqual([]);
        for (const { key } of values) await overwrite(engine, key, text);
        expect((await at(nodes[1], client).start("ping")).status).toBe(404);
        const next = await SessionClient.open(nodes[1], { headers });
        expect(await next.request("tasks/list")).toMatchObject({ result: { tasks: [] } });
        expect(await statusOf(next, taskId)).toBe("Unknown task");
        await ended(next, await begin(next, "quick"));
      }
      for (const kind of storedKinds) {
        const line = `Ignored an invalid value of the kind ${kind} in memory`;
        expect(nodes[1].log.map(({ message }) => message)).toContain(line);
      }
    },
  },
  {
    over: "http",
    name: "keys of request state in the engine that are none are replaced by those that nodes have, and the log has it",
    leftOut: { "HTTP+SSE": "is of a revision without request state" },
    async attack(mount) {
      const foreign = await callAsking((await opened(mount, false)).nodes[0], {});
      for (const text of malformed) {
        const { nodes, engine } = await opened(mount, false);
        const own = await callAsking(nodes[0], {});
        await overwrite(engine, { kind: "key", tag: "request-state" }, text);
        // A state with a key that it does not know makes a node read the keys.
        expect((await callAsking(nodes[1], answered(foreign))).error).toMatchObject({ code: -32602 });
        expect(JSON.stringify(await callAsking(nodes[1], answered(own)))).toContain("Ada");
        const line = "Ignored an invalid value of the kind key in memory";
        expect(nodes[1].log.map(({ message }) => message)).toContain(line);
      }
    },
  },
  {
    over: "http",
    name: "entries of logs that are none are passed over, and what comes after them arrives once",
    leftOut: noSession,
    async attack(mount) {
      const { nodes, engine, written } = await opened(mount, false);
      const client = await SessionClient.open(nodes[0], { headers });
      const stream = await openStream(client);
      await push(nodes[1], client, "before");
      await nodes[1].server.push.broadcast("notifications/message", { level: "info", data: "to all" });
      expect(written.logs).toContain(client.id);
      for (const log of written.logs) {
        for (const text of malformed.filter(({ length }) => length < 1000))
          await engine.append(log, text, { keepMs: 60_000 });
      }
      await push(nodes[1], client, "after");
      await nodes[1].server.push.broadcast("notifications/message", { level: "info", data: "to all again" });
      await until(() => stream.messages.length >= 4);
      const data = stream.messages.map(({ params }) => (params as JsonObject)["data"]);
      expect(data.toSorted()).toEqual(["after", "before", "to all", "to all again"]);
      const first = stream.events.find((event) => event.data)?.id;
      stream.cut();
      const resumed = await at(nodes[1], client).get(first);
      await until(() => resumed.messages.length >= 3);
      resumed.cut();
    },
  },
  {
    over: "http",
    name: "without a secret, a forged message or entry ends sessions and tasks and reaches clients, as docs/reference/backplane.md says",
    leftOut: noSession,
    async attack(mount) {
      const cluster = await opened(mount, false);
      const { nodes } = cluster;
      const client = await SessionClient.open(nodes[0], { headers });
      const stream = await openStream(client);
      const other = await SessionClient.open(nodes[0], { headers });
      const lost = await openStream(other);
      const taskId = await begin(client, "long");
      await nodes[1].server.push.broadcast("notifications/message", { level: "info", data: "real" });
      await forge(cluster, { session: client.id, ended: other.id, taskId });
      await lost.closed;
      await until(
        () => stream.textSoFar.includes("forged push") && stream.textSoFar.includes("forged broadcast"),
      );
      await until(async () => (await statusOf(client, taskId)) !== "working");
      stream.cut();
    },
  },
  {
    over: "http",
    name: "with a secret, a forged message or entry does nothing, and the log has it",
    leftOut: noSession,
    async attack(mount) {
      const cluster = await opened(mount, true);
      const { nodes, engine } = cluster;
      const client = await SessionClient.open(nodes[0], { headers });
      const stream = await openStream(client);
      const other = await SessionClient.open(nodes[0], { headers });
      const kept = await openStream(other);
      const taskId = await begin(client, "long");
      await nodes[1].server.push.broadcast("notifications/message", { level: "info", data: "real" });
      await forge(cluster, { session: client.id, ended: other.id, taskId });
      for (const start of ["a.", "n.", "a.x.", "a..", "."]) {
        await engine.send("all", start + busMessage("ended", { id: other.id }));
      }
      const hasLine = (start: string): boolean =>
        nodes[0].log.some(({ message }) => message.startsWith(start));
      await until(() => hasLine("Ignored a message") && hasLine("Ignored an entry"));
      await push(nodes[1], client, "last");
      await push(nodes[1], other, "last");
      await until(() => stream.textSoFar.includes("last") && kept.textSoFar.includes("last"));
      expect(stream.textSoFar + kept.textSoFar).not.toContain("forged");
      expect(await statusOf(at(nodes[1], client), taskId)).toBe("working");
      for (const open of [stream, kept]) open.cut();
    },
  },
  {
    over: "http",
    name: "with a secret, a session or task that is moved to another key is none",
    leftOut: noSession,
    async attack(mount) {
      const { nodes, engine, written } = await opened(mount, true);
      const clients = [1, 2].map(() => SessionClient.open(nodes[0], { headers }));
      const [one, two] = (await Promise.all(clients)) as [SessionClient, SessionClient];
      const tasks = [await begin(one, "quick"), await begin(one, "quick")] as const;
      for (const taskId of tasks) await ended(one, taskId);
      for (const kind of ["session", "task"] as const) {
        const [from, to] = written.values.filter(({ key }) => key.kind === kind);
        await overwrite(engine, to!.key, from!.text);
      }
      const pings = await Promise.all([one, two].map((client) => at(nodes[1], client).start("ping")));
      expect(pings.map(({ status }) => status).toSorted()).toEqual([200, 404]);
      const still = pings[0]?.status === 200 ? one : two;
      const looks = await Promise.all(tasks.map((taskId) => statusOf(at(nodes[1], still), taskId)));
      expect(looks.toSorted()).toEqual(["Unknown task", "completed"]);
    },
  },
  {
    over: "http",
    name: "with a secret, the engine shows no session id, task id, principal or result",
    leftOut: noSession,
    async attack(mount) {
      for (const withSecret of [false, true]) {
        const { nodes, written } = await opened(mount, withSecret);
        const client = await SessionClient.open(nodes[0], { headers });
        const stream = await openStream(client);
        const taskId = await begin(client, "quick");
        await ended(at(nodes[1], client), taskId);
        await push(nodes[1], client, "private");
        await until(() => stream.textSoFar.includes("private"));
        const shown = written.all.join("\n");
        const words = [client.id, taskId, "owner", "hunter2", "private"];
        expect(words.filter((word) => shown.includes(word))).toEqual(withSecret ? [] : words);
        stream.cut();
      }
    },
  },
  {
    over: "http",
    name: "a flood of messages of unknown kinds, and messages of megabytes, hold nothing up",
    leftOut: noSession,
    async attack(mount) {
      for (const withSecret of [false, true]) {
        const { nodes, engine } = await opened(mount, withSecret);
        const client = await SessionClient.open(nodes[0], { headers });
        const large = "x".repeat(4 * 1024 * 1024);
        const kinds = ["unknown", "__proto__", "constructor", "", 7, null, ["ended"], { kind: "ended" }];
        for (let count = 0; count < 5000; count++) {
          await engine.send("all", busMessage(kinds[count % kinds.length], { id: client.id }));
        }
        for (const text of [
          large,
          busMessage("unknown", { large }),
          busMessage("ended", { id: large }),
          `a.x.${large}`,
        ]) {
          await engine.send("all", text);
        }
        expect(await at(nodes[1], client).request("ping")).toMatchObject({ result: {} });
        expect(nodes[1].log.length).toBeLessThan(200);
      }
    },
  },
];
