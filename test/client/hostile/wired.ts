// A client of a hostile server over a wire in memory, and what it told its user.
import { type ClientEvent, connect, type ConnectOptions, type McpClient } from "halyard/client";
import { expect, onTestFinished } from "vitest";
import { ScriptedServer, type ScriptedOptions, type Sent } from "../../support/scripted-wire.ts";

export interface Wired {
  readonly server: ScriptedServer;
  readonly client: McpClient;
  readonly events: ClientEvent[];
  /** The reasons of what the client ignored. */
  readonly ignored: () => string[];
}

export async function wired(scripted: ScriptedOptions, options: ConnectOptions = {}): Promise<Wired> {
  const server = new ScriptedServer(scripted);
  server.on("still/there", () => ({ resultType: "complete", yes: true }));
  const events: ClientEvent[] = [];
  const client = await connect(server, { tasks: true, observe: (event) => events.push(event), ...options });
  onTestFinished(() => client.close());
  const ignored = (): string[] => events.flatMap((event) => (event.type === "ignored" ? [event.reason] : []));
  return { server, client, events, ignored };
}

/** Shows that the client works as before. */
export async function expectAlive(client: McpClient): Promise<void> {
  expect(await client.request("still/there")).toMatchObject({ yes: true });
}

/** The text of a response with this result, which need not be one that `JSON.stringify` writes. */
export function responseText({ id }: Sent, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}
