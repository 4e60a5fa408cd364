// Compares the headers of a modern request with its body: each must be present, and none may differ.
import { errorCodes } from "../../base/errors.ts";
import { decodeHeaderValue } from "../../protocol/header-value.ts";
import { metaKeys } from "../../protocol/meta.ts";
import { argumentAt, type ParamHeader } from "../../protocol/param-headers.ts";
import type { JsonObject, RpcError, RpcRequest } from "../../base/wire/message.ts";
import type { HttpRequest } from "./edge/request.ts";
import { type HttpExchange, versionHeader } from "./exchange.ts";

/** Returns the first problem of the headers, in the order that the protocol requires. */
export function headerProblem(exchange: HttpExchange, message: RpcRequest): RpcError | undefined {
  const { request } = exchange;
  const { method } = message;
  const nameParam = exchange.row?.mirrors;
  const version = request.header(versionHeader);
  const methodHeader = request.header("mcp-method");
  const nameHeader = nameParam === undefined ? undefined : request.header("mcp-name");
  if (version === undefined) return mismatch("MCP-Protocol-Version", "is missing");
  if (methodHeader === undefined) return mismatch("Mcp-Method", "is missing");
  if (nameParam !== undefined && nameHeader === undefined) return mismatch("Mcp-Name", "is missing");
  // The server rejects a body without its required `_meta`, and that error takes precedence over a mismatch.
  if (!exchange.isComplete) return undefined;
  const params = message.params ?? {};
  if (version.trim() !== (params["_meta"] as JsonObject)[metaKeys.protocolVersion]) {
    return mismatch("MCP-Protocol-Version", "differs from _meta");
  }
  if (methodHeader.trim() !== method) return mismatch("Mcp-Method", "differs from the method");
  if (nameHeader !== undefined && nameParam !== undefined) {
    const name = decodeHeaderValue(nameHeader.trim());
    if (name === undefined) return mismatch("Mcp-Name", "is not valid");
    if (name !== params[nameParam]) return mismatch("Mcp-Name", `differs from ${nameParam}`);
  }
  if (method !== "tools/call" || typeof params["name"] !== "string") return undefined;
  return paramsProblem(request, params["arguments"], exchange.state.server.paramHeaders(params["name"]));
}

function paramsProblem(
  request: HttpRequest,
  args: unknown,
  headers: readonly ParamHeader[],
): RpcError | undefined {
  for (const header of headers) {
    const value = argumentAt(args, header.path);
    if (value === undefined || value === null) continue;
    const name = `Mcp-Param-${header.name}`;
    const given = request.header(name.toLowerCase());
    if (given === undefined) return mismatch(name, "is missing");
    const decoded = decodeHeaderValue(given.trim());
    if (decoded === undefined) return mismatch(name, "is not valid");
    if (!isSame(decoded, value)) return mismatch(name, "differs from the argument");
  }
  return undefined;
}

const decimal = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Compares numbers by value, so 42.0 equals 42. An unsafe integer equals nothing, because parsing may have rounded it. */
function isSame(header: string, value: unknown): boolean {
  if (typeof value === "number") {
    return decimal.test(header) && Math.abs(value) <= Number.MAX_SAFE_INTEGER && Number(header) === value;
  }
  // An object is not a header value, and `String` may even throw for it.
  return typeof value !== "object" && header === String(value);
}

function mismatch(header: string, problem: string): RpcError {
  return { code: errorCodes.headerMismatch, message: `The ${header} header ${problem}` };
}
