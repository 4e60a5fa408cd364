// Cached pages of lists: a client that makes up cursors cannot fill the memory with pages that overlap.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { connect } from "halyard/testing";
import { expect, test } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import { newestModern } from "../../support/revisions.ts";

test("a list keeps the pages that it names itself, not one for every cursor that a client makes up", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const { server } = makeServer();
  for (let at = 0; at < 1500; at++) server.tool(`t${at}`, { description: "x".repeat(500) }, () => "");
  const client = await connect(server, { revision: newestModern });
  const { nextCursor } = await client.request("tools/list", {});
  const decoded = Buffer.from(String(nextCursor), "base64url").toString();
  const before = heap();
  for (let at = 1; at <= 100; at++) {
    const cursor = Buffer.from(decoded.replace(/\d+/, String(at))).toString("base64url");
    // The test client would keep what it receives.
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": newestModern,
      "io.modelcontextprotocol/clientInfo": { name: "forger", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const request = { jsonrpc: "2.0", id: at, method: "tools/list", params: { cursor, _meta } };
    expect(await server.handleRaw(JSON.stringify(request))).toContain(`"name":"t${at}"`);
  }
  // One page of these takes more than half a megabyte.
  expect(heap() - before).toBeLessThan(20);
  await client.close();
});
