// The official client 1, as the benchmarks use every client. It speaks legacy revisions only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { INFO } from "../baselines/messages.js";

/** `{ url, fetch, target }`: `target` instead of `url` for a command. */
export async function connectOfficialV1({ url, fetch, target }) {
  const client = new Client(INFO);
  const transport = target
    ? new StdioClientTransport(target)
    : new StreamableHTTPClientTransport(new URL(url), { fetch });
  await client.connect(transport);
  return {
    call: async (text) => (await client.callTool({ name: "echo", arguments: { text } })).content[0].text,
    callWithProgress: async (text, onprogress) =>
      (await client.callTool({ name: "echo", arguments: { text } }, undefined, { onprogress })).content[0]
        .text,
    list: async () => (await client.listTools()).tools.length,
    close: () => client.close(),
  };
}
