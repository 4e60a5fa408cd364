// The body of a POST: checks its limits, parses it once, and counts it for its caller.
import type { Load } from "../../base/limits/loads.ts";
import { isTaken } from "../../server/calls/answer.ts";
import { checkValue, type ParsedJson, parseJson } from "../../base/wire/json.ts";
import { type Incoming, readIncoming } from "../../base/wire/message.ts";
import { refuseWith, refuseTooMany } from "./edge/replies.ts";
import type { HttpBody, HttpHeaders, HttpResponder } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";

/**
 * Parses the body into `exchange.incoming`; if the JSON is invalid, `incoming` holds the error. Returns undefined if it has refused
 * the request.
 */
export function parseBody(exchange: HttpExchange, load: Load, body: HttpBody): ParsedJson | undefined {
  const { limits } = exchange.state.server;
  if (refuseUnread(body, limits.maxBytes, exchange.responder, load)) return undefined;
  const parsed =
    body.kind === "text"
      ? parseJson(body.text, limits, (weight, mayAsk) => hasRoom(load, weight, mayAsk))
      : checkValue(body.value, limits);
  if (!parsed.ok && parsed.isTooHeavy) {
    refuseHeavy(exchange.responder, load);
    return undefined;
  }
  exchange.incoming = incomingOf(parsed);
  return parsed;
}

/** Counts a message before it is parsed. One that may expect a response has no room among those that expect none. */
function hasRoom(load: Load, weight: number, mayAsk: boolean): boolean {
  if (!mayAsk) return load.grow(weight);
  if (!load.takes(weight)) return false;
  load.stay();
  return true;
}

/** The message or batch of a body; an error if its JSON is invalid. */
export function incomingOf(parsed: ParsedJson): Incoming {
  return parsed.ok ? readIncoming(parsed.value) : { ok: false, id: undefined, error: parsed.error };
}

/** Refuses a message that exceeds the memory or the rate of its caller, and returns whether it did. */
export function refuseCrowded(
  { state, responder, incoming, counted }: HttpExchange,
  load: Load,
  parsed: ParsedJson,
): boolean {
  if (parsed.ok && !isTaken(load, parsed.weight, incoming)) {
    refuseHeavy(responder, load);
    return true;
  }
  if (counted === undefined || counted.admits(incoming, state.server.limits.maxBatch)) return false;
  refuseTooMany(responder, counted.retryAfter);
  return true;
}

type Unread = Exclude<HttpBody, { readonly kind: "text" | "parsed" }>;

function refuseUnread(
  body: HttpBody,
  maxBytes: number,
  responder: HttpResponder,
  load: Load,
): body is Unread {
  if (body.kind === "too-large")
    refuseWith(responder, 413, `The body is larger than ${maxBytes} bytes`, { connection: "close" });
  else if (body.kind === "too-heavy") refuseHeavy(responder, load, { connection: "close" });
  else if (body.kind === "taken") refuseWith(responder, 400, takenBody);
  else if (body.kind === "broken") refuseWith(responder, 400, "The body ended before it was complete");
  else return false;
  return true;
}

const takenBody =
  "Other code has read the body before the MCP handler: mount the handler before body parsers, or pass on what they have read";

/** Refuses a message for which there is no memory until others have been answered: those of its caller, or of all callers. */
function refuseHeavy(responder: HttpResponder, load: Load, headers: HttpHeaders = {}): void {
  const retry = { ...headers, "retry-after": "1" };
  if (load.isCrowdedOut) refuseWith(responder, 503, "The server is busy: try again later", retry);
  else refuseWith(responder, 429, "Your running requests use too much memory: wait for a response", retry);
}
