// Pages of your own for web-standard requests.
import { type Site, SiteServer } from "../http/site.ts";
import { FetchRequest, FetchResponder } from "./edge.ts";

/** Responds to web-standard requests. */
export type FetchSiteHandler = (request: Request) => Promise<Response>;

/**
 * Returns a handler for pages of your own, such as a dashboard, behind a guard like that of an endpoint.
 *
 * @example
 * ```ts
 * import { fetchSite } from "halyard/fetch";
 *
 * const handler = fetchSite({
 *   name: "Status",
 *   allowedHosts: [],
 *   allowedHostsOf: "fetchSite()",
 *   headers: () => ({ "cache-control": "no-store" }),
 *   answer: () => ({ status: 200, text: "up" }),
 * });
 * const response = await handler(new Request("http://localhost/"));
 * console.log(await response.text());
 * ```
 */
export function fetchSite(site: Site): FetchSiteHandler {
  const server = new SiteServer(site);
  return (message) => {
    const request = new FetchRequest(message, server.trustedProxies);
    const responder = new FetchResponder(message.signal, request, server.unsent);
    void server.handle(request, responder);
    return responder.response;
  };
}
