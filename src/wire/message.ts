// JSON-RPC 2.0 envelopes: their types, how one is recognised, and how one is written. Knows nothing of MCP.
import { errorCodes, type ProtocolError } from "../errors.ts";

/** A JSON-RPC id: a string or a safe integer, echoed verbatim. */
export type RequestId = string | number;

/** A JSON object as it came off the wire. */
export type JsonObject = { readonly [key: string]: unknown };

/** A request: it is answered once. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A notification: it is never answered. */
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

/** The answer to a request that succeeded. */
export interface RpcSuccess {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: JsonObject;
}

/** The answer to a request that failed. */
export interface RpcFailure {
  readonly jsonrpc: "2.0";
  /** Left out, or null before 2025-11-25, when the id of the request could not be read. */
  readonly id?: RequestId | null;
  readonly error: RpcError;
}

/** The answer to one request. */
export type RpcResponse = RpcSuccess | RpcFailure;

/** One message from a peer. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** A message whose envelope has been read: what kind it is, or why it is none. */
export type ReadMessage =
  | { readonly ok: true; readonly kind: "request"; readonly message: RpcRequest }
  | { readonly ok: true; readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly ok: true; readonly kind: "response"; readonly message: RpcResponse }
  | { readonly ok: false; readonly id: RequestId | undefined; readonly error: RpcError };

/** What a peer has sent: one message, whose envelope has been read, or a batch, whose messages have not. */
export type Incoming = ReadMessage | readonly unknown[];

/** An error of the protocol as a client gets it. */
export function rpcErrorOf({ rpcCode: code, message, data }: ProtocolError): RpcError {
  return { code, message, data };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` can be an id: an unsafe integer cannot be echoed verbatim, so it is none. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

const maxStampLength = 4096;

/** Whether `value` can be an id that is kept for long, and stamped on message after message: not an endless one. */
export function isStamp(value: unknown): value is RequestId {
  return isRequestId(value) && !(typeof value === "string" && value.length > maxStampLength);
}

/** Says what kind of envelope `value` is, or why it is none. */
export function readMessage(value: unknown): ReadMessage {
  if (!isObject(value)) return invalid(undefined, "A message must be a JSON object");
  const { id, method, params } = value;
  if (value["jsonrpc"] !== "2.0") return invalid(id, 'A message must have jsonrpc "2.0"');
  if (method === undefined) return readResponse(value);
  if (typeof method !== "string") return invalid(id, "method must be a string");
  const hasParams = params === undefined || isObject(params);
  if (id === undefined) {
    // A notification is never answered, not even one whose parameters cannot be read: it says no more than its method.
    const message = (hasParams ? value : { jsonrpc: "2.0", method }) as unknown as RpcNotification;
    return { ok: true, kind: "notification", message };
  }
  if (!isRequestId(id)) return invalid(id, "id must be a string or an integer");
  if (!hasParams) return invalid(id, "params must be an object", errorCodes.invalidParams);
  return { ok: true, kind: "request", message: value as unknown as RpcRequest };
}

/**
 * Reads the envelope of what a peer has sent, once for all who look at it. A batch stays as it is until each of its messages
 * is read.
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

export function isBatch(incoming: Incoming): incoming is readonly unknown[] {
  return Array.isArray(incoming);
}

/** Whether `value` is a message that asks for no reply: an answer, or a notification. */
export function isSilent(value: unknown): boolean {
  return isSilentMessage(readMessage(value));
}

/** The same of a message whose envelope has been read. */
export function isSilentMessage(read: ReadMessage): boolean {
  return read.ok && read.kind !== "request";
}

/** Whether nothing of what a peer has sent asks for a reply. */
export function isSilentIncoming(incoming: Incoming): boolean {
  return isBatch(incoming) ? incoming.every(isSilent) : isSilentMessage(incoming);
}

/** Whatever claims to be an answer is one: to answer it in turn would look like an answer itself. */
function readResponse(value: JsonObject): ReadMessage {
  const isResponse = value["result"] !== undefined || value["error"] !== undefined;
  if (!isResponse) return invalid(value["id"], "A message needs a method, or a result or an error");
  return { ok: true, kind: "response", message: value as unknown as RpcResponse };
}

function invalid(id: unknown, message: string, code: number = errorCodes.invalidRequest): ReadMessage {
  return { ok: false, id: isRequestId(id) ? id : undefined, error: { code, message } };
}

const encodedText = Symbol("encoded");

/**
 * Attaches to `result` the JSON text it serialises to, so that it is written without being serialised again.
 * The mark is not enumerable: a copy with changes loses it.
 */
export function withEncoded<T extends object>(result: T, text: string): T {
  return Object.defineProperty(result, encodedText, { value: text });
}

/** The JSON text of a response; line breaks never occur in it. */
export function encodeResponse(response: RpcResponse): string {
  if (!("result" in response)) return JSON.stringify(response);
  const ready = (response.result as { [encodedText]?: string })[encodedText];
  const result = ready ?? JSON.stringify(response.result);
  const { id } = response;
  const idText = typeof id === "number" ? String(id) : JSON.stringify(id);
  return `{"jsonrpc":"2.0","id":${idText},"result":${result}}`;
}

/** The JSON text of a notification. */
export function encodeNotification(method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
