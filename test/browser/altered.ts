// A server whose CORS headers are others than those of Halyard.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import type { HttpOptions } from "halyard/node";
import { onTestFinished } from "vitest";
import type { Site } from "../support/browser.ts";

/** The headers of replies that are replaced; undefined leaves one out. */
export type Altered = Readonly<Record<string, string | undefined>>;

/** Serves to the pages of the site, which may connect to it; `optionsAt` gets the URL. */
export async function serveAltered(
  server: McpServer,
  site: Site,
  altered: Altered,
  optionsAt: (url: string) => HttpOptions = () => ({}),
): Promise<{ readonly url: string }> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const handler = fetchHandler(server, { cors: { origins: [site.origin] }, ...optionsAt(url) });
  const listener = getRequestListener(async (request) => {
    const response = await handler(request);
    for (const [name, value] of Object.entries(altered)) {
      if (value === undefined) response.headers.delete(name);
      else if (response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  });
  http.on("request", (request, response) => void listener(request, response));
  onTestFinished(async () => {
    http.close();
    await handler.close();
    http.closeAllConnections();
  });
  site.connectTo = [...site.connectTo, origin];
  return { url };
}
