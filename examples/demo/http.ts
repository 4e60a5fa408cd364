// Serves the notebook over HTTP with a dashboard, and prints commands that call it.
import { parseArgs } from "node:util";
import { HalyardError } from "halyard";
import { dashboard } from "halyard/dashboard";
import { type HttpServer, serveHttp } from "halyard/node";
import { createDemoServer } from "./server.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "3000" } } });
const page = dashboard({ tryIt: true, onOpen: () => {} });
const { url } = await serve(Number(values.port));

console.log(`The notebook listens on ${url}. Press Ctrl+C to stop it.

1. Open its dashboard in your browser. Under Try it, call a tool:

${page.url}

2. Or call one in a second terminal. The call appears under Now:

${curl("tools/call", { name: "search_notes", arguments: { query: "lemon" } })}

3. Subscribe to changes. Under Sessions, click curl to follow it; then, under Try it, write the note groceries:

${curl("subscriptions/listen", { notifications: { toolsListChanged: true, resourceSubscriptions: ["note:///groceries"] } })}
`);

/** If the port is in use, prints one line instead of a stack. */
async function serve(port: number): Promise<HttpServer> {
  try {
    return await serveHttp(createDemoServer(), { port, dashboard: page });
  } catch (error) {
    console.error(error instanceof HalyardError ? error.message : error);
    process.exit(1);
  }
}

/** The command that sends a request of the newest revision. */
function curl(method: string, params: { readonly name?: string; readonly [name: string]: unknown }): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "curl", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = [
    "Content-Type: application/json",
    "MCP-Protocol-Version: 2026-07-28",
    `Mcp-Method: ${method}`,
    ...(params.name === undefined ? [] : [`Mcp-Name: ${params.name}`]),
  ];
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
  const options = [...headers.map((header) => `-H '${header}'`), `-d '${JSON.stringify(body)}'`];
  return [`curl -sN ${url}`, ...options].join(" \\\n  ");
}
