// Tasks: whose they are, how many there may be, and what those who look after them can be made to do.
import type { Backplane, JsonObject, ServerOptions } from "halyard";
import { RpcRejection, type TestClient } from "halyard/testing";
import { expect, onTestFinished } from "vitest";
import { makeServer, refusal } from "../../support/catalogue.ts";
import { listen, settled } from "../../support/listen.ts";
import { nameForm } from "../../support/asking-server.ts";
import { backplaneThat, join } from "../../support/backplane.ts";
import { deferred, until } from "../../support/turns.ts";
import { type Door, type MountName, openDoor } from "../mounts.ts";
import type { Row } from "../row.ts";

const forms = { core: "2025-11-25", extension: "2026-07-28" } as const;
const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const unknownId = "00000000-0000-4000-8000-000000000000";

const noTasks = { "HTTP+SSE": "is of a revision without tasks" } as const;
const noUsers = { ...noTasks, stdio: "has one client, whose process started the server" } as const;

/** `long` waits for the gate and ignores its signal, `asking` waits for a name, `quick` for nothing, `big` has the size of its argument. */
function taskServer(options: ServerOptions = {}) {
  const { server } = makeServer(options);
  const gate = deferred();
  let running = 0;
  server.tool("long", { task: "optional" }, async () => {
    running++;
    await gate.promise;
    running--;
    return "finished";
  });
  server.tool("asking", { task: "optional" }, async (_, ctx) =>
    JSON.stringify(await ctx.elicit("Who?", nameForm, { key: "who" })),
  );
  server.tool("quick", { task: "optional" }, () => "quick");
  server.tool("big", { task: "optional", input: { type: "object" } }, (args) =>
    "x".repeat(Number((args as { size?: unknown }).size)),
  );
  onTestFinished(() => gate.resolve());
  return { server, gate, running: () => running };
}

const connect = (door: Door, form: keyof typeof forms, user?: string): Promise<TestClient> =>
  door.connect({ revision: forms[form], capabilities, ...(user !== undefined && { user }) });

/** Begins a task, whichever way the client's revision does. */
async function begin(client: TestClient, name: string, args: JsonObject = {}, task = {}): Promise<string> {
  const wish = client.era === "legacy" ? { task } : {};
  const result = await client.request("tools/call", { name, arguments: args, ...wish });
  return String(((result["task"] ?? result) as JsonObject)["taskId"]);
}

async function statusOf(client: TestClient, taskId: string): Promise<unknown> {
  return (await client.request("tasks/get", { taskId }))["status"];
}

/** Each answer to a question about a task, as far as it can tell one task from another. */
const questions: Readonly<Record<keyof typeof forms, readonly [method: string, params: JsonObject][]>> = {
  core: [
    ["tasks/get", {}],
    ["tasks/result", {}],
    ["tasks/cancel", {}],
  ],
  extension: [
    ["tasks/get", {}],
    ["tasks/update", { inputResponses: { who: { action: "accept", content: { name: "Eve" } } } }],
    ["tasks/update", { inputResponses: 5 }],
    ["tasks/cancel", {}],
  ],
};

async function saidOf(client: TestClient, form: keyof typeof forms, taskId: unknown): Promise<unknown[]> {
  const said: unknown[] = [];
  for (const [method, params] of questions[form]) {
    const { code, message, data } = await refusal(client.request(method, { ...params, taskId }));
    said.push({ code, message, data });
  }
  return said;
}

/** A backplane that counts how often a task is looked up. */
function countingBackplane(): { readonly backplane: Backplane; readonly reads: () => number } {
  let reads = 0;
  const backplane = backplaneThat((engine) => ({
    get: (key) => (key.kind === "task" && reads++, engine.get(key)),
  }));
  return { backplane, reads: () => reads };
}

/** The limit lets `allowed` tasks of one principal begin; whether others are let in is what is asked. */
async function pastOwnLimit(mount: MountName, tasks: ServerOptions["tasks"], name: string): Promise<void> {
  const { server } = taskServer({ tasks: tasks ?? {} });
  const door = await openDoor(mount, server);
  for (const form of ["core", "extension"] as const) {
    const greedy = await connect(door, form, `greedy ${form}`);
    for (let count = 0; count < 2; count++) await begin(greedy, name);
    expect(await refusal(begin(greedy, name))).toMatchObject({ code: -32600 });
    await begin(await connect(door, form, `modest ${form}`), name);
  }
}

export const taskRows: readonly Row[] = [
  {
    over: "messages",
    name: "a task of another principal is exactly like one that never was, by every method and in both forms",
    advisories: ["CVE-2026-52870", "CVE-2026-111767"],
    requirements: ["TASK25-AUTH-BIND", "TASKX-AUTH", "TASKX-UNKNOWN-GET", "TASKX-UNKNOWN-OTHER"],
    leftOut: noUsers,
    async attack(mount) {
      const { server, gate } = taskServer();
      const door = await openDoor(mount, server);
      for (const form of ["core", "extension"] as const) {
        const owner = await connect(door, form, "owner");
        const tasks = [await begin(owner, "long"), await begin(owner, "asking")];
        for (const user of ["thief", "Owner", undefined]) {
          const thief = await connect(door, form, user);
          const nothing = await saidOf(thief, form, unknownId);
          for (const taskId of tasks) expect(await saidOf(thief, form, taskId)).toEqual(nothing);
          if (form === "core") expect(await thief.request("tasks/list")).toEqual({ tasks: [] });
        }
        expect(await statusOf(owner, tasks[0] ?? "")).toBe("working");
        expect(await statusOf(owner, tasks[1] ?? "")).toBe("input_required");
      }
      gate.resolve();
    },
  },
  {
    over: "messages",
    name: "whoever listens to another's task is told nothing, not even that there is one",
    requirements: ["TASKX-AUTH"],
    advisories: ["CVE-2026-52870"],
    leftOut: noUsers,
    async attack(mount) {
      const { server } = taskServer();
      const door = await openDoor(mount, server);
      const owner = await connect(door, "extension", "owner");
      const taskId = await begin(owner, "long");
      const thief = await connect(door, "extension", "thief");
      const own = await begin(thief, "long");
      expect(await listen(thief, { taskIds: [taskId, unknownId, own] }, "l")).toEqual({ taskIds: [own] });
      expect(await listen(owner, { taskIds: [taskId] }, "l")).toEqual({ taskIds: [taskId] });
      await owner.request("tasks/cancel", { taskId });
      await owner.waitFor((message) => "method" in message && message.method === "notifications/tasks");
      await settled(thief);
      expect(thief.notifications("notifications/tasks")).toEqual([]);
    },
  },
  {
    over: "messages",
    name: "a task of one form is unknown to clients of the other, even of its owner",
    leftOut: noTasks,
    async attack(mount) {
      const { server } = taskServer();
      const door = await openDoor(mount, server);
      const clients = {
        core: await connect(door, "core", "a"),
        extension: await connect(door, "extension", "a"),
      };
      for (const [form, other] of [
        ["core", "extension"],
        ["extension", "core"],
      ] as const) {
        const taskId = await begin(clients[other], "long");
        expect(await saidOf(clients[form], form, taskId)).toEqual(
          await saidOf(clients[form], form, unknownId),
        );
      }
    },
  },
  {
    over: "messages",
    name: "a list of tasks shows no other's, whatever cursor is brought, and a made-up cursor leads nowhere",
    requirements: ["TASK25-LIST-CURSOR-ERR", "TASK25-AUTH-BIND"],
    leftOut: noUsers,
    async attack(mount) {
      const { server } = taskServer({ pageSize: 1 });
      const door = await openDoor(mount, server);
      const owner = await connect(door, "core", "owner");
      for (let count = 0; count < 3; count++) await begin(owner, "long");
      const page = await owner.request("tasks/list");
      const cursor = String(page["nextCursor"]);
      const thief = await connect(door, "core", "thief");
      expect(await thief.request("tasks/list", { cursor })).toEqual({ tasks: [] });
      const text = Buffer.from(cursor, "base64url").toString();
      const forged = [`${cursor}=`, cursor.slice(1), "", "__proto__", 5, {}, `${text} x`, `\n${text}`];
      for (const given of [...forged, "A".repeat(100_000)])
        expect(await refusal(owner.request("tasks/list", { cursor: given }))).toMatchObject({ code: -32602 });
      const early = Buffer.from(`0000-00-00T0Z ${unknownId}`).toString("base64url");
      expect(await thief.request("tasks/list", { cursor: early })).toEqual({ tasks: [] });
    },
  },
  {
    over: "messages",
    name: "an id that no task can have is not looked up, and one that is looked up costs one look",
    leftOut: noTasks,
    async attack(mount) {
      const { backplane, reads } = countingBackplane();
      const { server } = taskServer({ backplane });
      await join(server);
      const client = await connect(await openDoor(mount, server), "extension", "a");
      const long = client.request("tasks/get", { taskId: "x".repeat(5000) });
      expect(await refusal(long)).toMatchObject({ code: -32602 });
      for (const taskId of [5, {}, null, ["x"]]) await refusal(client.request("tasks/get", { taskId }));
      expect(reads()).toBe(0);
      expect(await refusal(client.request("tasks/get", { taskId: "__proto__" }))).toMatchObject({
        code: -32602,
      });
      const taskIds = Array.from({ length: 1000 }, () => unknownId);
      expect(await listen(client, { taskIds }, "l")).toEqual({});
      expect(reads()).toBe(2);
      const many = Array.from({ length: 1001 }, (_, at) => `${at}`);
      const asked = client.request("subscriptions/listen", { notifications: { taskIds: many } });
      expect(await refusal(asked)).toMatchObject({ code: -32602 });
      expect(reads()).toBe(2);
    },
  },
  {
    over: "messages",
    name: "answers to a task that were never asked for, under whatever name, change nothing of it",
    requirements: ["TASKX-UPDATE-UNKNOWN-KEYS"],
    leftOut: noTasks,
    async attack(mount) {
      const { server } = taskServer();
      const client = await connect(await openDoor(mount, server), "extension", "a");
      const taskId = await begin(client, "asking");
      await until(async () => (await statusOf(client, taskId)) === "input_required");
      const update = (inputResponses: unknown): Promise<JsonObject> =>
        client.request("tasks/update", { taskId, inputResponses });
      const answer = { action: "accept", content: { name: "Ada" } };
      for (const key of ["constructor", "__proto__", "toString", "", "who "]) {
        const named = JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(answer)}}`) as JsonObject;
        await update(named);
      }
      const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`who-${at}`, answer]));
      await update(many);
      for (const wrong of [[], "who", null, { who: "Ada" }, { who: null }, { who: { action: "maybe" } }])
        expect(await refusal(update(wrong))).toMatchObject({ code: -32602 });
      const long = await refusal(
        update({ who: { action: "accept", content: { name: { ["x".repeat(9000)]: 1 } } } }),
      );
      expect(long.message.length).toBeLessThan(1000);
      expect(await statusOf(client, taskId)).toBe("input_required");
      await update({ who: answer });
      await until(async () => (await statusOf(client, taskId)) === "completed");
      await update({ who: answer });
    },
  },
  {
    over: "messages",
    name: "one task too many at once is refused, and to cancel makes room only when the handler has ended",
    requirements: ["TASK25-LIMITS"],
    limit: "tasks.maxRunning",
    leftOut: noTasks,
    async attack(mount) {
      const { server, gate, running } = taskServer({ tasks: { maxRunning: 2 } });
      const client = await connect(await openDoor(mount, server), "extension", "a");
      const [first = ""] = [await begin(client, "long"), await begin(client, "long")];
      await until(() => running() === 2);
      expect(await refusal(begin(client, "long"))).toMatchObject({ code: -32600 });
      await client.request("tasks/cancel", { taskId: first });
      expect(await refusal(begin(client, "long"))).toMatchObject({ code: -32600 });
      expect(running()).toBe(2);
      gate.resolve();
      await until(() => running() === 0);
      await begin(client, "long");
    },
  },
  {
    over: "messages",
    name: "one principal cannot take the running tasks of the others",
    limit: "tasks.maxRunningPerPrincipal",
    leftOut: noUsers,
    attack: (mount) => pastOwnLimit(mount, { maxRunningPerPrincipal: 2 }, "long"),
  },
  {
    over: "messages",
    name: "one principal cannot take the room of the tasks of others",
    limit: "tasks.maxTasksPerPrincipal",
    leftOut: noUsers,
    attack: (mount) => pastOwnLimit(mount, { maxTasksPerPrincipal: 2 }, "quick"),
  },
  {
    over: "messages",
    name: "a result that is too large for all of one principal's fails its task, and no other's",
    limit: "tasks.maxSizePerPrincipal",
    leftOut: noUsers,
    async attack(mount) {
      const { server } = taskServer({ tasks: { maxSizePerPrincipal: 5000 } });
      const door = await openDoor(mount, server);
      const greedy = await connect(door, "extension", "greedy");
      const kept = await begin(greedy, "big", { size: 3000 });
      await until(async () => (await statusOf(greedy, kept)) === "completed");
      const lost = await begin(greedy, "big", { size: 3000 });
      await until(async () => (await statusOf(greedy, lost)) === "failed");
      const modest = await connect(door, "extension", "modest");
      const fine = await begin(modest, "big", { size: 3000 });
      await until(async () => (await statusOf(modest, fine)) === "completed");
    },
  },
  {
    over: "messages",
    name: "no more tasks are kept than there is room for, and those that are stay",
    limit: "tasks.maxTasks",
    leftOut: noTasks,
    async attack(mount) {
      const { server } = taskServer({ tasks: { maxTasks: 2 } });
      const client = await connect(await openDoor(mount, server), "core", "a");
      const kept = [await begin(client, "quick"), await begin(client, "quick")];
      for (let count = 0; count < 5; count++)
        expect(await refusal(begin(client, "quick"))).toMatchObject({ code: -32600 });
      for (const taskId of kept) await until(async () => (await statusOf(client, taskId)) === "completed");
    },
  },
  {
    over: "messages",
    name: "results that are too large together are not kept, and their tasks say so",
    limit: "tasks.maxSize",
    leftOut: noTasks,
    async attack(mount) {
      const { server } = taskServer({ tasks: { maxSize: 5000 } });
      const client = await connect(await openDoor(mount, server), "extension", "a");
      const kept = await begin(client, "big", { size: 3000 });
      await until(async () => (await statusOf(client, kept)) === "completed");
      const lost = await begin(client, "big", { size: 3000 });
      await until(async () => (await statusOf(client, lost)) === "failed");
      const { error } = await client.request("tasks/get", { taskId: lost });
      expect(error).toMatchObject({ code: -32603, message: "The server could not store the result" });
    },
  },
  {
    over: "messages",
    name: "a task is gone when its time is up, and what it was holds nothing any more",
    requirements: ["TASK25-LIMITS"],
    limit: "tasks.ttlMs",
    leftOut: noTasks,
    async attack(mount) {
      const { server } = taskServer({ tasks: { ttlMs: 50 } });
      const client = await connect(await openDoor(mount, server), "core", "a");
      const taskId = await begin(client, "long");
      const waiting = client.request("tasks/result", { taskId });
      expect(await refusal(waiting)).toMatchObject({ code: -32602 });
      expect(await saidOf(client, "core", taskId)).toEqual(await saidOf(client, "core", unknownId));
      expect(await client.request("tasks/list")).toEqual({ tasks: [] });
    },
  },
  {
    over: "messages",
    name: "a client that wishes for a task without end, or for none, gets what the server allows",
    limit: "tasks.maxTtlMs",
    leftOut: noTasks,
    async attack(mount) {
      const { server } = taskServer({ tasks: { maxTtlMs: 5000, ttlMs: 4000 } });
      const client = await connect(await openDoor(mount, server), "core", "a");
      const wishes = { 1e300: 5000, 4001.5: 4002, 0: 4000, [-1]: 4000 };
      for (const [ttl, given] of Object.entries(wishes)) {
        const taskId = await begin(client, "quick", {}, { ttl: Number(ttl) });
        expect(await client.request("tasks/get", { taskId })).toMatchObject({ ttl: given });
      }
      for (const ttl of ["forever", {}, null, [1]]) {
        const taskId = await begin(client, "quick", {}, { ttl });
        expect(await client.request("tasks/get", { taskId })).toMatchObject({ ttl: 4000 });
      }
      for (const task of ["yes", [], 1, null])
        expect(await refusal(client.request("tools/call", { name: "quick", task }))).toBeInstanceOf(
          RpcRejection,
        );
    },
  },
  {
    over: "messages",
    name: "results that very many wait for are requests like any other, and one too many is refused",
    leftOut: noTasks,
    async attack(mount) {
      const { server, gate, running } = taskServer({ limits: { maxInFlight: 20 } });
      const client = await connect(await openDoor(mount, server), "core", "a");
      const taskId = await begin(client, "long");
      await until(() => running() === 1);
      const waiting = Array.from({ length: 30 }, () =>
        client.request("tasks/result", { taskId }).then(
          () => "answered",
          (error: RpcRejection) => error.code,
        ),
      );
      await until(() => client.received.filter((it) => "error" in it).length === 10);
      gate.resolve();
      const outcomes = await Promise.all(waiting);
      expect(outcomes.filter((outcome) => outcome === "answered")).toHaveLength(20);
      expect(outcomes.filter((outcome) => outcome === -32600)).toHaveLength(10);
    },
  },
];
