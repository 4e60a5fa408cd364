// Connects to scripted servers, and closes the clients when the test has ended.
import { connect, type ConnectOptions, type McpClient, type Target } from "halyard/client";
import { onTestFinished } from "vitest";
import type { ScriptedServer } from "../../support/scripted-wire.ts";

export async function open(target: Target, options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(target, { backoff: { firstMs: 2 }, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Resolves with the reason why the client cannot connect. */
export function failing(target: Target, options?: ConnectOptions): Promise<unknown> {
  return open(target, options).then(
    () => "connected",
    (reason: unknown) => reason,
  );
}

/** What the server has received so far. */
export function methods(server: ScriptedServer): unknown[] {
  return server.received.map(({ method }) => method);
}
