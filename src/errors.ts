// Every error code and class of Halyard. Nothing else in the package defines an error.

/**
 * The JSON-RPC error codes a server may send, by meaning.
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

/** Codes that depend on the revision of the client: these errors have classes of their own. */
const legacyCodes: ReadonlySet<number> = new Set([
  errorCodes.legacyResourceNotFound,
  errorCodes.legacyUrlElicitationRequired,
]);

/** The reserved codes that a handler may send. */
const usable: ReadonlySet<number> = new Set(
  Object.values(errorCodes).filter((code) => !legacyCodes.has(code)),
);

/** What a {@link HalyardError} is about; stable, so that it can be switched on. */
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
  | "CANNOT_LISTEN";

/**
 * The base of every error that Halyard throws.
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
 * A JSON-RPC error: thrown by a handler it reaches the client as it is, code, message and data.
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

  /** @throws {RangeError} when the code is reserved by JSON-RPC or MCP and not one of {@link errorCodes} */
  constructor(rpcCode: number, message: string, data?: unknown) {
    super("PROTOCOL", message);
    const isReserved = rpcCode >= -32768 && rpcCode <= -32000;
    if (!Number.isSafeInteger(rpcCode) || (isReserved && !usable.has(rpcCode))) {
      throw new RangeError(
        `${rpcCode} is reserved: use a code outside -32768 to -32000, or one of errorCodes`,
      );
    }
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** The error for parameters that cannot be used. */
export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message, data);
}

/** The error for a request that cannot be answered now, or at all. */
export function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidRequest, message);
}

/**
 * A failure whose text is meant for the model: it becomes a tool result with `isError: true`.
 *
 * Any other exception of a tool is shown to the client only as an id; its message and stack go to the log.
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
    super("TOOL", message, options);
  }
}

/**
 * Thrown by a resource reader when the URI names nothing: the client gets the code of its revision.
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
 * Thrown by `ctx.elicit` when the user said no. Uncaught, the tool result says so.
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
 *     if (error instanceof InputDeclined) return "Hello, whoever you are";
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
 * Thrown by `ctx.elicit` when the user closed the question without an answer. Uncaught, the tool result says so.
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
 * What an open question rejects with when a call of a modern client ends to fetch the answers: it runs again with them.
 * Let it pass, so that `finally` blocks run; whatever else the handler does with it is ignored. Middleware sees it as what
 * `next()` rejects with.
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
 *     return "The client does not tell";
 *   }
 * });
 * ```
 */
export class InputPending extends HalyardError {
  constructor() {
    super("INPUT_PENDING", "The call ends here to ask the client, and runs again with the answer");
  }
}

/** A page that the user has to visit. */
export interface UrlElicitation {
  /** Why, for the user. */
  readonly message: string;
  readonly url: URL;
  /** Names it in `server.push.elicitationComplete(id)`. @default {a random one} */
  readonly elicitationId?: string;
}

/**
 * Refuses a request until the user has visited a page, such as to connect an account: an error of its own for clients of
 * 2025-11-25, a question for modern ones. When the client comes back, the handler runs again.
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
 * A mistake in a definition or an option, thrown when it is made; the message names the subject, the field and the remedy.
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
  /** What was being defined, such as `tool "forecast"`. */
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
