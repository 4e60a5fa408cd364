// Reads the text of a message or batch that a server sent, within the limits of the client.
import { clip, errorCodes } from "../../base/errors.ts";
import { parseWithin } from "../../base/wire/json.ts";
import {
  isObject,
  readMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "../../base/wire/message.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { ClientLimits } from "../settings/limits.ts";

/** Receives the messages of a text. */
export interface IncomingSink {
  message(message: RpcRequest | RpcNotification): void;
  response(response: RpcResponse): void;
  /** Something that is not a message. */
  invalid(problem: string): void;
  /** The text is not JSON, or exceeds a limit. @default {`invalid`} */
  unreadable?(problem: string): void;
}

/** The characters of the shortest message. */
const leastLength = '{"jsonrpc":"2.0","method":""}'.length;

/**
 * Passes on each message of a text, in order. Skips a text that is shorter than any message: failing to parse a letter takes as
 * long as reading two hundred.
 */
export function readIncomingText(text: string, limits: ClientLimits, sink: IncomingSink): void {
  const parsed = text.length < leastLength ? tooShort : parseWithin(text, limits);
  if (!parsed.ok) {
    const problem = parsed.limit ? beyond(parsed.problem, parsed.limit) : parsed.problem;
    return sink.unreadable ? sink.unreadable(problem) : sink.invalid(problem);
  }
  if (!Array.isArray(parsed.value)) return pass(parsed.value, sink);
  if (parsed.value.length > limits.maxBatch) {
    return sink.invalid(beyond(`The batch holds more than ${limits.maxBatch} messages`, "maxBatch"));
  }
  for (const value of parsed.value) pass(value, sink);
}

const tooShort = {
  ok: false,
  problem: "The text is too short for a JSON-RPC message",
  limit: undefined,
} as const;

/** The error message for a value that exceeds a limit: it names the limit to raise. */
export function beyond(problem: string, limit: keyof ClientLimits): string {
  return `${problem}: raise limits.${limit} if that is meant`;
}

/** The report of a response that belongs to no request. */
export function answersNothing({ id }: RpcResponse): string {
  return `A response to no request, with the id ${id === undefined ? "missing" : clip(JSON.stringify(id))}`;
}

/** The response. The secrets that an error repeats are removed. */
export function withoutKnownSecrets(
  response: RpcResponse,
  secrets: Secrets,
): RpcResponse | Promise<RpcResponse> {
  if (!("error" in response)) return response;
  const { error } = response;
  // The data of this error has URLs that the user visits, so they stay unchanged.
  const isOfUrls = isObject(error) && error.code === errorCodes.legacyUrlElicitationRequired;
  const cleaned = isOfUrls
    ? secrets.clean(error.message).then((message) => ({ ...error, message }))
    : secrets.clean(error);
  return cleaned.then((safe) => ({ ...response, error: safe }));
}

function pass(value: unknown, sink: IncomingSink): void {
  const read = readMessage(value);
  if (!read.ok) sink.invalid(read.error.message);
  else if (read.kind === "response") sink.response(read.message);
  else sink.message(read.message);
}
