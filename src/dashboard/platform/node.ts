// The platform of Node, Bun and Deno: a server on loopback, and handlers for `node:http`.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { HalyardError } from "../../base/errors.ts";
import { nodeSite, type Site } from "../../transports/node/index.ts";
import type { DashboardPlatform, OwnPort } from "./platform.ts";

export const platform: DashboardPlatform = {
  listen,
  hostName: hostname,
  nodeHandler: nodeSite,
};

const host = "127.0.0.1";
/** Connections to its own port. The tabs of a few people have fewer. Past it, the dashboard closes the connection. */
const maxConnections = 128;

async function listen(port: number, site: Site): Promise<OwnPort> {
  const handler = nodeSite(site);
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 2000,
      // Without this, Node uses the first of two Host or Authorization headers.
      joinDuplicateHeaders: true,
    },
    (request, response) => void handler(request, response),
  );
  server.maxConnections = maxConnections;
  await opened(server, port);
  // The endpoint keeps the process running, and the dashboard ends with it.
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function opened(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const problem =
        cause.code === "EADDRINUSE"
          ? "it is in use. Stop the other process, or pass"
          : `${cause.message}. Pass`;
      const remedy = "another port to dashboard(), or 0 for any free one";
      reject(
        new HalyardError(
          "CANNOT_LISTEN",
          `The dashboard cannot listen on ${host}:${port}: ${problem} ${remedy}`,
          { cause },
        ),
      );
    });
    server.listen(port, host, resolve);
  });
}
