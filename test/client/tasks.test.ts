// Calls that run as tasks, in both forms: a call waits for its task, and a handle continues it.
import { errorCodes, McpServer, ProtocolError, ToolError } from "halyard";
import {
  connect,
  type ConnectOptions,
  type McpClient,
  RpcRejection,
  TaskEnded,
  type TaskState,
  ToolCallError,
} from "halyard/client";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { revisionsSince } from "../support/putting.ts";
import { type Deferred, deferred, until } from "../support/turns.ts";

const accept = { action: "accept" } as const;

/** A server with tools that run as tasks. */
class Work {
  readonly server = new McpServer(
    { name: "work", version: "1.0.0" },
    { tasks: { pollIntervalMs: 1 }, errors: "message" },
  );
  /** Each handler waits for it. */
  gate: Deferred<void> = deferred();
  signal: AbortSignal | undefined;
  calls = 0;

  constructor() {
    for (const task of ["required", "optional"] as const)
      this.server.tool(task, { task, input: z.object({ n: z.int().optional() }) }, async ({ n = 1 }, ctx) => {
        this.calls++;
        this.signal = ctx.signal;
        ctx.progress(1, 2, "half");
        await Promise.race([
          this.gate.promise,
          new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)),
        ]);
        return `Done ${n}`;
      });
    this.server.tool("ask", { task: "required" }, async (_, ctx) => {
      this.signal = ctx.signal;
      const { name } = await ctx.elicit("Who?", z.object({ name: z.string() }));
      const { colour } = await ctx.elicit("Which colour?", z.object({ colour: z.string() }));
      return `${name} likes ${colour}`;
    });
    this.server.tool("tool_error", { task: "required" }, () => {
      throw new ToolError("The card was declined");
    });
    this.server.tool("rpc_error", { task: "required" }, () => {
      throw new ProtocolError(errorCodes.invalidParams, "No such user", { user: 5 });
    });
    this.server.tool("plain", {}, () => "At once");
  }

  open(): this {
    this.gate.resolve();
    return this;
  }
}

async function connectTo(server: McpServer, options: ConnectOptions): Promise<McpClient> {
  const client = await connect(server, { tasks: true, ...options });
  onTestFinished(() => client.close());
  return client;
}

const said = (text: string): unknown => [{ type: "text", text }];

describe.each(revisionsSince("2025-11-25"))("tasks on %s", (revision) => {
  test.each(["required", "optional", "plain"])(
    "callTool returns the result of a tool whose tasks are %s [TASK25-TOOL-REQUIRED, TASK25-TOOL-FORBIDDEN, TASK25-AUGMENT, TASKX-CLIENT-BOTH]",
    async (tool) => {
      const client = await connectTo(new Work().open().server, { revision });
      const { content } = await client.callTool(tool, tool === "plain" ? {} : { n: 7 });
      expect(content).toEqual(said(tool === "plain" ? "At once" : "Done 7"));
    },
  );

  test("callTool returns and throws errors as it does without a task", async () => {
    const client = await connectTo(new Work().server, { revision });
    expect(await client.callTool("tool_error")).toMatchObject({
      isError: true,
      content: said("The card was declined"),
    });
    await expect(client.callTool("tool_error", {}, { throwOnError: true })).rejects.toBeInstanceOf(
      ToolCallError,
    );
    const error = await client.callTool("rpc_error").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcRejection);
    expect(error).toMatchObject({ code: -32602, message: "No such user", data: { user: 5 } });
  });

  test("startTask returns a handle at once, whose result comes later [VER-EXT-EMPTY-SETTINGS]", async () => {
    const work = new Work();
    const client = await connectTo(work.server, { revision });
    const task = await client.startTask("required", { n: 3 });
    const seen: TaskState[] = [];
    const stop = task.onStatus((state) => seen.push(state));
    task.onStatus(() => {
      throw new Error("A broken callback breaks nothing");
    });
    expect(task.tool).toBe("required");
    expect(await task.status()).toMatchObject({ status: "working", pollIntervalMs: 1 });
    await until(async () => (await task.status()).statusMessage === "half");
    const result = task.result();
    work.open();
    expect((await result).content).toEqual(said("Done 3"));
    expect(seen.map(({ status }) => status)).toContain("completed");
    expect(seen.some(({ statusMessage }) => statusMessage === "half")).toBe(true);
    stop();
    expect((await task.result()).content).toEqual(said("Done 3"));
    expect(await task.status()).toMatchObject({ status: "completed" });
    expect(work.calls).toBe(1);
  });

  test("a stored task can be taken up by another client [BASE-STATELESS-EXPLICIT-ID]", async () => {
    const work = new Work();
    const first = await connect(work.server, { revision, tasks: true });
    const text = JSON.stringify(await first.startTask("optional"));
    await first.close();
    const client = await connectTo(work.server, { revision });
    const task = await client.task(JSON.parse(text) as never);
    expect(await task.status()).toMatchObject({ status: "working" });
    work.open();
    expect((await task.result()).content).toEqual(said("Done 1"));
    expect(JSON.parse(text)).toMatchObject({
      tool: "optional",
      id: task.id,
      expiresAt: expect.any(Number) as unknown,
    });
  });

  test("the questions of a task are answered by the handlers of the client [TASKX-UPDATE, TASKX-UPDATE-TRUST, TASK25-INPUT-REQUIRED-RESULT]", async () => {
    const asked: unknown[] = [];
    const onElicit = ({ message }: { message: string }, { server }: { server: string }) => {
      asked.push([message, server]);
      return { ...accept, content: message === "Who?" ? { name: "Ada" } : { colour: "green" } };
    };
    const client = await connectTo(new Work().server, { revision, onElicit: { form: onElicit } });
    expect((await client.callTool("ask")).content).toEqual(said("Ada likes green"));
    expect(asked).toEqual([
      ["Who?", expect.any(String)],
      ["Which colour?", expect.any(String)],
    ]);
  });

  test("aborting callTool cancels the task at the server [CANCEL-TASKS]", async () => {
    const work = new Work();
    const client = await connectTo(work.server, { revision });
    const abort = new AbortController();
    const call = client.callTool("required", {}, { signal: abort.signal });
    await until(() => work.signal !== undefined);
    const reason = new Error("Never mind");
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    await until(() => work.signal?.aborted === true);
  });

  test("a handle can cancel its task, more than once", async () => {
    const work = new Work();
    const client = await connectTo(work.server, { revision });
    const task = await client.startTask("required");
    await until(() => work.signal !== undefined);
    const result = task.result().catch((error: unknown) => error);
    await task.cancel();
    await task.cancel();
    expect(await result).toBeInstanceOf(TaskEnded);
    expect(await result).toMatchObject({ reason: "cancelled", taskId: task.id, code: "TASK_ENDED" });
    expect(work.signal?.aborted).toBe(true);
  });

  test("whoever stops waiting for a handle does not cancel its task", async () => {
    const work = new Work();
    const client = await connectTo(work.server, { revision });
    const task = await client.startTask("required");
    const reason = new Error("Later");
    await expect(task.result({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(task.result({ maxTimeMs: 1 })).rejects.toMatchObject({
      code: "TIMEOUT",
      limit: "maxTimeMs",
    });
    work.open();
    expect((await task.result()).content).toEqual(said("Done 1"));
  });

  test("a task that the server does not know has a clear error", async () => {
    const client = await connectTo(new Work().server, { revision });
    const task = await client.task({ tool: "required", id: "no-such-task" });
    for (const failing of [task.status(), task.result(), task.cancel()]) {
      const error = await failing.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TaskEnded);
      expect(error).toMatchObject({ reason: "unknown", taskId: "no-such-task" });
      expect((error as Error).message).toContain("expired");
    }
  });

  test("a handler that throws ends the call, and cancels the task", async () => {
    const work = new Work();
    const thrown = new Error("No user here");
    const onElicit = { form: () => Promise.reject(thrown) };
    const client = await connectTo(work.server, { revision, onElicit });
    const failing = client.callTool("ask");
    if (revision === "2025-11-25") {
      // The server receives an error, and decides what it means.
      expect(await failing).toMatchObject({ isError: true });
    } else {
      await expect(failing).rejects.toBe(thrown);
      await until(() => work.signal?.aborted === true);
    }
  });

  test("works over HTTP, where headers name the task [TASKX-MCP-NAME]", async () => {
    const work = new Work();
    const http = await serveHttp(work.server, { port: 0 });
    onTestFinished(() => http.close());
    const client = await connect(http.url, {
      revision,
      tasks: true,
      onElicit: () => ({ ...accept, content: { name: "Ada", colour: "red" } }),
    });
    onTestFinished(() => client.close());
    const task = await client.startTask("required");
    expect(await task.status()).toMatchObject({ status: "working" });
    await task.cancel();
    work.open();
    expect((await client.callTool("required")).content).toEqual(said("Done 1"));
    expect((await client.callTool("ask")).content).toEqual(said("Ada likes red"));
  });
});

describe.each(revisionsSince().filter((date) => date < "2025-11-25"))(
  "a revision without tasks, %s",
  (revision) => {
    test("calls tools as always, and startTask names the remedy", async () => {
      const client = await connectTo(new Work().open().server, { revision });
      expect((await client.callTool("optional")).content).toEqual(said("Done 1"));
      await expect(client.startTask("optional")).rejects.toMatchObject({
        code: "NO_TASKS",
        message: `The revision ${revision} has no tasks: use callTool("optional", …), unless the tool can only be a task`,
      });
      await expect(client.callTool("required")).rejects.toThrow(
        `Tool required can only be called as a task, and the revision ${revision} has no tasks: connect with a newer one`,
      );
    });
  },
);

test("startTask tells where a server or a tool has no tasks [TASK25-TOOL-NOCAP, TASK25-TOOL-FORBIDDEN, VER-EXT-FALLBACK]", async () => {
  const plain = new McpServer({ name: "plain", version: "1.0.0" });
  plain.tool("hello", {}, () => "Hello");
  for (const revision of revisionsSince()) {
    const client = await connectTo(plain, { revision });
    await expect(client.startTask("hello")).rejects.toMatchObject({ code: "NO_TASKS" });
    expect((await client.callTool("hello")).content).toEqual(said("Hello"));
  }
  const client = await connectTo(new Work().server, { revision: "2025-11-25" });
  await expect(client.startTask("plain")).rejects.toThrow("The tool plain cannot be called as a task");
});
