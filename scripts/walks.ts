// The walks that `count-walks.ts` counts: each sends what a client would over HTTP, and resolves when it has been answered.
import type { McpServer as Server } from "halyard";

/** One walk: what happens before it is counted, and what is counted. */
export interface Walk {
  /** Its name in the table of docs/internals/package.md. */
  readonly name: string;
  /** Makes ready for one run, and returns it. */
  prepare(server: Server, url: string): Promise<() => Promise<void>>;
}

const modern = "2026-07-28";
const legacy = "2025-11-25";
const client = { name: "walks", version: "1.0.0" };
const form = { type: "object", properties: { unit: { type: "string" } }, required: ["unit"] } as const;

export const walks: readonly Walk[] = [
  {
    name: "a modern `tools/call`",
    prepare: async (_server, url) => async () => {
      const { result } = await callModern(url, "plain", {});
      if (result["resultType"] !== "complete")
        throw new Error(`Unexpected result: ${JSON.stringify(result)}`);
    },
  },
  {
    name: "a modern `tools/call` that asks, and the retry that answers",
    prepare: async (_server, url) => async () => {
      const asked = await callModern(url, "asks", {});
      const { inputRequests, requestState } = asked.result as { inputRequests: object; requestState: string };
      const answer = { action: "accept", content: { unit: "C" } };
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]));
      const { result } = await callModern(url, "asks", { inputResponses, requestState });
      if (result["resultType"] !== "complete")
        throw new Error(`Unexpected result: ${JSON.stringify(result)}`);
    },
  },
  { name: "a GET stream resumed with `Last-Event-ID`", prepare: prepareResume },
];

/** Registers the tools that the walks call. */
export function addTools(server: Server): void {
  const input = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
  server.tool("plain", { input }, ({ city }) => `Sunny in ${city as string}`);
  server.tool("asks", { input }, async ({ city }, ctx) => {
    const { unit } = await ctx.elicit("Which unit?", form);
    return `21 °${unit as string} in ${city as string}`;
  });
}

async function callModern(
  url: string,
  name: string,
  more: object,
): Promise<{ result: Record<string, unknown> }> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": modern,
    "io.modelcontextprotocol/clientInfo": client,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const params = { name, arguments: { city: "Kyiv" }, ...more, _meta };
  const headers = { "mcp-protocol-version": modern, "mcp-method": "tools/call", "mcp-name": name };
  const response = await post(url, { id: 1, method: "tools/call", params }, headers);
  return (await response.json()) as { result: Record<string, unknown> };
}

function post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
  const types = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return fetch(url, { method: "POST", headers: { ...types, ...headers }, body });
}

/** A session whose GET stream is lost after an event; the walk reads that event again. */
async function prepareResume(server: Server, url: string): Promise<() => Promise<void>> {
  resumed?.abort();
  const params = { protocolVersion: legacy, capabilities: {}, clientInfo: client };
  const opened = await post(url, { id: 1, method: "initialize", params });
  await opened.text();
  const headers = {
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": legacy,
  };
  await (await post(url, { method: "notifications/initialized" }, headers)).text();
  const first = await openStream(url, headers);
  const primed = await first.until(/^id: (.+)$/m);
  server.tool("new", {}, () => "").remove();
  await first.until(/list_changed/);
  first.abort();
  return async () => {
    resumed = await openStream(url, { ...headers, "last-event-id": primed[1] ?? "" });
    await resumed.until(/list_changed/);
  };
}

/** Stays open until the next run is made ready: that it ends is no part of its walk. */
let resumed: OpenStream | undefined;

interface OpenStream {
  abort(): void;
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

async function openStream(url: string, headers: Record<string, string>): Promise<OpenStream> {
  const aborting = new AbortController();
  const response = await fetch(url, {
    headers: { ...headers, accept: "text/event-stream" },
    signal: aborting.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    abort: () => aborting.abort(),
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found;
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`The stream ended without ${pattern}: ${text}`);
        text += value;
      }
    },
  };
}
