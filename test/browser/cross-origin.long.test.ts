// Servers that do not let pages of other origins do all that a client needs: it says what to change.
import type { ConnectOptions } from "halyard/client";
import { describe, expect, test } from "vitest";
import { hasBrowser, openProfile, serveSite } from "../support/browser.ts";
import { httpServer } from "../support/http-server.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { type Altered, serveAltered } from "./altered.ts";
import { connectIn, pages } from "./start.ts";

const allow = "access-control-allow-headers";
const expose = "access-control-expose-headers";

interface Row {
  readonly name: string;
  readonly altered: Altered;
  readonly options?: ConnectOptions;
  /** What the error says. */
  readonly says: RegExp;
}

const rows: readonly Row[] = [
  {
    name: "sends no CORS header at all",
    altered: { "access-control-allow-origin": undefined, [allow]: undefined, [expose]: undefined },
    says: /Access-Control-Allow-Origin: http:\/\/localhost:\d+/,
  },
  {
    name: "does not allow the headers of modern requests, where those must be modern",
    altered: { [allow]: "content-type, accept, mcp-session-id, mcp-protocol-version" },
    options: { revision: newestModern },
    says: /Access-Control-Allow-Headers: .*mcp-method/,
  },
  {
    name: "does not allow a header of yours",
    altered: {},
    options: { headers: { "x-team": "blue" } },
    says: /Access-Control-Allow-Headers: .*x-team/,
  },
  {
    name: "does not allow the header of a token",
    altered: { [allow]: "content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name" },
    options: { auth: "token" },
    says: /Access-Control-Allow-Headers: .*authorization/,
  },
  {
    name: "does not expose the id of a session",
    altered: { [expose]: undefined },
    options: { revision: newestLegacy },
    says: /Access-Control-Expose-Headers: Mcp-Session-Id/,
  },
];

describe.skipIf(!hasBrowser)("connect to a server of another origin", () => {
  test.each(rows)("that $name says what to change", async ({ altered, options = {}, says }) => {
    const site = await serveSite({ pages, connectTo: [] });
    const server = await serveAltered(httpServer().server, site, altered);
    const profile = await openProfile();
    const page = await profile.open(site.origin);
    const error = await connectIn(page, server, options).catch((reason: unknown) => String(reason));
    expect(error).toMatch(says);
  });

  test("that allows legacy headers only succeeds, as a legacy client", async () => {
    const site = await serveSite({ pages, connectTo: [] });
    const altered = { [allow]: "content-type, accept, mcp-session-id, mcp-protocol-version" };
    const server = await serveAltered(httpServer().server, site, altered);
    const profile = await openProfile();
    const page = await profile.open(site.origin);
    expect(await connectIn(page, server)).toBe(newestLegacy);
  });

  test("that the policy of the page forbids says so", async () => {
    const site = await serveSite({ pages, connectTo: [] });
    const server = await serveAltered(httpServer().server, site, {});
    site.connectTo = [];
    const profile = await openProfile();
    const page = await profile.open(site.origin);
    const error = await connectIn(page, server).catch((reason: unknown) => String(reason));
    expect(error).toMatch(/connect-src/);
    expect((await profile.takeViolations(1))[0]).toBe(`connect-src ${server.url}`);
  });
});
