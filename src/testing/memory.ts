// Connects a test client and a server in memory; they exchange text.
import { filledText, flag, func, type Known, needed, plainObject } from "../kinds.ts";
import { checkOptions } from "../options.ts";
import { memoryWire } from "../pipe/memory-wire.ts";
import { portOf, type Servable } from "../server/calls/port.ts";
import { TestClient, type TestClientOptions } from "./client.ts";

/** The options of a test client in memory. */
export interface ConnectOptions extends TestClientOptions {
  /** Whether `connect` makes the handshake; with `false`, the test does. @default {true} */
  readonly handshake?: boolean;
}

const knownOptions: Known<ConnectOptions> = {
  revision: needed(filledText),
  capabilities: plainObject,
  answer: func,
  handshake: flag,
};

/**
 * Connects a test client to `server` in memory.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, protocolRevisions } from "halyard/testing";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * for (const { date } of protocolRevisions) {
 *   const client = await connect(server, { revision: date });
 *   await client.request("tools/list");
 *   await client.close();
 * }
 * ```
 */
export async function connect(server: Servable, options: ConnectOptions): Promise<TestClient> {
  checkOptions({ subject: "connect" }, options, knownOptions);
  const failures = new Map<string, unknown>();
  const wire = memoryWire(portOf(server, "connect"), (errorId, error) => void failures.set(errorId, error));
  const client = new TestClient(wire, options, failures);
  if (options.handshake !== false) await client.open();
  return client;
}
