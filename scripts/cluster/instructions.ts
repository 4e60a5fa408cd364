// What `npm run cluster` prints: where everything is, and commands to try.
interface Process {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

const headers = "-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'";

/** A request of 2026-07-28 as a command. */
function modern(
  url: string,
  method: string,
  params: { readonly name?: string; readonly [name: string]: unknown },
): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const named = params.name === undefined ? "" : ` -H 'Mcp-Name: ${params.name}'`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  return `curl -sN ${url} ${headers} -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: ${method}'${named} -d '${body}'`;
}

/** A message of a session of 2025-11-25 as a command. */
function legacy(url: string, message: object): string {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return `curl -sN ${url} ${headers} -H "Mcp-Session-Id: $SESSION" -d '${body}'`;
}

export function instructions(url: string, engine: string, nodes: readonly Process[]): string {
  const clientInfo = { name: "curl", version: "1.0.0" };
  const initialize = {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  };
  const call = (id: number, name: string, args: object): object => ({
    id,
    method: "tools/call",
    params: { name, arguments: args },
  });
  return `
Three nodes on ${engine} listen behind ${url}; each request goes to the next. Press Ctrl+C to stop them.
${nodes.map(({ name, url: own, pid }) => `  node ${name}: ${own}, process ${pid}`).join("\n")}

Call a tool several times, and see another node respond each time:

${modern(url, "tools/call", { name: "count", arguments: {} })}

Begin a session, and open its stream; leave it running:

SESSION=$(${legacy(url, initialize).replace(' -H "Mcp-Session-Id: $SESSION"', " -o /dev/null -D -")} | sed -n 's/^mcp-session-id: *//Ip' | tr -d '\\r'); echo "SESSION=$SESSION"
${legacy(url, { method: "notifications/initialized" })}
curl -sN ${url} -H 'Accept: text/event-stream' -H "Mcp-Session-Id: $SESSION"

In a second terminal, set SESSION to the same id. Then let a node push a number every second to that stream, wherever it is:

${legacy(url, call(2, "tick", { times: 60, everyMs: 1000 }))}

Kill the node that has the stream (kill -9 and its process above), and resume it elsewhere from the last id that you saw:

curl -sN ${url} -H 'Accept: text/event-stream' -H "Mcp-Session-Id: $SESSION" -H 'Last-Event-ID: …'

Or see all that at once: npm run cluster -- --kill
`;
}
