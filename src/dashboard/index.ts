/**
 * The dashboard: a page that shows the sessions, streams and calls of a server as they happen.
 *
 * @module
 */
import type { EndpointDashboard } from "../transports/fetch/index.ts";
import type { NodeDashboardHandler } from "./platform/node-dashboard-handler.ts";
import { OneDashboard } from "./dashboard.ts";
import { type DashboardOptions, resolveDashboardOptions } from "./options.ts";

export type { DashboardOptions } from "./options.ts";

/**
 * A dashboard, which you pass to one endpoint as the option `dashboard`. If the endpoint closes, you can pass it to another one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { type Dashboard, dashboard } from "halyard/dashboard";
 * import { serveHttp } from "halyard/node";
 *
 * const page: Dashboard = dashboard({ onOpen: () => {} });
 * const { close } = await serveHttp(new McpServer({ name: "demo", version: "1.0.0" }), { port: 0, dashboard: page });
 * console.log(`Open ${page.url}`);
 * await close();
 * ```
 */
export interface Dashboard extends EndpointDashboard {
  /**
   * The address of the page with its token, while `serveHttp` serves it. Everyone with this address sees everything on the page.
   */
  readonly url: string | undefined;
  /**
   * Serves the page to `node:http`, below the path where you mount it: in Express with `app.use("/dashboard", page.nodeHandler)`.
   * Throws without a `token`.
   */
  readonly nodeHandler: NodeDashboardHandler;
  /** Serves the page to web-standard requests. Throws without a `token`. */
  readonly fetchHandler: (request: Request) => Promise<Response>;
}

/**
 * Creates a dashboard. With `serveHttp`, it opens a port of its own on 127.0.0.1 and prints its address, which has a random token.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { dashboard } from "halyard/dashboard";
 * import { serveHttp } from "halyard/node";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const { close } = await serveHttp(server, { port: 0, dashboard: dashboard({ tryIt: true }) });
 * await close();
 * ```
 *
 * Pass a `token` to mount it yourself:
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { McpServer } from "halyard";
 * import { dashboard } from "halyard/dashboard";
 * import { nodeHandler } from "halyard/node";
 *
 * const page = dashboard({ token: process.env["DASHBOARD_TOKEN"] ?? crypto.randomUUID() });
 * const handler = nodeHandler(new McpServer({ name: "demo", version: "1.0.0" }), { dashboard: page });
 * const http = createServer((request, response) => {
 *   const isPage = request.url?.startsWith("/dashboard") ?? false;
 *   void (isPage ? page.nodeHandler(request, response) : handler(request, response));
 * }).listen(0, "127.0.0.1");
 * http.close();
 * await handler.close();
 * ```
 */
export function dashboard(options: DashboardOptions = {}): Dashboard {
  return new OneDashboard(resolveDashboardOptions(options));
}
