// Classifies a POST once: finds its era, its revision and the row of its method, and writes them into its exchange.
import { hasModernKey, metaKeys } from "../../protocol/meta.ts";
import { isBatch, isObject } from "../../base/wire/message.ts";
import type { HttpExchange } from "./exchange.ts";

/**
 * Classifies a request by its headers and its parsed body, `value`. One modern message makes the whole batch modern, so that no
 * modern message escapes the check of its headers.
 */
export function classify(exchange: HttpExchange, value: unknown): void {
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
