// A handler of `node:http` on a free port, until the test ends.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NodeHandler } from "halyard/node";
import { onTestFinished } from "vitest";

/** Resolves with the URL of the endpoint. */
export async function listening(handler: NodeHandler): Promise<string> {
  const http = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.close();
    await handler.close();
    http.closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}
