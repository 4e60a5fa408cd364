// A cluster: what the ids of one principal are worth to another on a node that has never heard of them.
import type { JsonObject, McpServer } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect, onTestFinished } from "vitest";
import { nameForm } from "../../support/asking-server.ts";
import { refusal } from "../../support/catalogue.ts";
import { post } from "../../support/http.ts";
import { ping } from "../../support/http-server.ts";
import { listen, settled } from "../../support/listen.ts";
import { SessionClient } from "../../support/sessions.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";
import { type HttpMount, type NodeDoor, openCluster } from "../cluster.ts";
import { saysToBe } from "../mounts.ts";
import type { HttpRow } from "../row.ts";
import { SseWire } from "../sse-wire.ts";

const owner = saysToBe("owner");
const thief = saysToBe("thief");
const unknownId = "00000000-0000-4000-8000-000000000000";
const unknownSession = "a".repeat(43);
const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const noSession = { "HTTP+SSE": "has no Mcp-Session-Id; its token has a row of its own" } as const;
const noTasks = { "HTTP+SSE": "is of a revision without tasks" } as const;

/** The same session on another node, with these headers. */
function at(node: NodeDoor, { id }: { readonly id: string }, headers: Record<string, string>): SessionClient {
  return new SessionClient(node.url, id, { headers });
}

/** What a node says to each method of a session: the status, and the text of a refusal. */
async function saidOf(client: SessionClient, eventId?: string): Promise<unknown[]> {
  const said: unknown[] = [];
  for (const reply of [await client.post(ping), await client.get(eventId)]) {
    said.push(reply.status, await reply.text());
  }
  return [...said, await client.delete()];
}

/** `wait` shows that it began and waits for the gate, `ask` and `secret` for a name. */
function opened(mount: HttpMount) {
  const gate = deferred<string>();
  onTestFinished(() => gate.resolve("over"));
  const ask = { task: "optional" } as const;
  const define = (server: McpServer): void => {
    server.tool("wait", {}, async (_, ctx) => {
      ctx.log("info", "began");
      return gate.promise;
    });
    server.tool("long", ask, () => gate.promise);
    server.tool("ask", ask, async (_, ctx) =>
      JSON.stringify(await ctx.elicit("Who?", nameForm, { key: "who" })),
    );
    server.tool("secret", { ...ask, scopes: ["secrets"] }, async (_, ctx) =>
      JSON.stringify(await ctx.elicit("Who?", nameForm, { key: "who" })),
    );
  };
  return openCluster(mount, { define });
}

function named(question: JsonObject, name: string): JsonObject {
  return { jsonrpc: "2.0", id: question["id"], result: { action: "accept", content: { name } } };
}

/** Begins a task, whichever way the client's revision does. */
async function begin(client: TestClient, name: string): Promise<string> {
  const wish = client.era === "legacy" ? { task: {} } : {};
  const result = await client.request("tools/call", { name, arguments: {}, ...wish });
  return String(((result["task"] ?? result) as JsonObject)["taskId"]);
}

const evil = { who: { action: "accept", content: { name: "Eve" } } };
const taskForms = [
  { revision: "2025-11-25", methods: ["tasks/get", "tasks/result", "tasks/cancel"] },
  { revision: "2026-07-28", methods: ["tasks/get", "tasks/update", "tasks/cancel"] },
] as const;

async function saidOfTask(
  client: TestClient,
  methods: readonly string[],
  taskId: string,
): Promise<unknown[]> {
  const said: unknown[] = [];
  for (const method of methods) {
    const { code, message, data } = await refusal(client.request(method, { taskId, inputResponses: evil }));
    said.push({ code, message, data });
  }
  return said;
}

export const clusterRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "the session of another principal is exactly like one that never was, on another node and by any method",
    leftOut: noSession,
    async attack(mount) {
      const { nodes } = await opened(mount);
      const victim = await SessionClient.open(nodes[0], { headers: owner });
      const stream = await victim.get();
      await until(() => stream.lastEventId !== undefined);
      for (const headers of [thief, saysToBe("Owner"), {}]) {
        const nothing = await saidOf(at(nodes[1], { id: unknownSession }, headers), stream.lastEventId);
        expect(nothing).toMatchObject([404, expect.anything(), 404, expect.anything(), 404]);
        expect(await saidOf(at(nodes[1], victim, headers), stream.lastEventId)).toEqual(nothing);
      }
      expect(nodes[1].stats().sessions).toBe(0);
      expect(await at(nodes[1], victim, owner).request("ping")).toMatchObject({ result: {} });
      stream.cut();
    },
  },
  {
    over: "http",
    name: "an event id of another principal's GET or POST stream brings nothing of it on another node",
    requirements: ["RESUME-NO-CROSS-STREAM"],
    leftOut: noSession,
    async attack(mount) {
      const { nodes } = await opened(mount);
      const victim = await SessionClient.open(nodes[0], { headers: owner });
      const call = await victim.call("wait");
      const stream = await victim.get();
      await nodes[0].server.push.toSession(victim.id, "notifications/message", {
        level: "info",
        data: "private",
      });
      await until(() => stream.textSoFar.includes("private") && call.lastEventId !== undefined);
      const own = await SessionClient.open(nodes[1], { headers: thief });
      for (const { events } of [stream, call]) {
        for (const { id } of events.filter((event) => event.id !== undefined)) {
          expect((await at(nodes[1], victim, thief).get(id)).status).toBe(404);
          const resumed = await own.get(id);
          expect(resumed.status).toBe(id?.startsWith("p") ? 400 : 200);
          await nextTurn();
          expect(resumed.textSoFar).not.toContain("private");
          resumed.cut();
        }
      }
      for (const open of [stream, call]) open.cut();
    },
  },
  {
    over: "http",
    name: "event ids of odd characters and huge numbers bring nothing old, and stop no node",
    leftOut: noSession,
    async attack(mount) {
      const { nodes } = await opened(mount);
      const client = await SessionClient.open(nodes[0], { headers: owner });
      const stream = await client.get();
      await nodes[0].server.push.toSession(client.id, "notifications/message", {
        level: "info",
        data: "old",
      });
      await until(() => stream.textSoFar.includes("old"));
      stream.cut();
      const [start = "", place = "", changes = ""] = (stream.lastEventId ?? "").slice(1).split(".");
      const many = "9".repeat(400);
      const numbers = [
        many,
        "1e308",
        "0x10",
        "-0",
        " 1",
        "1_0",
        "NaN",
        "Infinity",
        "%00",
        "*",
        "..",
        "\u00e9",
        "[1]",
      ];
      const ids = numbers.flatMap((number) => [
        `g${number}.${place}.${changes}`,
        `g${start}.${number}-.${changes}`,
        `g${start}.${place}.${number}`,
        `p${number}.${place}`,
        `p${start}.${number}-a`,
      ]);
      for (const id of [...ids, "__proto__", "g__proto__.1-a.1-a", "constructor", "g.".repeat(2000)]) {
        const resumed = await at(nodes[1], client, owner).get(id);
        expect([id, resumed.status]).toEqual([id, id.startsWith("p") ? 400 : 200]);
        resumed.cut();
      }
      expect(await at(nodes[1], client, owner).request("ping")).toMatchObject({ result: {} });
    },
  },
  {
    over: "http",
    name: "a task of another principal is exactly like one that never was, on another node, by every method and in both forms",
    requirements: ["TASK25-AUTH-BIND", "TASKX-AUTH"],
    leftOut: noTasks,
    async attack(mount) {
      const { nodes } = await opened(mount);
      for (const { revision, methods } of taskForms) {
        const victim = await nodes[0].connect({ revision, capabilities, user: "owner" });
        const tasks = [await begin(victim, "long"), await begin(victim, "ask")];
        for (const user of ["thief", "Owner", undefined]) {
          const other = await nodes[1].connect({
            revision,
            capabilities,
            ...(user !== undefined && { user }),
          });
          const nothing = await saidOfTask(other, methods, unknownId);
          for (const taskId of tasks) expect(await saidOfTask(other, methods, taskId)).toEqual(nothing);
          if (other.era === "legacy") expect(await other.request("tasks/list")).toEqual({ tasks: [] });
          else expect(await listen(other, { taskIds: [...tasks, unknownId] }, "l")).toEqual({});
        }
        const status = async (taskId = ""): Promise<unknown> =>
          (await victim.request("tasks/get", { taskId }))["status"];
        expect([await status(tasks[0]), await status(tasks[1])]).toEqual(["working", "input_required"]);
      }
    },
  },
  {
    over: "http",
    name: "the end of another principal's task is not told on another node",
    requirements: ["TASKX-AUTH"],
    leftOut: noTasks,
    async attack(mount) {
      const { nodes } = await opened(mount);
      const revision = "2026-07-28";
      const victim = await nodes[0].connect({ revision, capabilities, user: "owner" });
      const taskId = await begin(victim, "long");
      const other = await nodes[1].connect({ revision, capabilities, user: "thief" });
      const own = await begin(other, "long");
      expect(await listen(other, { taskIds: [taskId, own] }, "l")).toEqual({ taskIds: [own] });
      await victim.request("tasks/cancel", { taskId });
      await other.request("tasks/cancel", { taskId: own });
      await other.waitFor((message) => "method" in message && message.method === "notifications/tasks");
      await settled(other);
      expect(JSON.stringify(other.notifications("notifications/tasks"))).not.toContain(taskId);
    },
  },
  {
    over: "http",
    name: "an answer of another principal, of another session or without the scopes settles no question of another node",
    leftOut: noSession,
    async attack(mount) {
      const { nodes } = await opened(mount);
      const headers = saysToBe("owner", "secrets");
      const victim = await SessionClient.open(nodes[0], { headers, capabilities });
      const call = await victim.call("secret");
      const question = await call.message(({ method }) => method === "elicitation/create");
      const stolen = named(question, "Eve");
      expect((await at(nodes[1], victim, saysToBe("thief", "secrets")).post(stolen)).status).toBe(404);
      const own = await SessionClient.open(nodes[1], { headers: saysToBe("thief", "secrets"), capabilities });
      expect(await own.say(stolen)).toBe(202);
      const second = await SessionClient.open(nodes[1], { headers, capabilities });
      expect(await second.say(stolen)).toBe(202);
      for (const scopes of ["", "secret", "secrets2 Secrets"]) {
        await at(nodes[1], victim, saysToBe("owner", scopes)).say(stolen);
      }
      expect(await nodes[0].server.push.pendingAsks()).toBe(1);
      expect(await at(nodes[1], victim, headers).say(named(question, "Ada"))).toBe(202);
      const reply = await call.message(({ result }) => result !== undefined);
      expect(JSON.stringify(reply)).toContain("Ada");
    },
  },
  {
    over: "http",
    name: "an answer to a task of another node without the scopes of its tool is refused like one to an unknown task",
    leftOut: noTasks,
    async attack(mount) {
      const { nodes } = await opened(mount);
      const revision = "2026-07-28";
      const client = (node: NodeDoor, scopes: string): Promise<TestClient> =>
        node.connect({ revision, capabilities, user: "owner", scopes });
      const victim = await client(nodes[0], "secrets");
      const taskId = await begin(victim, "secret");
      const poor = await client(nodes[1], "other");
      const { methods } = taskForms[1];
      expect(await saidOfTask(poor, methods, taskId)).toEqual(await saidOfTask(poor, methods, unknownId));
      const status = async (): Promise<unknown> => (await victim.request("tasks/get", { taskId }))["status"];
      expect(await status()).toBe("input_required");
      await (await client(nodes[1], "secrets")).request("tasks/update", { taskId, inputResponses: evil });
      await until(async () => (await status()) === "completed");
    },
  },
  {
    over: "http",
    name: "the token of another principal's HTTP+SSE stream takes no message on another node",
    requirements: ["SSE24-AUTH"],
    leftOut: {
      serveHttp: "has no token of HTTP+SSE",
      fetchHandler: "the same",
      Express: "the same",
    },
    async attack(mount) {
      const { nodes } = await opened(mount);
      const wire = await SseWire.open(nodes[0].port, owner);
      const say = async (headers: Record<string, string>, path = wire.endpoint): Promise<number> =>
        (await nodes[1].send({ ...post(ping, headers), path })).status;
      expect([await say(thief), await say({}), await say(owner, `${wire.endpoint}x`)]).toEqual([
        404, 404, 404,
      ]);
      expect(await say(owner)).toBe(202);
      await wire.close();
    },
  },
];
