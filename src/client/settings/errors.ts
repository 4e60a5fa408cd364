// The errors of a client. Each says what happened, whether the server may have acted, and what you can do.
import { clip, HalyardError } from "../../base/errors.ts";
import { printable, shownId, shownUrl } from "./shown.ts";
import type { CallToolResult } from "./received.ts";
import type { RpcError } from "../../base/wire/message.ts";

/**
 * The server responded to a request with an error.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, RpcRejection } from "halyard/client";
 *
 * const client = await connect(new McpServer({ name: "demo", version: "1.0.0" }));
 * const error = await client.request("no/such/method").catch((reason: unknown) => reason);
 * if (error instanceof RpcRejection) console.log(error.code);
 * await client.close();
 * ```
 */
export class RpcRejection extends Error {
  /** The JSON-RPC code. */
  readonly code: number;
  /** Without the secrets that the client sent, which are also removed from the message. */
  readonly data: unknown;

  constructor(error: RpcError, cause?: unknown) {
    super(printable(error.message), cause === undefined ? undefined : { cause });
    this.name = "RpcRejection";
    this.code = error.code;
    this.data = error.data;
  }
}

/** Why a request has no response. */
export type LossReason =
  /** The server could not be reached: it did not receive the request. */
  | "unreachable"
  /** The connection broke after the request was sent, or a gateway gave up (502, 504, 503 without `Retry-After`). */
  | "cut"
  /** The server no longer knows the session (404), and did not run the request. */
  | "session-gone"
  /** The process of the server ended. */
  | "exited"
  /** You closed the client. */
  | "closed";

/**
 * The connection was lost before the response arrived, and the client did not send the request again.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, ConnectionLost } from "halyard/client";
 *
 * const server = new McpServer({ name: "bank", version: "1.0.0" });
 * server.tool("pay", {}, () => "Paid");
 * const client = await connect(server);
 * try {
 *   await client.callTool("pay", { amount: 20 });
 * } catch (error) {
 *   if (error instanceof ConnectionLost && error.mayHaveRun) console.error("Check whether the payment was made");
 *   else throw error;
 * }
 * await client.close();
 * ```
 */
export class ConnectionLost extends HalyardError {
  readonly reason: LossReason;
  /** Whether the server may have run the request. */
  readonly mayHaveRun: boolean;

  constructor(
    reason: LossReason,
    message: string,
    options: { readonly mayHaveRun: boolean; readonly cause?: unknown },
  ) {
    super("CONNECTION_LOST", message, options);
    this.reason = reason;
    this.mayHaveRun = options.mayHaveRun;
  }
}

/**
 * An HTTP reply that carries no JSON-RPC message.
 *
 * @example
 * ```ts
 * import { connect, HttpFailure } from "halyard/client";
 *
 * // stands for a server: replies to every request like this
 * const fetch = async (): Promise<Response> => new Response("Not here", { status: 410 });
 * const error = await connect("https://mcp.example.com/mcp", { fetch }).catch((reason: unknown) => reason);
 * if (error instanceof HttpFailure) console.log(error.status, error.body); // 410 Not here
 * ```
 */
export class HttpFailure extends HalyardError {
  readonly status: number;
  /** The address without its query, which may hold a secret. */
  readonly url: string;
  /** The start of the body, without the secrets that the client sent. */
  readonly body: string;
  /** How long the server asks to wait, from `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reply: {
      readonly status: number;
      readonly url: string;
      readonly body: string;
      readonly retryAfterMs?: number | undefined;
    },
    message: string,
  ) {
    super("HTTP", message);
    this.status = reply.status;
    this.url = shownUrl(reply.url);
    this.body = reply.body;
    this.retryAfterMs = reply.retryAfterMs;
  }
}

/**
 * The server requires credentials (401), or other ones (403). The message has the server's reason, and the scopes that it names.
 * A 403 to a request without a token, with no challenge for one, is an {@link HttpFailure}.
 *
 * @example
 * ```ts
 * import { connect, AuthRequired } from "halyard/client";
 *
 * // stands for a server: replies to every request like this
 * const fetch = async (): Promise<Response> => new Response("", { status: 401 });
 * const error = await connect("https://mcp.example.com/mcp", { fetch }).catch((reason: unknown) => reason);
 * if (error instanceof AuthRequired) console.log(error.status, error.challenge); // let the user sign in
 * ```
 */
export class AuthRequired extends HalyardError {
  readonly status: 401 | 403;
  /** The address without its query, which may hold a secret. */
  readonly url: string;
  /** The `WWW-Authenticate` header, without the secrets that the client sent. */
  readonly challenge: string | undefined;

  constructor(
    reply: {
      readonly status: 401 | 403;
      readonly url: string;
      readonly challenge?: string | undefined;
    },
    message: string,
    options?: { cause?: unknown },
  ) {
    super("NEEDS_AUTH", message, options);
    this.status = reply.status;
    this.url = shownUrl(reply.url);
    this.challenge = reply.challenge;
  }
}

/** The timeouts of a call or of `connect`. */
export type TimeLimit = "timeoutMs" | "maxTimeMs" | "connectTimeoutMs";

/**
 * A request took too long.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { CallTimeout, connect } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("slow", {}, () => new Promise<string>(() => {}));
 * const client = await connect(server);
 * const error = await client.callTool("slow", {}, { timeoutMs: 50 }).catch((reason: unknown) => reason);
 * if (error instanceof CallTimeout) console.log(error.limit); // timeoutMs
 * await client.close();
 * ```
 */
export class CallTimeout extends HalyardError {
  /** The option with the exceeded time. */
  readonly limit: TimeLimit;

  constructor(
    limit: TimeLimit,
    timeMs: number,
    what: string,
    known: {
      /** The address at which a person must sign in first. */
      readonly signInUrl?: string | undefined;
      /** The output of the server besides messages, each part on lines of its own. */
      readonly written?: string;
    } = {},
  ) {
    const { signInUrl, written = "" } = known;
    const ended = limit === "timeoutMs" ? `${timeMs} ms without a sign of progress` : `${timeMs} ms`;
    const meanwhile = signInUrl ? `, waiting for a user to sign in at ${shownUrl(signInUrl)}` : "";
    super(
      "TIMEOUT",
      `${what}: no response after ${ended}${meanwhile}: raise ${limit} if it needs longer${written}`,
    );
    this.limit = limit;
  }
}

/**
 * The server and the client have no protocol revision in common.
 *
 * @example
 * ```ts
 * import { connect, NoCommonRevision } from "halyard/client";
 *
 * // stands for a server that speaks the first revision only
 * const result = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: { name: "old", version: "1" } };
 * const fetch = async (): Promise<Response> => Response.json({ jsonrpc: "2.0", id: 1, result });
 * const options = { fetch, revision: "2025-11-25" };
 * const error = await connect("https://mcp.example.com/mcp", options).catch((reason: unknown) => reason);
 * if (error instanceof NoCommonRevision) console.log(error.theirs);
 * ```
 */
export class NoCommonRevision extends HalyardError {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];

  constructor(ours: readonly string[], theirs: readonly string[], options?: { cause?: unknown }) {
    super(
      "NO_COMMON_REVISION",
      `The server supports ${clip(theirs.join(", ")) || "no revision that it names"}; this client was asked for ${ours.join(", ")}`,
      options,
    );
    this.ours = ours;
    this.theirs = theirs;
  }
}

/**
 * The server sent something that the protocol does not allow, or that exceeds a limit of the client.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, InvalidResponse } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("talk", {}, () => "x".repeat(100_000));
 * const client = await connect(server, { limits: { maxBytes: 10_000 } });
 * const error = await client.callTool("talk").catch((reason: unknown) => reason);
 * if (error instanceof InvalidResponse) console.log(error.message);
 * await client.close();
 * ```
 */
export class InvalidResponse extends HalyardError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("INVALID_RESPONSE", message, options);
  }
}

/**
 * With `throwOnError`, a tool result that has `isError`.
 *
 * @example
 * ```ts
 * import { McpServer, ToolError } from "halyard";
 * import { connect, ToolCallError } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("read", {}, () => {
 *   throw new ToolError("There is no such file");
 * });
 * const client = await connect(server, { throwOnError: true });
 * const error = await client.callTool("read").catch((reason: unknown) => reason);
 * if (error instanceof ToolCallError) console.log(error.message, error.result.content);
 * await client.close();
 * ```
 */
export class ToolCallError extends HalyardError {
  readonly result: CallToolResult;

  constructor(tool: string, result: CallToolResult) {
    // A server may send any values as blocks.
    const blocks = result.content as readonly ({ type?: unknown; text?: unknown } | null)[];
    const text = blocks
      .flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []))
      .join("\n");
    super("TOOL_CALL", `${tool}: ${printable(text) || "the tool failed"}`);
    this.result = result;
  }
}

/**
 * With `strict`, a structured result that does not match the tool's output schema.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, OutputMismatch } from "halyard/client";
 * import * as z from "zod";
 *
 * const server = new McpServer({ name: "weather", version: "1.0.0" });
 * server.tool("forecast", { output: z.object({ celsius: z.number() }) }, () => ({ celsius: 21 }));
 * const client = await connect(server, { strict: true });
 * client.use(async ({ method }, next) => {
 *   const result = await next();
 *   return method === "tools/call" ? { ...result, structuredContent: { celsius: "warm" } } : result;
 * });
 * const error = await client.callTool("forecast").catch((reason: unknown) => reason);
 * if (error instanceof OutputMismatch) console.log(error.message, error.result.structuredContent);
 * await client.close();
 * ```
 */
export class OutputMismatch extends HalyardError {
  readonly result: CallToolResult;

  constructor(tool: string, problem: string, result: CallToolResult) {
    super("OUTPUT_MISMATCH", `${tool}: the structured content does not match the output schema: ${problem}`);
    this.result = result;
  }
}

/** Why a task has no result. */
export type TaskEndReason =
  /** The task was cancelled, by this client or another. */
  | "cancelled"
  /** The server could not be reached before the time that it keeps the task was over. */
  | "expired"
  /** The server does not know the task: it has expired, the server has lost it, or it belongs to another caller. */
  | "unknown";

/**
 * A task has no result.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, TaskEnded } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("report", { task: "optional" }, () => new Promise<string>(() => {}));
 * const client = await connect(server, { tasks: true });
 * const task = await client.startTask("report");
 * await task.cancel();
 * const error = await task.result().catch((reason: unknown) => reason);
 * if (error instanceof TaskEnded) console.log(error.reason); // cancelled
 * await client.close();
 * ```
 */
export class TaskEnded extends HalyardError {
  readonly taskId: string;
  readonly reason: TaskEndReason;

  constructor(taskId: string, reason: TaskEndReason, problem: string, options?: { cause?: unknown }) {
    super("TASK_ENDED", `Task ${shownId(taskId)} has no result: ${problem}`, options);
    this.taskId = taskId;
    this.reason = reason;
  }
}

/**
 * The command of a stdio server cannot start, or its process ended before it sent a message.
 *
 * @example
 * ```ts
 * import { CannotStart, connect } from "halyard/client";
 *
 * const error = await connect({ command: "no-such-server" }).catch((reason: unknown) => reason);
 * if (error instanceof CannotStart) console.error(error.message);
 * ```
 */
export class CannotStart extends HalyardError {
  readonly command: string;
  readonly cwd: string;
  readonly exitCode: number | undefined;
  /** The last lines of its standard error. */
  readonly stderr: string;

  constructor(
    process: {
      readonly command: string;
      readonly cwd: string;
      readonly exitCode?: number | undefined;
      readonly stderr: string;
    },
    message: string,
    options?: { cause?: unknown },
  ) {
    super("CANNOT_START", message, options);
    this.command = process.command;
    this.cwd = process.cwd;
    this.exitCode = process.exitCode;
    this.stderr = process.stderr;
  }
}

/** Converts a thrown value to an error: the user's functions may throw any value. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
}
