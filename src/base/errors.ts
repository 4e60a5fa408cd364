// Every error code of Halyard, and every error class but those of the client, which are in client/settings/errors.ts.

// Every entry loads this file before any code that fails on an older Node. Bundlers leave it out, because the value is unused.
const _node: string | undefined = supportedNode();

/** The version of Node that runs this, undefined elsewhere. Throws if it is older than `engines` of package.json says. */
function supportedNode(): string | undefined {
  const { process } = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };
  const running = process?.versions?.node;
  const [major = 0, minor = 0] = running?.split(".").map(Number) ?? [];
  if (running === undefined || major > 20 || (major === 20 && minor >= 19)) return running;
  throw new Error(`Halyard needs Node 20.19 or later, and this is Node ${running}: install a newer version`);
}

/**
 * The JSON-RPC error codes that a server may send, by name.
 *
 * @example
 * ```ts
 * import { errorCodes, ProtocolError } from "halyard";
 *
 * const error = new ProtocolError(errorCodes.invalidParams, "Unknown region");
 * ```
 */
export const errorCodes: {
  readonly parse: -32700;
  readonly invalidRequest: -32600;
  readonly methodNotFound: -32601;
  readonly invalidParams: -32602;
  readonly internal: -32603;
  readonly legacyResourceNotFound: -32002;
  readonly legacyUrlElicitationRequired: -32042;
  readonly headerMismatch: -32020;
  readonly missingClientCapability: -32021;
  readonly unsupportedVersion: -32022;
} = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  legacyResourceNotFound: -32002,
  legacyUrlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
};

/** Codes of some legacy revisions, and the errors that send them where they apply. */
const legacyCodes: ReadonlyMap<number, string> = new Map([
  [errorCodes.legacyResourceNotFound, "ResourceNotFoundError(uri)"],
  [errorCodes.legacyUrlElicitationRequired, "UrlElicitationRequired([{ message, url }])"],
]);

/** The reserved codes that a `ProtocolError` may have. */
const usable: ReadonlySet<number> = new Set(
  Object.values(errorCodes).filter((code) => !legacyCodes.has(code)),
);

function insteadOf(code: number): string {
  const error = legacyCodes.get(code);
  return error === undefined
    ? "pass one of errorCodes, or an integer of your own outside -32768 to -32000, which are reserved"
    : `throw new ${error}, which has the code of each revision`;
}

/** The kind of a {@link HalyardError}. The codes are stable, so you can switch on them. */
export type HalyardErrorCode =
  | "PROTOCOL"
  | "TOOL"
  | "RESOURCE_NOT_FOUND"
  | "INVALID_NAME"
  | "DUPLICATE_NAME"
  | "INVALID_SCHEMA"
  | "INVALID_DEFINITION"
  | "INVALID_OPTION"
  | "ASK_FAILED"
  | "INPUT_DECLINED"
  | "INPUT_CANCELLED"
  | "INPUT_PENDING"
  | "URL_ELICITATION_REQUIRED"
  | "CANNOT_LISTEN"
  | "BACKPLANE_UNAVAILABLE"
  | "CONNECTION_LOST"
  | "HTTP"
  | "NEEDS_AUTH"
  | "OAUTH"
  | "TIMEOUT"
  | "NO_COMMON_REVISION"
  | "INVALID_RESPONSE"
  | "TOOL_CALL"
  | "OUTPUT_MISMATCH"
  | "TASK_ENDED"
  | "NO_TASKS"
  | "CANNOT_START"
  | "CANNOT_LOAD";

/**
 * The base class of every error that Halyard throws.
 *
 * @example
 * ```ts
 * import { HalyardError, McpServer } from "halyard";
 *
 * try {
 *   new McpServer({ name: "", version: "1.0.0" });
 * } catch (error) {
 *   if (error instanceof HalyardError) console.error(error.code);
 * }
 * ```
 */
export class HalyardError extends Error {
  readonly code: HalyardErrorCode;

  constructor(code: HalyardErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * A JSON-RPC error. If a handler throws it, the client receives its code, message and data unchanged.
 *
 * @example
 * ```ts
 * import { errorCodes, McpServer, ProtocolError } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.prompt("greet", {}, () => {
 *   throw new ProtocolError(errorCodes.invalidParams, "No such user");
 * });
 * ```
 */
export class ProtocolError extends HalyardError {
  readonly rpcCode: number;
  readonly data: unknown;

  /** @throws {RangeError} if JSON-RPC or MCP reserves the code and it is not one of {@link errorCodes}, or a legacy one */
  constructor(rpcCode: number, message: string, data?: unknown) {
    super("PROTOCOL", message);
    const isReserved = rpcCode >= -32768 && rpcCode <= -32000;
    if (!Number.isSafeInteger(rpcCode) || (isReserved && !usable.has(rpcCode))) {
      throw new RangeError(
        `new ProtocolError(code, message): ${rpcCode} cannot be sent: ${insteadOf(rpcCode)}`,
      );
    }
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** An error for invalid parameters. */
export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message, data);
}

/** An error for a question that cannot be sent to the client, or whose answer is missing or invalid. */
export function askFailed(method: string, problem: string, cause?: symbol): HalyardError {
  return new HalyardError("ASK_FAILED", `${method}: ${problem}`, cause && { cause });
}

/** An error for a request that the server rejects. */
export function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidRequest, message);
}

/** An error for a method that does not exist, or not for this client. */
export function methodNotFound(message: string): ProtocolError {
  return new ProtocolError(errorCodes.methodNotFound, message);
}

/** An error for a client that did not declare the capabilities that something needs. */
export function missingCapability(message: string, requiredCapabilities: object): ProtocolError {
  return new ProtocolError(errorCodes.missingClientCapability, message, { requiredCapabilities });
}

/**
 * A failure whose message is for the model: the client receives it as a tool result with `isError: true`.
 *
 * For any other exception of a tool, the client by default sees only an error id; the message and stack go to the log.
 *
 * @example
 * ```ts
 * import { McpServer, ToolError } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("pay", {}, () => {
 *   throw new ToolError("The card was declined: ask for another one");
 * });
 * ```
 */
export class ToolError extends HalyardError {
  constructor(message: string, options?: { cause?: unknown }) {
    if (typeof message !== "string")
      throw new TypeError(`new ToolError(message): message must be a text, not ${typeof message}`);
    super("TOOL", message, options);
  }
}

/**
 * Throw it from a resource handler if nothing exists at the URI. The client receives the error code of its revision.
 *
 * @example
 * ```ts
 * import { McpServer, ResourceNotFoundError } from "halyard";
 *
 * const server = new McpServer({ name: "notes", version: "1.0.0" });
 * server.resourceTemplate("note:///{id}", { name: "note" }, ({ uri }) => {
 *   throw new ResourceNotFoundError(uri);
 * });
 * ```
 */
export class ResourceNotFoundError extends HalyardError {
  readonly uri: string;

  constructor(uri: string) {
    super("RESOURCE_NOT_FOUND", `Resource not found: ${uri}`);
    this.uri = uri;
  }
}

/**
 * `ctx.elicit` throws it if the user declines. If the handler does not catch it, the tool result says so.
 *
 * @example
 * ```ts
 * import { InputDeclined, McpServer } from "halyard";
 * import * as z from "zod";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("greet", {}, async (_, ctx) => {
 *   try {
 *     const { name } = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
 *     return `Hello, ${name}`;
 *   } catch (error) {
 *     if (error instanceof InputDeclined) return "Hello, stranger";
 *     throw error;
 *   }
 * });
 * ```
 */
export class InputDeclined extends HalyardError {
  constructor(question: string) {
    super("INPUT_DECLINED", `The user declined to answer: ${question}`);
  }
}

/**
 * `ctx.elicit` throws it if the user dismisses the question. If the handler does not catch it, the tool result says so.
 *
 * @example
 * ```ts
 * import { InputCancelled, InputDeclined } from "halyard";
 *
 * const isRefusal = (error: unknown) => error instanceof InputDeclined || error instanceof InputCancelled;
 * ```
 */
export class InputCancelled extends HalyardError {
  constructor(question: string) {
    super("INPUT_CANCELLED", `The user dismissed the question: ${question}`);
  }
}

/**
 * Rejects the open questions of a modern client's call. The call ends so that the client can answer them, and the handler
 * runs again with the answers. If you catch it, rethrow it; anything else the handler does with it is ignored. In
 * middleware, `next()` rejects with it.
 *
 * @example
 * ```ts
 * import { InputPending, McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("where", {}, async (_, ctx) => {
 *   try {
 *     return (await ctx.roots()).map((root) => root.uri).join("\n");
 *   } catch (error) {
 *     if (error instanceof InputPending) throw error;
 *     return "The client shares no roots";
 *   }
 * });
 * ```
 */
export class InputPending extends HalyardError {
  constructor() {
    super("INPUT_PENDING", "Rethrow InputPending: the call runs again with the client's answer");
  }
}

/** A page that the user must visit. */
export interface UrlElicitation {
  /** Tells the user why. */
  readonly message: string;
  readonly url: URL;
  /** The id to pass to `server.push.elicitationComplete(id)`. @default {a random one} */
  readonly elicitationId?: string;
}

/**
 * Rejects a request until the user has visited a page, for example to connect an account. Clients of 2025-11-25 receive an
 * error (-32042), modern clients a question. When the client retries, the handler runs again.
 *
 * @example
 * ```ts
 * import { McpServer, UrlElicitationRequired } from "halyard";
 *
 * const accounts = new Set<string>();
 * const server = new McpServer({ name: "calendar", version: "1.0.0" });
 * server.tool("today", {}, (_, ctx) => {
 *   if (accounts.has(ctx.principal?.subject ?? "")) return "Nothing today";
 *   const url = new URL("https://example.com/connect");
 *   throw new UrlElicitationRequired([{ message: "Connect your calendar", url }]);
 * });
 * ```
 */
export class UrlElicitationRequired extends HalyardError {
  readonly elicitations: readonly UrlElicitation[];

  constructor(elicitations: readonly UrlElicitation[]) {
    super("URL_ELICITATION_REQUIRED", elicitations.map(({ message }) => message).join("; "));
    this.elicitations = elicitations;
  }
}

/**
 * A definition or option that cannot work, thrown as soon as you pass it. The message names the subject, the field and the fix.
 *
 * @example
 * ```ts
 * import { ConfigurationError, McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * try {
 *   server.tool("my tool!", {}, () => "never");
 * } catch (error) {
 *   if (error instanceof ConfigurationError) console.error(error.subject, error.field);
 * }
 * ```
 */
export class ConfigurationError extends HalyardError {
  /** The definition or options at fault, such as `tool "forecast"`. */
  readonly subject: string;
  /** The field at fault, such as `input`. */
  readonly field: string;

  constructor(
    code: (`INVALID_${string}` & HalyardErrorCode) | "DUPLICATE_NAME",
    where: { subject: string; field: string },
    problem: string,
    options?: { cause?: unknown },
  ) {
    super(code, `${where.subject}: ${where.field} ${problem}`, options);
    this.subject = where.subject;
    this.field = where.field;
  }
}

/** A text of the client in an error, cut if it is too long. */
export function clip(text: string): string {
  return text.length > 200 ? copyOf(`${text.slice(0, 200)}…`) : text;
}

/** A copy of the text: a part of a text would keep the whole of it in memory. */
export function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
