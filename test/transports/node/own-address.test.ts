// serveHttp: clients reach it under the address that it says it is at.
import { McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import { expect, test } from "vitest";

// Only Linux has every address of 127.0.0.0/8 without further ado.
const addresses = process.platform === "linux" ? ["127.0.0.1", "localhost", "127.0.0.2"] : ["127.0.0.1"];

test.each(addresses)("serveHttp on the loopback address %s answers at its own URL", async (host) => {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { mode: "stateless" });
  const { url, close } = await serveHttp(server, { port: 0, host });
  try {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 1, result: {} });
  } finally {
    await close();
  }
});
