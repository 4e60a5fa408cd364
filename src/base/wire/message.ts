// JSON-RPC 2.0 envelopes: their types, and how to read and write them. Knows nothing of MCP.
import { errorCodes, type ProtocolError } from "../errors.ts";

/** A JSON-RPC id: a string or a safe integer, echoed verbatim. */
export type RequestId = string | number;

/** A JSON object as a peer sent it. */
export type JsonObject = { readonly [key: string]: unknown };

/** Any value that JSON can write. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A request: it gets one response. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A notification: it gets no response. */
export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

/** Why a request failed. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The response to a request that succeeded. */
export interface RpcSuccess {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: JsonObject;
}

/** The response to a request that failed. */
export interface RpcFailure {
  readonly jsonrpc: "2.0";
  /** Missing, or null for older revisions, if the request had no readable id. */
  readonly id?: RequestId | null;
  readonly error: RpcError;
}

/** The response to one request. */
export type RpcResponse = RpcSuccess | RpcFailure;

/** One message from a peer. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** A message after its envelope was read: its kind, or the error that makes it invalid. */
export type ReadMessage =
  | { readonly ok: true; readonly kind: "request"; readonly message: RpcRequest }
  | { readonly ok: true; readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly ok: true; readonly kind: "response"; readonly message: RpcResponse }
  | { readonly ok: false; readonly id: RequestId | undefined; readonly error: RpcError };

/** What a peer sent: one message whose envelope was read, or a batch of messages not read yet. */
export type Incoming = ReadMessage | readonly unknown[];

/** The JSON-RPC error object that the client receives. */
export function rpcErrorOf({ rpcCode: code, message, data }: ProtocolError): RpcError {
  return { code, message, data };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` is a list of strings. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/**
 * Characters of an id. Responses, progress and what nodes store repeat it. Past it, the server responds with -32600 without
 * the id; a call with a longer progress token gets no progress.
 */
const maxIdLength = 4096;

/**
 * Whether `value` is a valid request id or progress token. An unsafe integer is not, because parsing may have rounded it, and a long
 * text is not, because many messages repeat it.
 */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" ? value.length <= maxIdLength : Number.isSafeInteger(value);
}

/** Reads the envelope of one message. */
export function readMessage(value: unknown): ReadMessage {
  if (!isObject(value)) return invalid(undefined, "A message must be a JSON object");
  const { id, method, params } = value;
  if (value["jsonrpc"] !== "2.0") return invalid(id, 'A message must have jsonrpc "2.0"');
  if (method === undefined) return readResponse(value);
  if (typeof method !== "string") return invalid(id, "method must be a string");
  const areParamsValid = params === undefined || isObject(params);
  if (id === undefined) {
    // A notification gets no response, so one with invalid `params` is read without them.
    const message = (areParamsValid ? value : { jsonrpc: "2.0", method }) as unknown as RpcNotification;
    return { ok: true, kind: "notification", message };
  }
  if (!isRequestId(id))
    return invalid(id, `id must be an integer or a string of at most ${maxIdLength} characters`);
  if (!areParamsValid) return invalid(id, "params must be an object", errorCodes.invalidParams);
  return { ok: true, kind: "request", message: value as unknown as RpcRequest };
}

/**
 * Reads the envelope of an incoming message, once for all layers. A batch is returned as it is: the server reads its messages
 * one by one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { Connection, portOf, readIncoming } from "halyard/transport";
 *
 * const port = portOf(new McpServer({ name: "demo", version: "1.0.0" }));
 * const connection = new Connection({ transport: "example" });
 * const ping = readIncoming({ jsonrpc: "2.0", id: 1, method: "ping" });
 * const answer = await port.answer(ping, { connection });
 * if (answer !== undefined) console.error(port.encode(answer));
 * ```
 */
export function readIncoming(value: unknown): Incoming {
  return Array.isArray(value) ? value : readMessage(value);
}

export function isBatch<Batch extends readonly unknown[]>(value: object | Batch): value is Batch {
  return Array.isArray(value);
}

/** Whether `value` is a message that expects no response: a response or a notification. */
export function isSilent(value: unknown): boolean {
  return isSilentMessage(readMessage(value));
}

/** The same for a message whose envelope was read. */
export function isSilentMessage(read: ReadMessage): boolean {
  return read.ok && read.kind !== "request";
}

/** Whether no message in `incoming` expects a response. */
export function isSilentIncoming(incoming: Incoming): boolean {
  return isBatch(incoming) ? incoming.every(isSilent) : isSilentMessage(incoming);
}

/** Anything with a result or an error counts as a response, even if malformed: an error sent back could look like a response. */
function readResponse(value: JsonObject): ReadMessage {
  const isResponse = value["result"] !== undefined || value["error"] !== undefined;
  if (!isResponse) return invalid(value["id"], "A message must have a method, a result or an error");
  return { ok: true, kind: "response", message: value as unknown as RpcResponse };
}

function invalid(id: unknown, message: string, code: number = errorCodes.invalidRequest): ReadMessage {
  return { ok: false, id: isRequestId(id) ? id : undefined, error: { code, message } };
}

const encodedText = Symbol("encoded");

/**
 * Attaches the JSON text of `result` to it, so that `encodeResponse` does not serialise it again.
 * The property is not enumerable, so a changed copy loses it.
 */
export function withEncoded<T extends object>(result: T, text: string): T {
  return Object.defineProperty(result, encodedText, { value: text });
}

/** The JSON text of a response, without line breaks. */
export function encodeResponse(response: RpcResponse): string {
  if (!("result" in response)) return JSON.stringify(response);
  const ready = (response.result as { [encodedText]?: string })[encodedText];
  const result = ready ?? JSON.stringify(response.result);
  const { id } = response;
  const idText = typeof id === "number" ? String(id) : JSON.stringify(id);
  return `{"jsonrpc":"2.0","id":${idText},"result":${result}}`;
}

export function encodeNotification(method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
