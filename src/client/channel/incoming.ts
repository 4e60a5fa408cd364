// Reads the text of a message or batch that a server sent, within the limits of the client.
import { parseWithin } from "../../wire/json.ts";
import { readMessage, type RpcNotification, type RpcRequest, type RpcResponse } from "../../wire/message.ts";
import type { ClientLimits } from "../settings/limits.ts";

/** Receives what was read. */
export interface IncomingSink {
  message(message: RpcRequest | RpcNotification): void;
  response(response: RpcResponse): void;
  /** Something that is not a message. */
  invalid(problem: string): void;
}

/** Passes on each message of a text, in order. */
export function readIncomingText(text: string, limits: ClientLimits, sink: IncomingSink): void {
  const parsed = parseWithin(text, limits);
  if (!parsed.ok) return sink.invalid(parsed.problem);
  if (!Array.isArray(parsed.value)) return pass(parsed.value, sink);
  if (parsed.value.length > limits.maxBatch) {
    return sink.invalid(`The batch holds more than ${limits.maxBatch} messages`);
  }
  for (const value of parsed.value) pass(value, sink);
}

function pass(value: unknown, sink: IncomingSink): void {
  const read = readMessage(value);
  if (!read.ok) sink.invalid(read.error.message);
  else if (read.kind === "response") sink.response(read.message);
  else sink.message(read.message);
}
