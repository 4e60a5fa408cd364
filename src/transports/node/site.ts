// Pages of your own on `node:http`.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Site, SiteServer } from "../http/site.ts";
import { assertNodeHttp, NodeRequest } from "./edge.ts";
import { NodeResponder, turnOf } from "./responder.ts";

/** A handler for `node:http`. Its promise resolves when the request has been answered. */
export type NodeSiteHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Returns a handler for pages of your own, such as a dashboard, behind a guard like that of an endpoint.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { nodeSite } from "halyard/node";
 *
 * const handler = nodeSite({
 *   name: "Status",
 *   allowedHosts: [],
 *   allowedHostsOf: "nodeSite()",
 *   headers: () => ({ "cache-control": "no-store" }),
 *   answer: ({ path }) => (path === "/" ? { status: 200, text: "up" } : { status: 404, problem: "Not found" }),
 * });
 * createServer(handler).listen(0, "127.0.0.1").close();
 * ```
 */
export function nodeSite(site: Site): NodeSiteHandler {
  const server = new SiteServer(site);
  return async (message, response) => {
    assertNodeHttp(message, response);
    const isOpen = await (turnOf(response) ?? true);
    if (!isOpen) return;
    // A framework that mounts the handler under a prefix keeps the whole URL here.
    const { originalUrl = message.url ?? "/" } = message as { originalUrl?: string };
    const request = new NodeRequest(message, originalUrl, server.trustedProxies);
    await server.handle(request, new NodeResponder(response, request, server.unsent));
  };
}
