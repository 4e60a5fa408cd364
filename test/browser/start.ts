// A server, a site of another origin with a client in its page, and a browser that shows it.
import type { McpServer } from "halyard";
import { type HttpServer, serveHttp, type ServeHttpOptions } from "halyard/node";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { openProfile, type Profile, serveSite, type Site } from "../support/browser.ts";
import type { Subject, SubjectOptions } from "./subject.ts";

declare global {
  /** The client of the page: only functions that a page evaluates have it. */
  var mcp: Subject;
}

/** The page with a client, and the one that a popup comes back to. */
export const pages: Readonly<Record<string, URL>> = {
  "/": new URL("fixtures/client.ts", import.meta.url),
  "/callback": new URL("fixtures/callback.ts", import.meta.url),
};

export interface Started {
  readonly http: HttpServer;
  readonly site: Site;
  readonly profile: Profile;
  /** A page of the site, without a connection. */
  readonly page: Page;
}

/** Serves `server` to the pages of a site of another origin, and opens one. */
export async function start(server: McpServer, options: ServeHttpOptions = {}): Promise<Started> {
  const site = await serveSite({ pages, connectTo: [] });
  const http = await serve(server, site, options);
  const profile = await openProfile();
  return { http, site, profile, page: await profile.open(site.origin) };
}

/** Serves `server` to the pages of the site, which may connect to it. */
export async function serve(
  server: McpServer,
  site: Site,
  options: ServeHttpOptions = {},
): Promise<HttpServer> {
  const http = await serveHttp(server, {
    port: 0,
    graceMs: 50,
    cors: { origins: [site.origin] },
    ...options,
  });
  onTestFinished(() => http.close());
  site.connectTo = [...site.connectTo, new URL(http.url).origin];
  return http;
}

/** Connects the client of a page; resolves with the revision. */
export function connectIn(
  page: Page,
  { url }: Pick<HttpServer, "url">,
  options: SubjectOptions = {},
): Promise<string> {
  return page.evaluate(([address, given]) => mcp.connect(address, given), [url, options] as const);
}
