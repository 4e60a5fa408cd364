// The official client 2, as the benchmarks use every client.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { INFO } from "../baselines/messages.js";

const modes = { modern: { pin: "2026-07-28" }, legacy: "legacy" };

/** `{ url, fetch, era, remembered, elicit, target }`: `target` instead of `url` for a command. */
export async function connectOfficialV2({ url, target, fetch, era, remembered, elicit }) {
  const capabilities = elicit ? { elicitation: { form: {} } } : {};
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode: modes[era] ?? "auto" } });
  if (elicit) client.setRequestHandler("elicitation/create", ({ params }) => elicit(params));
  const transport = target
    ? new StdioClientTransport(target)
    : new StreamableHTTPClientTransport(new URL(url), { fetch });
  await client.connect(transport, remembered && { prior: { kind: "modern", discover: remembered } });
  return {
    call: async (text) => (await client.callTool({ name: "echo", arguments: { text } })).content[0].text,
    callWithProgress: async (text, onprogress) =>
      (await client.callTool({ name: "echo", arguments: { text } }, { onprogress })).content[0].text,
    callWithRounds: async (text) =>
      (await client.callTool({ name: "ask", arguments: { text } })).content[0].text,
    list: async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools.length,
    cachedList: async () => (await client.listTools()).tools.length,
    listen: (uri, onChange) => {
      client.setNotificationHandler("notifications/resources/updated", onChange);
      return client.listen({ resourceSubscriptions: [uri] });
    },
    remember: () => client.getDiscoverResult(),
    close: () => client.close(),
  };
}
