// A question to a client that nobody can answer any more.
import { McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { expect, test } from "vitest";

const url = "http://localhost/mcp";
const clientInfo = { name: "test", version: "1.0.0" };
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

test("push.request fails at once when the stream that it was asked on ends for good", async () => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const handler = fetchHandler(server);
  const headers = { "content-type": "application/json" };
  const begun = await handler(
    new Request(url, { method: "POST", headers, body: JSON.stringify(initialize) }),
  );
  const session = begun.headers.get("mcp-session-id") ?? "";
  const named = { "mcp-session-id": session };
  await handler(new Request(url, { headers: { ...named, accept: "text/event-stream" } }));

  const asked = server.push.request(session, "ping");
  expect(await server.push.pendingAsks()).toBe(1);
  const refused = expect(asked).rejects.toMatchObject({ code: "ASK_FAILED" });
  await handler(new Request(url, { method: "DELETE", headers: named }));
  await refused;
  expect(await server.push.pendingAsks()).toBe(0);
  await expect(server.push.request(session, "ping")).rejects.toThrow("no stream open");
  await handler.close();
});
