// Answers requests of `node:http` with the site of a dashboard, each in its turn.
import { assertNodeHttp, NodeRequest } from "../../transports/node/edge.ts";
import { NodeResponder, turnOf } from "../../transports/node/responder.ts";
import type { Place, Site } from "../http/site.ts";
import type { NodeSiteHandler } from "./node-site-handler.ts";

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
