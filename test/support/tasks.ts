// Tasks of both forms in the same words: starting one, looking at it, answering its questions, and what it comes to.
import {
  type ClientCapabilities,
  errorCodes,
  type JsonObject,
  type McpServer,
  ProtocolError,
  type ServerOptions,
  ToolError,
} from "halyard";
import type { RpcError } from "halyard/transport";
import { RpcRejection, type TestClient } from "halyard/testing";
import { nextRequest } from "./answering.ts";
import { makeServer } from "./catalogue.ts";
import type { LogEntry } from "./log.ts";
import type { MatrixOptions } from "./matrix.ts";
import { type Deferred, deferred, until } from "./turns.ts";

export const tasksId = "io.modelcontextprotocol/tasks";
export const relatedTaskKey = "io.modelcontextprotocol/related-task";

/** The revisions whose clients know tasks, and those of each form. */
export const withTasks: MatrixOptions = { since: "2025-11-25" };
export const coreForm: MatrixOptions = { since: "2025-11-25", until: "2025-11-25" };
export const extensionForm: MatrixOptions = { eras: ["modern"] };

/** What a client declares that knows tasks and can be asked everything. */
export const capabilities: ClientCapabilities = {
  extensions: { [tasksId]: {} },
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};

export interface TaskView extends JsonObject {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly inputRequests?: Readonly<Record<string, JsonObject>>;
  readonly result?: JsonObject;
  readonly error?: RpcError;
}

/** The tasks of one client. */
export class Tasks {
  readonly client: TestClient;
  readonly isCore: boolean;
  readonly #answered = new Set<unknown>();

  constructor(client: TestClient) {
    this.client = client;
    this.isCore = client.era === "legacy";
  }

  /** Calls a tool as a task; `more` are further parameters of the call. */
  async start(name: string, args: JsonObject = {}, more: JsonObject = {}): Promise<TaskView> {
    const task = this.isCore ? { task: {} } : {};
    const created = await this.client.request("tools/call", { name, arguments: args, ...task, ...more });
    return (this.isCore ? created["task"] : created) as TaskView;
  }

  async get(taskId: string): Promise<TaskView> {
    return (await this.client.request("tasks/get", { taskId })) as TaskView;
  }

  cancel(taskId: string): Promise<JsonObject> {
    return this.client.request("tasks/cancel", { taskId });
  }

  /** Looks until the task has one of these statuses. */
  async until(taskId: string, ...statuses: readonly string[]): Promise<TaskView> {
    let task = await this.get(taskId);
    await until(async () => statuses.includes((task = await this.get(taskId)).status));
    return task;
  }

  ended(taskId: string): Promise<TaskView> {
    return this.until(taskId, "completed", "failed", "cancelled");
  }

  /** What the call came to; rejects with the error that it would have been answered with. */
  async result(taskId: string): Promise<JsonObject> {
    if (this.isCore) return this.client.request("tasks/result", { taskId });
    const { result, error, status } = await this.ended(taskId);
    if (error !== undefined) throw new RpcRejection(error);
    if (result === undefined) throw new Error(`The task is ${status}`);
    return result;
  }

  /** Answers the next question of a task, and resolves with it. */
  async answer(taskId: string, answer: JsonObject): Promise<JsonObject> {
    return this.isCore ? this.#answerRequest(answer) : this.#update(taskId, answer);
  }

  async #answerRequest(result: JsonObject): Promise<JsonObject> {
    const question = await nextRequest(this.client, this.#answered);
    this.client.send({ jsonrpc: "2.0", id: question?.id, result });
    return { ...question };
  }

  async #update(taskId: string, answer: JsonObject): Promise<JsonObject> {
    const { inputRequests = {} } = await this.until(taskId, "input_required");
    const [first] = Object.entries(inputRequests);
    if (first === undefined) throw new Error("No question is open");
    await this.client.request("tasks/update", { taskId, inputResponses: { [first[0]]: answer } });
    return first[1];
  }
}

export interface TaskFixture {
  readonly server: McpServer;
  readonly log: LogEntry[];
  /** Makes `wait` return. */
  readonly gate: Deferred<void>;
  /** Why the signal of `wait` aborted, for each call that was cancelled. */
  readonly aborted: string[];
  /** How many calls of `wait` have begun. */
  readonly waiting: () => number;
}

const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const task = { pollIntervalMs: 10 } as const;

/** Tools that end at once, later, badly, or after a question; `plain` cannot be called as a task, and `must` only so. */
export function taskServer(options: ServerOptions = {}): TaskFixture {
  const { server, log } = makeServer(options);
  const gate = deferred();
  const aborted: string[] = [];
  let begun = 0;
  server.tool("plain", {}, () => "plain");
  server.tool("must", { task: { support: "required", ...task } }, () => "must");
  server.tool("quick", { task }, () => "quick");
  server.tool("later", { task }, async () => "later");
  server.tool("strict", { task, input: named }, ({ name }) => `Hello, ${String(name)}`);
  server.tool("tool-error", { task }, () => {
    throw new ToolError("The printer is on fire");
  });
  server.tool("rpc-error", { task }, async () => {
    throw new ProtocolError(errorCodes.invalidParams, "No such printer", { printer: 7 });
  });
  server.tool("crash", { task }, async () => {
    throw new Error("hunter2");
  });
  server.tool("wait", { task }, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted.push((ctx.signal.reason as Error).message));
    begun++;
    await gate.promise;
    return "waited";
  });
  server.tool("ask", { task }, async (_, ctx) => {
    const { name } = await ctx.elicit("Your name?", named);
    return `Hello, ${String(name)}`;
  });
  server.tool("sample", { task }, async (_, ctx) => {
    const { content } = await ctx.sample("Say something", { maxTokens: 10 });
    return JSON.stringify(content);
  });
  return { server, log, gate, aborted, waiting: () => begun };
}

export const accepted = (content: JsonObject): JsonObject => ({ action: "accept", content });
export const textOf = (text: string): object => ({ content: [{ type: "text", text }] });
