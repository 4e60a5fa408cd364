// A legacy client that opens its stream and then reads nothing of it.
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "halyard";
import type { HttpServer } from "halyard/node";
import type { Role } from "./clients.ts";

const revision = "2025-11-25";
/** How many messages wait once the connection takes no more. */
const waiting = 8;

/** Opens the session of a slow reader, and fills its queue. */
export async function openSlowReader(
  server: McpServer,
  { url, stats }: HttpServer,
  { name, version, address }: Pick<Role, "name" | "version" | "address">,
  signal: AbortSignal,
): Promise<void> {
  const headers = { "x-forwarded-for": address };
  const accept = "application/json, text/event-stream";
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name, version } };
  const post = (message: object, more: object = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { accept, "content-type": "application/json", ...headers, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const opened = await post({ id: 1, method: "initialize", params });
  await opened.text();
  const session = opened.headers.get("mcp-session-id") ?? "";
  const own = { "mcp-session-id": session, "mcp-protocol-version": revision };
  await (await post({ method: "notifications/initialized" }, own)).text();

  const get = request(url, { headers: { accept, ...headers, ...own }, agent: false }).end();
  const [{ socket }] = (await once(get, "response")) as [{ socket: Socket }];
  socket.pause();
  socket.on("error", () => {});
  const page = "A page of the manifest. ".repeat(2_000);
  const push = (): Promise<unknown> =>
    server.push.toSession(session, "notifications/message", { level: "info", data: page });
  while (stats().unsentBytes === 0) {
    await push();
    await sleep(1);
  }
  for (let count = 0; count < waiting; count++) await push();
  signal.addEventListener("abort", () => socket.destroy());
}
