// A server for the HTTP tests: tools that answer, stream, fail and wait.
import { errorCodes, type JsonObject, type McpServer, ProtocolError, type ServerOptions } from "halyard";
import { makeServer } from "./catalogue.ts";
import type { LogEntry } from "./log.ts";
import { modernRequest } from "./raw.ts";
import { type Deferred, deferred } from "./turns.ts";

export interface HttpFixture {
  readonly server: McpServer;
  readonly log: LogEntry[];
  /** Why the signal of `wait` aborted, for each call that was cancelled. */
  readonly aborted: string[];
  /** How many calls of `wait` have begun. */
  readonly waiting: () => number;
  /** Makes `wait` return. */
  readonly gate: Deferred<void>;
}

/** `echo` answers at once, `report` streams first, `fail` throws, `wait` holds until the gate opens. */
export function httpServer(options: ServerOptions = {}): HttpFixture {
  const { server, log } = makeServer(options);
  const aborted: string[] = [];
  const gate = deferred();
  let begun = 0;
  const input = { type: "object", properties: { text: { type: "string" } } } as const;
  server.tool("echo", { input }, (args) => String((args as { text?: unknown }).text ?? "nothing"));
  server.tool("report", {}, (_, ctx) => {
    ctx.progress(1, 2);
    ctx.progress(2, 2);
    return "reported";
  });
  server.tool("fail", {}, (_, ctx) => {
    ctx.progress(1);
    throw new ProtocolError(errorCodes.invalidParams, "No such thing");
  });
  server.tool("wait", {}, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted.push((ctx.signal.reason as Error).message));
    begun++;
    await gate.promise;
    ctx.progress(1);
    return "waited";
  });
  server.prompt("grüße", {}, () => "Hello");
  return { server, log, aborted, gate, waiting: () => begun };
}

export function toolCall(id: number | string, name: string, args: JsonObject = {}): JsonObject {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}

/** The same as a modern request; with a token, its progress is wanted. */
export function modernCall(
  id: number | string,
  name: string,
  args: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  return modernRequest(id, "tools/call", { name, arguments: args }, meta);
}

export const ping: JsonObject = { jsonrpc: "2.0", id: 1, method: "ping" };
export const discover: JsonObject = modernRequest(1, "server/discover");
