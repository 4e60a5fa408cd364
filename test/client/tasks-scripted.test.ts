// Tasks of servers that do what ours never does: how often the client asks, what it outlives, and what it refuses.
import {
  type ClientEvent,
  connect,
  type ConnectOptions,
  InvalidResponse,
  type McpClient,
  RpcRejection,
  TaskEnded,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { newestModern } from "../support/revisions.ts";
import { Refuse, said, ScriptedServer, type Sent } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

const coreDate = "2025-11-25";
const both = [coreDate, newestModern];
const tasksId = "io.modelcontextprotocol/tasks";
const form = (message: string): object => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties: { a: { type: "string", default: message } } },
  },
});

type Body = { readonly status: string; readonly [member: string]: unknown };

/** A server whose tool `work` is a task, in the words of its revision. */
class TaskServer extends ScriptedServer {
  readonly isCore: boolean;

  constructor(revision: string, support = "required") {
    const isCore = revision === coreDate;
    const core = { tools: {}, tasks: { cancel: {}, list: {}, requests: { tools: { call: {} } } } };
    super({ revision, capabilities: isCore ? core : { tools: {}, extensions: { [tasksId]: {} } } });
    this.isCore = isCore;
    const tool = {
      name: "work",
      inputSchema: { type: "object" },
      ...(isCore && { execution: { taskSupport: support } }),
    };
    this.on("tools/list", () => ({ resultType: "complete", tools: [tool], ttlMs: 0, cacheScope: "private" }));
    this.on("tools/call", () => (isCore ? { task: this.task() } : { resultType: "task", ...this.task() }));
    this.on("tasks/cancel", () => (isCore ? this.task({ status: "cancelled" }) : { resultType: "complete" }));
    this.on("tasks/result", () => said("done"));
  }

  task({ pollInterval, ttl, ...body }: Partial<Body> = {}): object {
    const now = "2026-01-01T00:00:00Z";
    const [ttlName, pollName] = this.isCore ? ["ttl", "pollInterval"] : ["ttlMs", "pollIntervalMs"];
    const times = { [ttlName]: ttl ?? null, [pollName]: pollInterval ?? 1000 };
    return { taskId: "t1", status: "working", createdAt: now, lastUpdatedAt: now, ...times, ...body };
  }

  /** The task as the next looks show it; the last body stays. A function may refuse. */
  shows(...bodies: readonly (Partial<Body> | (() => Partial<Body>))[]): void {
    let look = 0;
    this.on("tasks/get", () => {
      const body = bodies[Math.min(look++, bodies.length - 1)] ?? {};
      return { resultType: "complete", ...this.task(typeof body === "function" ? body() : body) };
    });
  }

  get looks(): number {
    return this.of("tasks/get").length;
  }
}

/** What a task ends with: the result is inside it, or fetched apart from it. */
const completed = { status: "completed", result: said("done") };

async function open(
  revision: string,
  options: ConnectOptions = {},
  support?: string,
): Promise<{ server: TaskServer; client: McpClient }> {
  const server = new TaskServer(revision, support);
  const client = await connect(server, { revision, tasks: true, ...options });
  onTestFinished(() => client.close());
  // Loads the code of tasks, for which clocks that are held do not wait.
  await client.task({ tool: "work", id: "none" });
  return { server, client };
}

/** Lets everything that is ready, and what follows from it, run. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await nextTurn();
}

/** Lets this time pass, in steps, until `holds`. Returns how much has passed. */
async function pass(timeMs: number, holds: () => boolean = () => false, stepMs = 20): Promise<number> {
  await turns();
  let passed = 0;
  for (; passed < timeMs && !holds(); passed += stepMs) {
    vi.advanceTimersByTime(stepMs);
    await turns();
  }
  return passed;
}

describe.each(both)("a task on %s", (revision) => {
  const done = { content: [{ type: "text", text: "done" }] };

  test.each([
    [5000, 5000, 6250],
    [1, 100, 125],
    [undefined, 1000, 1250],
  ])(
    "whose server wants %s ms between looks is looked at with jitter, and not too often [TASKX-POLL, TASK25-POLL]",
    async (pollInterval, least, most) => {
      const { server, client } = await open(revision);
      const bodies = Array.from({ length: 12 }, () => ({ pollInterval }));
      server.shows(...bodies, completed);
      holdClocks("setTimeout", "clearTimeout");
      const call = client.callTool("work");
      const waits: number[] = [];
      await pass(1, () => server.looks > 0);
      for (let looks = 1; looks <= bodies.length; looks++)
        waits.push(await pass(10_000, () => server.looks > looks));
      expect(await call).toMatchObject(done);
      for (const waitMs of waits) {
        expect(waitMs).toBeGreaterThanOrEqual(least);
        expect(waitMs).toBeLessThanOrEqual(most + 20);
      }
      if (least > 1000) expect(new Set(waits).size).toBeGreaterThan(1);
    },
  );

  test("outlives looks that fail, with waits that grow [CACHE-POLL-JITTER]", async () => {
    const events: ClientEvent[] = [];
    const observe = (event: ClientEvent): void => void events.push(event);
    const { server, client } = await open(revision, { observe });
    const failing = (): never => {
      throw new Refuse(-32603, "The store is down");
    };
    server.shows({}, failing, failing, failing, failing, failing, failing, {}, completed);
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("work");
    await pass(120_000, () => server.looks === 9, 250);
    expect(await call).toMatchObject(done);
    const waits = events.flatMap((event) => (event.type === "retry" ? [event.waitMs] : []));
    expect(waits).toHaveLength(6);
    expect(waits[5]).toBeGreaterThan(4 * Number(waits[0]));
  });

  test("outlives a lost connection", async () => {
    const { server, client } = await open(revision, { backoff: { firstMs: 1 } });
    server.shows({ pollInterval: 1 }, { pollInterval: 1 }, completed);
    const call = client.callTool("work");
    await until(() => server.looks === 1);
    server.end.cut();
    expect(await call).toMatchObject(done);
    expect(server.of("tools/call")).toHaveLength(1);
    expect(server.ends.length).toBeGreaterThan(1);
  });

  test("that could not be looked at before it expired has a clear error", async () => {
    const { server, client } = await open(revision);
    server.on("tools/call", () => {
      const task = server.task({ ttl: 60_000 });
      return server.isCore ? { task } : { resultType: "task", ...task };
    });
    server.on("tasks/get", () => {
      throw new Refuse(-32603, "The store is down");
    });
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("work").catch((error: unknown) => error);
    let isOver = false;
    void call.then(() => (isOver = true));
    await pass(59_000, () => isOver, 500);
    const { looks } = server;
    expect(isOver).toBe(false);
    await pass(100_000, () => isOver, 500);
    const error = await call;
    expect(error).toBeInstanceOf(TaskEnded);
    expect(error).toMatchObject({ reason: "expired", cause: expect.any(RpcRejection) as unknown });
    expect(server.looks).toBeGreaterThan(looks);
    expect(server.looks).toBeLessThan(20);
  });

  test("that takes longer than maxTimeMs is cancelled [CANCEL-TASKS, TASKX-CANCEL-NOT-NOTIF]", async () => {
    const { server, client } = await open(revision);
    server.shows({});
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("work", {}, { maxTimeMs: 10_000 }).catch((error: unknown) => error);
    await pass(10_100, undefined, 500);
    expect(await call).toMatchObject({ code: "TIMEOUT", limit: "maxTimeMs" });
    await turns();
    expect(server.of("tasks/cancel").map(({ params }) => params?.["taskId"])).toEqual(["t1"]);
    // A look at the task may be under way, and is cancelled as any request.
    const [begun] = server.of("tools/call") as [{ readonly id?: unknown }];
    const cancelled = server.of("notifications/cancelled").map(({ params }) => params?.["requestId"]);
    expect(begun.id).toBeDefined();
    expect(cancelled).not.toContain(begun.id);
  });

  test("ends with the client that waits for it", async () => {
    const { server, client } = await open(revision);
    server.shows({});
    const call = client.callTool("work").catch((error: unknown) => error);
    await until(() => server.looks === 1);
    await client.close();
    expect(await call).toMatchObject({ code: "CONNECTION_LOST", reason: "closed" });
  });

  test.each([
    ["an unknown status", { status: "sleeping" }],
    ["no status", { status: undefined }],
    ["the id of another task", { taskId: "t2" }],
    ["no id", { taskId: undefined }],
  ])("that has %s is an invalid response", async (_, body) => {
    const { server, client } = await open(revision);
    server.shows(body as Partial<Body>);
    await expect(client.callTool("work")).rejects.toBeInstanceOf(InvalidResponse);
  });

  test("is over with the first final status, whatever the server says later [TASK25-TRANSITIONS]", async () => {
    const { server, client } = await open(revision);
    server.shows({ pollInterval: 1 }, completed, { status: "working" }, { status: "failed" });
    const task = await client.startTask("work");
    expect(await task.result()).toMatchObject(done);
    expect(await task.result()).toMatchObject(done);
    expect(server.looks).toBe(2);
  });

  test("is looked at once, however many wait for it", async () => {
    const { server, client } = await open(revision);
    server.shows({ pollInterval: 1 }, { pollInterval: 1 }, completed);
    const task = await client.startTask("work");
    const [one, other] = await Promise.all([task.result(), task.result()]);
    expect([one, other]).toMatchObject([done, done]);
    expect(server.looks).toBe(3);
  });

  test("that the server cancelled says so", async () => {
    const { server, client } = await open(revision);
    server.shows({ status: "cancelled", statusMessage: "Maintenance" });
    const error = await client.callTool("work").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      reason: "cancelled",
      message: expect.stringContaining("Maintenance") as unknown,
    });
    expect(server.of("tasks/cancel")).toEqual([]);
  });

  test("a server that answers at once leaves nothing to wait for [TASK25-NOCAP-IGNORE, TASKX-CLIENT-BOTH]", async () => {
    const { server, client } = await open(revision);
    server.on("tools/call", () => said("at once"));
    const task = await client.startTask("work");
    expect(task.id).toBeUndefined();
    expect(await task.status()).toEqual({ status: "completed" });
    await task.cancel();
    task.onStatus(() => {})();
    const again = await client.task(JSON.parse(JSON.stringify(task)) as never);
    for (const handle of [task, again])
      expect((await handle.result()).content).toEqual([{ type: "text", text: "at once" }]);
    expect((await client.callTool("work")).content).toEqual([{ type: "text", text: "at once" }]);
    expect(server.looks).toBe(0);
  });

  test("client.task takes only what toJSON returned", async () => {
    const { client } = await open(revision);
    for (const wrong of [undefined, "t1", {}, { id: "t1" }, { tool: "work" }])
      await expect(client.task(wrong as never)).rejects.toThrow("toJSON()");
  });
});

describe("tasks of the extension", () => {
  const asks = (...keys: readonly string[]): Body => ({
    status: "input_required",
    pollInterval: 1,
    inputRequests: Object.fromEntries(keys.map((key) => [key, form(key)])),
  });
  const answersOf = ({ params }: Sent): unknown => params?.["inputResponses"];

  test("have each question asked once, and answered under its key [TASKX-UPDATE, TASKX-UPDATE-DEDUP]", async () => {
    const asked: string[] = [];
    const onElicit = ({ message }: { message: string }) => (
      asked.push(message),
      { action: "accept" as const }
    );
    const { server, client } = await open(newestModern, { onElicit });
    server.on("tasks/update", () => ({ resultType: "complete" }));
    server.shows(asks("a"), asks("a", "b"), asks("a", "b"), asks("b"), { pollInterval: 1 }, completed);
    await client.callTool("work");
    expect(asked).toEqual(["a", "b"]);
    expect(server.of("tasks/update").map(({ params }) => params?.["taskId"])).toEqual(["t1", "t1"]);
    expect(server.of("tasks/update").map(answersOf)).toEqual(
      ["a", "b"].map((key) => ({ [key]: { action: "accept", content: { a: key } } })),
    );
    for (const { params } of server.of("tasks/update")) expect(params).not.toHaveProperty("requestState");
  });

  test("ask a question again whose handler failed, when somebody waits for the result again", async () => {
    let times = 0;
    const onElicit = () => {
      if (++times === 1) throw new Error("The window is closed");
      return { action: "accept" as const };
    };
    const { server, client } = await open(newestModern, { onElicit });
    server.on("tasks/update", () => {
      server.shows(completed);
      return { resultType: "complete" };
    });
    server.shows(asks("a"));
    const task = await client.startTask("work");
    await expect(task.result()).rejects.toThrow("The window is closed");
    await expect(task.result()).resolves.toMatchObject({ content: [{ text: "done" }] });
    expect(times).toBe(2);
  });

  test("get an answer that did not arrive again, and nobody is asked again", async () => {
    const onElicit = vi.fn(() => ({ action: "accept" as const }));
    const { server, client } = await open(newestModern, { onElicit });
    let updates = 0;
    server.on("tasks/update", () => {
      if (updates++ < 2) throw new Refuse(-32603, "The store is down");
      server.shows(completed);
      return { resultType: "complete" };
    });
    server.shows(asks("a"));
    await client.callTool("work");
    expect(onElicit).toHaveBeenCalledTimes(1);
    expect(server.of("tasks/update").map(answersOf)).toEqual(
      Array.from({ length: 3 }, () => ({ a: { action: "accept", content: { a: "a" } } })),
    );
  });

  test("that have ended need no answer, but one that is refused ends the call", async () => {
    const onElicit = () => ({ action: "accept" as const });
    const { server, client } = await open(newestModern, { onElicit });
    server.on("tasks/update", () => {
      throw new Refuse(-32602, "Not like this");
    });
    server.shows(asks("a"), completed);
    expect(await client.callTool("work")).toMatchObject({ content: [{ text: "done" }] });
    server.shows(asks("a"));
    await expect(client.callTool("work")).rejects.toMatchObject({ code: -32602, message: "Not like this" });
    await turns();
    expect(server.of("tasks/cancel")).toHaveLength(1);
  });

  test("stop the handlers when they end by themselves", async () => {
    const asked = deferred<AbortSignal>();
    const { server, client } = await open(newestModern, {
      onElicit: (_: unknown, { signal }: { signal: AbortSignal }) => (
        asked.resolve(signal),
        new Promise<never>(() => {})
      ),
    });
    server.shows(asks("a"), asks("a"), completed);
    await client.callTool("work");
    expect((await asked.promise).aborted).toBe(true);
    expect(server.of("tasks/update")).toEqual([]);
  });

  test.each([
    ["questions that are no object", { status: "input_required", inputRequests: [form("a")] }],
    ["a question of an unknown kind", { status: "input_required", inputRequests: { a: { method: "ping" } } }],
    [
      "a question that the client did not declare",
      { status: "input_required", inputRequests: { a: { method: "roots/list" } } },
    ],
    ["no result although it is completed", { status: "completed" }],
  ])("that have %s are invalid, and are cancelled [TASKX-UPDATE-TRUST]", async (_, body) => {
    const { server, client } = await open(newestModern, { onElicit: () => ({ action: "accept" }) });
    server.shows(body as Body);
    await expect(client.callTool("work")).rejects.toBeInstanceOf(InvalidResponse);
    await turns();
    expect(server.of("tasks/cancel")).toHaveLength(body.status === "completed" ? 0 : 1);
  });

  test("that ask without end are bounded", async () => {
    const onElicit = vi.fn(() => ({ action: "accept" as const }));
    const { server, client } = await open(newestModern, {
      onElicit,
      limits: { maxQuestions: 2, maxRounds: 2 },
    });
    server.on("tasks/update", () => ({ resultType: "complete" }));
    let look = 0;
    server.on("tasks/get", () => ({ resultType: "complete", ...server.task(asks(`${look++}`)) }));
    await expect(client.callTool("work")).rejects.toThrow("more than 4 questions");
    expect(onElicit).toHaveBeenCalledTimes(4);
    server.shows(asks("x", "y", "z"));
    await expect(client.callTool("work")).rejects.toThrow("limits.maxQuestions");
  });

  test("that failed reject with their error", async () => {
    const { server, client } = await open(newestModern);
    server.shows({ status: "failed", error: { code: -32000, message: "Broken", data: 5 } });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: -32000, message: "Broken", data: 5 });
    server.shows({ status: "failed", statusMessage: "Node lost" });
    await expect(client.callTool("work")).rejects.toMatchObject({ code: -32603, message: "Node lost" });
    expect(server.of("tasks/cancel")).toEqual([]);
  });

  test("are a result of tools/call only [TASKX-CLIENT-UNSUPPORTED-METHOD]", async () => {
    const { server, client } = await open(newestModern);
    server.on("prompts/get", () => ({ resultType: "task", ...server.task() }));
    await expect(client.getPrompt("p")).rejects.toBeInstanceOf(InvalidResponse);
  });

  test("are asked for by no parameter of the call", async () => {
    const { server, client } = await open(newestModern);
    server.shows(completed);
    await client.callTool("work");
    await client.startTask("work", {}, { ttlMs: 5000 });
    for (const { params } of server.of("tools/call")) expect(params).not.toHaveProperty("task");
  });
});

describe("tasks of 2025-11-25", () => {
  test("are requested if the tool requires it, and by startTask [TASK25-TOOL-REQUIRED, TASK25-AUGMENT]", async () => {
    const { server, client } = await open(coreDate);
    server.shows(completed);
    await client.callTool("work");
    await client.startTask("work", {}, { ttlMs: 5000 });
    expect(server.of("tools/call").map(({ params }) => params?.["task"])).toEqual([{}, { ttl: 5000 }]);
  });

  test.each(["optional", "forbidden"])(
    "are not requested by callTool if they are %s [TASK25-TOOL-FORBIDDEN]",
    async (support) => {
      const { server, client } = await open(coreDate, {}, support);
      server.on("tools/call", () => said("plain"));
      await client.callTool("work");
      if (support === "forbidden")
        await expect(client.startTask("work")).rejects.toMatchObject({ code: "NO_TASKS" });
      for (const { params } of server.of("tools/call")) expect(params).not.toHaveProperty("task");
      expect(server.of("tools/call")).toHaveLength(1);
    },
  );

  test.each([{ tools: {} }, { tools: {}, tasks: {} }, { tools: {}, tasks: { requests: { tools: {} } } }])(
    "are never requested of a server that declares %o [TASK25-TOOL-NOCAP, TASK25-CAP-ABSENT, INIT-RESPECT-CAPS]",
    async (capabilities) => {
      const server = new ScriptedServer({ revision: coreDate, capabilities });
      const tool = { name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } };
      server.on("tools/list", () => ({ tools: [tool] }));
      server.on("tools/call", () => said("plain"));
      const client = await connect(server, { revision: coreDate });
      onTestFinished(() => client.close());
      await client.listTools();
      await client.callTool("work");
      await expect(client.startTask("work")).rejects.toMatchObject({ code: "NO_TASKS" });
      for (const { params } of server.of("tools/call")) expect(params).not.toHaveProperty("task");
    },
  );

  test("report progress under the token of their call [PROG-TASK-TOKEN]", async () => {
    const { server, client } = await open(coreDate);
    server.shows({ pollInterval: 1 }, { pollInterval: 1 }, completed);
    const seen: unknown[] = [];
    const call = client.callTool("work", {}, { onProgress: ({ progress }) => void seen.push(progress) });
    await until(() => server.looks === 1);
    const [token] = server.of("tools/call").map(({ id }) => id);
    server.end.notify("notifications/progress", { progressToken: token, progress: 1 });
    server.end.notify("notifications/progress", { progressToken: "other", progress: 9 });
    server.end.notify("notifications/progress", { progressToken: token, progress: "2" });
    await call;
    server.end.notify("notifications/progress", { progressToken: token, progress: 3 });
    await client.ping();
    expect(seen).toEqual([1]);
  });

  test("a notification makes the client look sooner, and nothing more [TASK25-STATUS-NOTIF-RELY]", async () => {
    const { server, client } = await open(coreDate);
    server.shows({ pollInterval: 600_000 });
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("work");
    await pass(1, () => server.looks === 1);
    const hint = (body: object): void =>
      server.end.notify("notifications/tasks/status", server.task(body as Body));
    hint({ status: "working" });
    hint({ status: "completed", taskId: "t2" });
    await pass(1000);
    expect(server.looks).toBe(1);
    hint({ status: "completed" });
    await pass(1000);
    expect(server.looks).toBe(2);
    expect(server.of("tasks/result")).toEqual([]);
    server.shows(completed);
    hint({ status: "completed" });
    hint({ status: "failed" });
    expect(await pass(1000, () => server.looks === 3)).toBeLessThan(200);
    expect(await call).toMatchObject({ content: [{ text: "done" }] });
    expect(server.looks).toBe(3);
  });

  test("that wait for input are asked for their result, again if that is lost [TASK25-INPUT-REQUIRED-RESULT]", async () => {
    const { server, client } = await open(coreDate, { onElicit: () => ({ action: "accept" }) });
    server.shows({ status: "input_required", pollInterval: 1 });
    let results = 0;
    server.on("tasks/result", async (_, end) => {
      if (results++ === 0) throw new Refuse(-32603, "Later");
      const related = { _meta: { "io.modelcontextprotocol/related-task": { taskId: "t1" } } };
      const { params, ...question } = form("a") as { params: object };
      end.send({ jsonrpc: "2.0", id: "q", ...question, params: { ...params, ...related } });
      while (!server.received.some(({ id }) => id === "q")) await nextTurn();
      return said("answered");
    });
    expect((await client.callTool("work")).content).toEqual([{ type: "text", text: "answered" }]);
    expect(server.received.find(({ id }) => id === "q")).toMatchObject({
      result: { action: "accept", content: { a: "a" } },
    });
    expect(server.of("tasks/result")).toHaveLength(2);
  });
});
