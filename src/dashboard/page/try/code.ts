// An action of the page as code: a program of ten lines, and a command for revisions without sessions.
import type { Entry } from "./entries.ts";

export interface Action {
  readonly entry: Entry;
  /** The arguments, or the values of the variables. */
  readonly values: unknown;
  /** The URI of a resource that is read. */
  readonly uri: string | undefined;
}

export interface Target {
  readonly endpoint: string;
  readonly revision: string;
  readonly hasToken: boolean;
}

/** The method and the parameters of the request. */
function requestOf({ entry, values, uri }: Action): {
  readonly method: string;
  readonly params: { readonly name?: string; readonly uri?: string; readonly arguments?: unknown };
} {
  if (uri !== undefined) return { method: "resources/read", params: { uri } };
  const method = entry.kind === "tool" ? "tools/call" : "prompts/get";
  return { method, params: { name: entry.id, arguments: values ?? {} } };
}

/** A program that does the same with halyard/client. */
export function programOf(action: Action, { endpoint, revision, hasToken }: Target): string {
  const { entry, uri } = action;
  const auth = hasToken ? ", auth: process.env.MCP_TOKEN" : "";
  const name = JSON.stringify(entry.id);
  const args = JSON.stringify(action.values ?? {}, undefined, 2);
  const calls = {
    tool: `client.callTool(${name}, ${args})`,
    prompt: `client.getPrompt(${name}, ${args})`,
    resource: `client.readResource(${JSON.stringify(uri)})`,
    template: `client.readResource(${JSON.stringify(uri)})`,
  };
  return `import { connect } from "halyard/client";

const client = await connect(${JSON.stringify(endpoint)}, { revision: ${JSON.stringify(revision)}${auth} });
const result = await ${calls[entry.kind]};
console.log(result);
await client.close();
`;
}

/** A command that sends the same request. Only for revisions whose requests stand alone. */
export function commandOf(action: Action, { endpoint, revision, hasToken }: Target): string {
  const { method, params } = requestOf(action);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = params.name ?? params.uri ?? "";
  const headers = [
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `MCP-Protocol-Version: ${revision}`,
    `Mcp-Method: ${method}`,
    `Mcp-Name: ${headerValue(name)}`,
    ...repeatedArguments(action),
  ];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const token = hasToken ? [`-H "Authorization: Bearer $MCP_TOKEN"`] : [];
  const options = [...token, ...headers.map((header) => `-H ${quoted(header)}`), `-d ${quoted(body)}`];
  return [`curl -sN ${quoted(endpoint)}`, ...options].join(" \\\n  ");
}

/** The headers that repeat arguments which the tool's schema annotates with `x-mcp-header`. */
function repeatedArguments({ entry, values }: Action): string[] {
  if (entry.kind !== "tool" || typeof values !== "object" || values === null) return [];
  const { inputSchema } = entry.listed as { inputSchema?: { properties?: Record<string, unknown> } };
  return Object.entries(inputSchema?.properties ?? {}).flatMap(([name, property]) => {
    const header = (property as { "x-mcp-header"?: unknown } | null)?.["x-mcp-header"];
    const value = Object.hasOwn(values, name) ? (values as Record<string, unknown>)[name] : undefined;
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return typeof header === "string" && isPlain
      ? [`Mcp-Param-${header}: ${headerValue(String(value))}`]
      : [];
  });
}

/** A value as headers carry it: text that would not arrive unchanged is written as base64. */
function headerValue(text: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return `=?base64?${btoa(bytes.join(""))}?=`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
