// The modern headers that repeat what the body says: each must be there, and must say the same.
import { errorCodes } from "../errors.ts";
import { metaKeys } from "../protocol/meta.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import type { RequestRow, Revision } from "../protocol/revision.ts";
import { isObject, type JsonObject, type RpcError, type RpcRequest } from "../wire/message.ts";
import type { ServerPort } from "../server/port.ts";
import type { HttpRequest } from "./edge/request.ts";
import { decodeHeaderValue } from "./param-value.ts";

export const versionHeader = "mcp-protocol-version";

/** The revision that the version header names, if it is one that the server speaks. */
export function headerRevision(
  request: HttpRequest,
  { revisions }: Pick<ServerPort, "revisions">,
): Revision | undefined {
  return revisions.find(request.header(versionHeader)?.trim());
}

/** What the revision of a modern request says of its method; if the server does not speak that one, what its newest says. */
export function modernRow(request: HttpRequest, method: string, server: ServerPort): RequestRow | undefined {
  const named = headerRevision(request, server);
  const revision = named?.era === "modern" ? named : server.revisions.modern;
  return revision && server.rowOf(method, revision);
}

/** What is wrong with the headers of a modern request, in the order that the protocol asks for; undefined if nothing is. */
export function mirroredProblem(
  request: HttpRequest,
  message: RpcRequest,
  row: RequestRow | undefined,
  server: Pick<ServerPort, "paramHeaders">,
): RpcError | undefined {
  const { method } = message;
  const nameParam = row?.mirrors;
  const version = request.header(versionHeader);
  const methodHeader = request.header("mcp-method");
  const nameHeader = nameParam === undefined ? undefined : request.header("mcp-name");
  if (version === undefined) return mismatch("The MCP-Protocol-Version header is missing");
  if (methodHeader === undefined) return mismatch("The Mcp-Method header is missing");
  if (nameParam !== undefined && nameHeader === undefined) return mismatch("The Mcp-Name header is missing");
  const params = message.params ?? {};
  // A body without its required _meta is for the server to refuse, before the two are compared.
  if (!hasRequiredMeta(params)) return undefined;
  if (version.trim() !== (params["_meta"] as JsonObject)[metaKeys.protocolVersion]) {
    return mismatch("The MCP-Protocol-Version header differs from _meta");
  }
  if (methodHeader.trim() !== method) return mismatch("The Mcp-Method header differs from the method");
  if (nameHeader !== undefined && nameParam !== undefined) {
    const name = decodeHeaderValue(nameHeader.trim());
    if (name === undefined) return mismatch("The Mcp-Name header is not valid");
    if (name !== params[nameParam]) return mismatch(`The Mcp-Name header differs from ${nameParam}`);
  }
  if (method !== "tools/call" || typeof params["name"] !== "string") return undefined;
  return paramsProblem(request, params["arguments"], server.paramHeaders(params["name"]));
}

/** Whether the parameters have what every modern request must have. */
export function hasRequiredMeta(params: JsonObject): boolean {
  const meta = params["_meta"];
  return (
    isObject(meta) &&
    typeof meta[metaKeys.protocolVersion] === "string" &&
    isObject(meta[metaKeys.clientCapabilities])
  );
}

function paramsProblem(
  request: HttpRequest,
  args: unknown,
  headers: readonly ParamHeader[],
): RpcError | undefined {
  for (const header of headers) {
    const value = valueAt(args, header.path);
    if (value === undefined || value === null) continue;
    const given = request.header(`mcp-param-${header.name.toLowerCase()}`);
    if (given === undefined) return mismatch(`The Mcp-Param-${header.name} header is missing`);
    const decoded = decodeHeaderValue(given.trim());
    if (decoded === undefined) return mismatch(`The Mcp-Param-${header.name} header is not valid`);
    if (!isSame(decoded, value))
      return mismatch(`The Mcp-Param-${header.name} header differs from the argument`);
  }
  return undefined;
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

const decimal = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Numbers are compared as numbers: 42.0 is 42. One too large to be exact may stand for several, so it is like none. */
function isSame(header: string, value: unknown): boolean {
  if (typeof value === "number") {
    return decimal.test(header) && Math.abs(value) <= Number.MAX_SAFE_INTEGER && Number(header) === value;
  }
  // What is an object is no value of a header, and may not even have a way to become text.
  return typeof value !== "object" && header === String(value);
}

function mismatch(message: string): RpcError {
  return { code: errorCodes.headerMismatch, message };
}
