// Parses one message, or a batch if the revision has them, and returns the response as text.
import { errorCodes } from "../../base/errors.ts";
import type { Load, Loads } from "../../base/limits/loads.ts";
import { parseJson } from "../../base/wire/json.ts";
import {
  encodeResponse,
  type Incoming,
  isBatch,
  isSilentIncoming,
  readIncoming,
  type ReadMessage,
  type RpcResponse,
} from "../../base/wire/message.ts";
import { callerOf, type Exchange } from "../context/connection.ts";
import { answerBatch, BatchReply } from "./batch.ts";
import type { Core } from "./core.ts";
import { type Answering, dispatch, refuse } from "./dispatch.ts";
import { encodeSafely } from "./failure.ts";

/** The response to one message, or the responses to a batch. */
export type Answer = RpcResponse | BatchReply;

/** Resolves with the text of the response, or with undefined if the message needs none. */
export async function answerText(
  core: Core,
  loads: Loads,
  text: string,
  exchange: Exchange,
): Promise<string | undefined> {
  const parsed = parseJson(text, core.settings.limits);
  if (!parsed.ok) return encodeResponse(refuse(core, exchange, undefined, parsed.error));
  const { connection, stream, era, principal, headers, address } = exchange;
  const load = loads.begin(callerOf(exchange));
  try {
    const incoming = readIncoming(parsed.value);
    if (!isTaken(load, parsed.weight, incoming)) return refuseLoad(core, exchange, incoming);
    const counted = { connection, stream, era, principal, headers, address, load };
    const answering = answerIncoming(core, incoming, counted);
    if (answering instanceof Promise) load.stay();
    const answer = answering instanceof Promise ? await answering : answering;
    return answer && encodeAnswer(core, answer);
  } finally {
    load.release();
  }
}

/** Messages that expect no response get no error either. */
function refuseLoad(core: Core, exchange: Exchange, incoming: Incoming): string | undefined {
  const message = "Open requests take too much memory: wait for a response, then retry";
  const isRequest = !isBatch(incoming) && incoming.ok && incoming.kind === "request";
  const id = isRequest ? incoming.message.id : undefined;
  const refusal = refuse(core, exchange, id, { code: errorCodes.invalidRequest, message });
  return isSilentIncoming(incoming) ? undefined : encodeResponse(refusal);
}

/** Whether `load` has room for a message of this weight. */
export function isTaken(load: Load, weight: number, incoming: Incoming): boolean {
  return load.takes(weight) || (isSilentIncoming(incoming) && load.speaks(weight));
}

/** Answers a message or a batch. Returns a promise only if the answer is not ready. */
export function answerIncoming(core: Core, incoming: Incoming, exchange: Exchange): Answering<Answer> {
  core.window.connections?.received(exchange.connection, incoming);
  return isBatch(incoming) ? answerBatch(core, incoming, exchange) : dispatch(core, incoming, exchange);
}

/** Answers one message. */
export function answerMessage(core: Core, read: ReadMessage, exchange: Exchange): Answering<RpcResponse> {
  core.window.connections?.received(exchange.connection, read);
  return dispatch(core, read, exchange);
}

export function encodeAnswer(core: Core, answer: Answer): string {
  return answer instanceof BatchReply ? answer.text : encodeSafely(core, answer);
}
