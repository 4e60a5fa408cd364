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
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
};

/** The reserved codes that a handler may send; a missing resource is a ResourceNotFoundError, whose code depends on the revision. */
const usable: ReadonlySet<number> = new Set(
  Object.values(errorCodes).filter((code) => code !== errorCodes.legacyResourceNotFound),
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
