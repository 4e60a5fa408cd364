// The body of a POST: read within its limits, parsed once, weighed and counted.
import { errorCodes } from "../errors.ts";
import type { Load } from "../limits/loads.ts";
import { isTaken } from "../server/calls/answer.ts";
import { checkValue, type ParsedJson, parseJson } from "../wire/json.ts";
import { readIncoming } from "../wire/message.ts";
import { refuse, refuseTooMany } from "./edge/replies.ts";
import type { HttpBody, HttpHeaders, HttpResponder } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";

/** Parses the message into `exchange.incoming`: where it cannot be parsed, the error for it. Undefined when it has been refused. */
export function parseBody(exchange: HttpExchange, load: Load, body: HttpBody): ParsedJson | undefined {
  const { limits } = exchange.state.server;
  if (refuseUnread(body, limits.maxBytes, exchange.responder, load)) return undefined;
  const parsed = body.kind === "text" ? parseJson(body.text, limits) : checkValue(body.value, limits);
  if (parsed.ok) exchange.incoming = readIncoming(parsed.value);
  else {
    const code = parsed.reason === "syntax" ? errorCodes.parse : errorCodes.invalidRequest;
    exchange.incoming = { ok: false, id: undefined, error: { code, message: parsed.problem } };
  }
  return parsed;
}

/** Refuses a message that its caller has no room for, or no rate. True when it did. */
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

type Unread = Extract<HttpBody, { readonly kind: "too-large" | "too-heavy" | "broken" }>;

function refuseUnread(
  body: HttpBody,
  maxBytes: number,
  responder: HttpResponder,
  load: Load,
): body is Unread {
  if (body.kind === "too-large")
    refuse(responder, 413, `The body is larger than ${maxBytes} bytes`, { connection: "close" });
  else if (body.kind === "too-heavy") refuseHeavy(responder, load, { connection: "close" });
  else if (body.kind === "broken") refuse(responder, 400, "The body ended before it was complete");
  else return false;
  return true;
}

/** There is no room for the message until others have been answered: those of its caller, or those of all. */
function refuseHeavy(responder: HttpResponder, load: Load, headers: HttpHeaders = {}): void {
  const retry = { ...headers, "retry-after": "1" };
  if (load.isCrowdedOut) refuse(responder, 503, "The server has too much to answer: try again later", retry);
  else refuse(responder, 429, "Too much of yours is being answered: wait for an answer", retry);
}
