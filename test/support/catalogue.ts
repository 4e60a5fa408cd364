// What the tests of the catalogue share: a quiet server, a client that is closed by itself, and short ways to ask.
import {
  type CallToolResult,
  type JsonObject,
  McpServer,
  type Servable,
  type ServerEvent,
  type ServerOptions,
} from "halyard";
import { RpcRejection, type TestClient } from "halyard/testing";
import { expect, onTestFinished } from "vitest";
import { type LogEntry, recordingLogger } from "./log.ts";
import type { Cell, CellOptions } from "./matrix.ts";

/** Something that must never reach a client. */
export const secret = "postgres://admin:hunter2@db.internal";

export interface Made {
  readonly server: McpServer;
  readonly log: LogEntry[];
  readonly events: ServerEvent[];
}

/** A server whose log and events are kept. */
export function makeServer(options: ServerOptions = {}): Made {
  const logger = recordingLogger();
  const events: ServerEvent[] = [];
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    { logger, observe: (event) => void events.push(event), ...options },
  );
  return { server, log: logger.entries, events };
}

/** A client of the cell's revision and transport, closed when the test ends. */
export async function open(cell: Cell, server: Servable, options?: CellOptions): Promise<TestClient> {
  const client = await cell.connect(server, options);
  onTestFinished(() => client.close());
  return client;
}

/** Calls a tool. */
export async function call(client: TestClient, name: string, args?: JsonObject): Promise<CallToolResult> {
  const result = await client.request(
    "tools/call",
    args === undefined ? { name } : { name, arguments: args },
  );
  return result as unknown as CallToolResult;
}

/** The text of a result that holds one block of text. */
export function textOf(result: CallToolResult): string {
  const [block] = result.content;
  expect(result.content).toHaveLength(1);
  if (block?.type !== "text") throw new TypeError(`Not a text block: ${JSON.stringify(block)}`);
  return block.text;
}

const members = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
} as const;

export type ListMethod = keyof typeof members;

/** The definitions on the first page of a list. */
export async function list(client: TestClient, method: ListMethod): Promise<JsonObject[]> {
  return itemsOf(await client.request(method), method);
}

/** The definitions that a list result holds. */
export function itemsOf(page: JsonObject, method: ListMethod): JsonObject[] {
  return page[members[method]] as JsonObject[];
}

/** The names on the first page of tools. */
export async function toolNames(client: TestClient): Promise<unknown[]> {
  return (await list(client, "tools/list")).map((tool) => tool["name"]);
}

/** The error that a request is answered with; fails when it is answered with a result. */
export async function refusal(request: Promise<unknown>): Promise<RpcRejection> {
  const outcome = await request.then(
    (result) => ({ result }),
    (error: unknown) => error,
  );
  if (outcome instanceof RpcRejection) return outcome;
  throw new Error(`Expected an error, not ${JSON.stringify(outcome)}`, { cause: outcome });
}

/** Everything that has reached a client, as text. */
export function heard(client: TestClient): string {
  return JSON.stringify(client.received);
}

/** A promise and the way to fulfil it. */
export function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
