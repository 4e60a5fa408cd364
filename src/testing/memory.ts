// Connects a test client and a server in memory; they exchange text.
import { checkOptions, type Known } from "../options.ts";
import { Pipe } from "../pipe/pipe.ts";
import { portOf, type Servable, type ServerPort } from "../server/port.ts";
import { TestClient, type TestClientOptions, type Wire } from "./client.ts";

/** The options of a test client in memory. */
export interface ConnectOptions extends TestClientOptions {
  /** Whether `connect` makes the handshake; with `false`, the test does. @default {true} */
  readonly handshake?: boolean;
}

const knownOptions: Known<ConnectOptions> = {
  revision: true,
  capabilities: true,
  answer: true,
  handshake: true,
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
  const client = new TestClient(memoryWire(portOf(server, "connect")), options);
  if (options.handshake !== false) await client.open();
  return client;
}

function memoryWire(server: ServerPort): Wire {
  const failures = new Map<string, unknown>();
  const wire: Wire = {
    failures,
    onMessage: () => {},
    send: (text) => void pipe.receive(text),
    close: () => pipe.end(1000),
  };
  const pipe = new Pipe(
    server,
    { write: (text) => (wire.onMessage(text), true), destroy: () => {} },
    {
      transport: "memory",
      peerIsUser: true,
      onFailure: (errorId, error) => void failures.set(errorId, error),
    },
  );
  return wire;
}
