// The client of @ai-sdk/mcp, as the benchmarks use every client. It asks for Node 22 or later, and its calls run on Node 20 too.
import { createMCPClient } from "@ai-sdk/mcp";

/** `{ url, fetch, era }`. */
export async function connectAiSdk({ url, fetch, era }) {
  const client = await createMCPClient({
    transport: { type: "http", url, fetch },
    protocolVersionDiscovery: era !== "legacy",
  });
  return {
    call: async (text) => (await client.callTool({ name: "echo", arguments: { text } })).content[0].text,
    list: async () => (await client.listTools()).tools.length,
    close: () => client.close(),
  };
}
