// Answers requests of `node:http` with the site of a dashboard, each in its turn.
import type { IncomingMessage, ServerResponse } from "node:http";
import { assertNodeHttp, NodeRequest } from "../../transports/node/edge.ts";
import { NodeResponder, turnOf } from "../../transports/node/responder.ts";
import type { Place, Site } from "../http/site.ts";

/** A handler for `node:http`. Its promise resolves when the request has been answered. */
export type NodeSiteHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function handlerOf(site: Site, place: Place, trustedProxies: () => number): NodeSiteHandler {
  return async (message, response) => {
    assertNodeHttp(message, response);
    const isOpen = await (turnOf(response) ?? true);
    if (!isOpen) return;
    // A framework that mounts the handler under a prefix keeps the whole URL here.
    const { originalUrl = message.url ?? "/" } = message as { originalUrl?: string };
    const request = new NodeRequest(message, originalUrl, trustedProxies());
    await site.handle(request, new NodeResponder(response, request, site.unsent), place);
  };
}
