// stats(): what an endpoint holds, whichever way it came in.
import { McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { eventually } from "../../support/turns.ts";

test("stats counts a client of the transport of 2024-11-05 as a session and a stream, while it is there", async () => {
  const http = await serveHttp(new McpServer({ name: "test", version: "1.0.0" }), {
    port: 0,
    legacySse: true,
  });
  try {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new SSEClientTransport(new URL("/sse", http.url)));
    expect(http.stats()).toMatchObject({ sessions: 1, streams: 1, subscriptions: 0 });
    await client.close();
    await eventually(() => expect(http.stats()).toMatchObject({ sessions: 0, streams: 0 }));
  } finally {
    await http.close();
  }
});
