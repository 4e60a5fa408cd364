// Answers a POST: reads the body once, classifies it, and passes it on by its era.
import { clip } from "../../base/errors.ts";
import type { Load } from "../../base/limits/loads.ts";
import type { ParsedJson } from "../../base/wire/json.ts";
import { parseBody, refuseCrowded } from "./body.ts";
import { refuseClosing, refuseWith, replyError } from "./edge/replies.ts";
import type { HttpBody } from "./edge/request.ts";
import { type HttpExchange, sessionHeader } from "./exchange.ts";
import { refuseContentType } from "./guard.ts";
import { answerLegacyPost } from "./legacy-post.ts";
import { answerModernPost } from "./modern-post.ts";
import { refuseUnpermitted } from "./permission.ts";
import { hasModernKey, metaKeys } from "../../protocol/meta.ts";
import { isBatch, isObject } from "../../base/wire/message.ts";

/** Answers a POST, which counts for its caller from its first byte until its response. */
export async function answerPost(exchange: HttpExchange): Promise<void> {
  const { state, request, responder, accepted } = exchange;
  if (!accepted.json && !accepted.events) {
    return refuseWith(responder, 406, "Accept must allow application/json or text/event-stream");
  }
  if (refuseContentType(request, responder)) return;
  const load = state.server.loads.begin(request.caller);
  try {
    const body = await request.body(state.server.limits.maxBytes, load);
    const answering = answerBody(exchange, load, body);
    if (!(answering instanceof Promise)) return;
    load.stay();
    await answering;
  } finally {
    load.release();
  }
}

function answerBody(exchange: HttpExchange, load: Load, body: HttpBody): Promise<void> | void {
  const parsed = parseBody(exchange, load, body);
  if (parsed === undefined) return;
  if (!parsed.ok) return refuseUnparsed(exchange, parsed);
  if (refuseCrowded(exchange, load, parsed) || refuseUnpermitted(exchange, parsed.value)) return;
  classify(exchange, parsed.value);
  exchange.load = load;
  exchange.address = exchange.request.address;
  if (exchange.era !== "modern") return answerLegacyPost(exchange);
  return exchange.isLate ? refuseClosing(exchange.responder) : answerModernPost(exchange);
}

type Unparsed = Extract<ParsedJson, { readonly ok: false }>;

function refuseUnparsed(exchange: HttpExchange, { isTooLarge, error }: Unparsed): void {
  // A framework may have decompressed the body, and left the header.
  const encoding = exchange.request.header("content-encoding") ?? "identity";
  if (isTooLarge) refuseWith(exchange.responder, 413, error.message);
  else if (encoding !== "identity")
    refuseWith(exchange.responder, 415, `Content-Encoding is ${clip(encoding)}: do not compress`);
  else replyError(exchange.responder, 400, error, unreadableId(exchange));
}

/** The id of an error for an unreadable message, which depends on the client's revision. */
function unreadableId({ state, request, headerRevision }: HttpExchange): null | undefined {
  const session = state.sessions.peek(request.header(sessionHeader) ?? "");
  const revision = session?.connection.revision ?? headerRevision;
  return revision?.unreadableId;
}

/**
 * Classifies a request by its headers and its parsed body, `value`. One modern message makes the whole batch modern, so that no
 * modern message escapes the check of its headers.
 */
function classify(exchange: HttpExchange, value: unknown): void {
  const { incoming } = exchange;
  const { server } = exchange.state;
  const named = exchange.headerRevision;
  exchange.isInitialize = isObject(value) && value["method"] === "initialize" && value["id"] !== undefined;
  if (server.revisions.modern === undefined) return;
  const isModern = Array.isArray(value) ? value.some(hasModernMeta) : hasModernMeta(value);
  if (named?.era !== "modern" && !isModern) return;
  exchange.era = "modern";
  if (isBatch(incoming) || !incoming.ok || incoming.kind !== "request") return;
  const { method, params } = incoming.message;
  const meta = params?.["_meta"];
  const version = isObject(meta) ? meta[metaKeys.protocolVersion] : undefined;
  exchange.isComplete =
    isObject(meta) && typeof version === "string" && isObject(meta[metaKeys.clientCapabilities]);
  const claimed = exchange.isComplete ? server.revisions.find(version) : undefined;
  if (claimed?.era === "modern") exchange.revision = claimed;
  const revision = exchange.revision ?? named;
  exchange.row = revision && server.rowOf(method, revision);
}

function hasModernMeta(message: unknown): boolean {
  if (!isObject(message) || !isObject(message["params"])) return false;
  const meta = message["params"]["_meta"];
  return isObject(meta) && hasModernKey(meta);
}
