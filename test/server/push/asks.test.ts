// Questions to clients that can no longer be answered.
import { McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { describe, expect, test } from "vitest";
import { PipePeer } from "../../support/pipe.ts";

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
  await expect(server.push.request(session, "ping")).rejects.toThrow("no open stream");
  await handler.close();
});

describe("an answer that is none", () => {
  const rows: readonly [name: string, answer: object][] = [
    ["a result that is no object", { result: 5 }],
    ["a result that is null", { result: null }],
    ["an error that is null", { error: null }],
    ["an error without a message", { error: { code: 1 } }],
    ["an error whose message is an object", { error: { code: 1, message: { toString: 1 } } }],
  ];

  test.each(rows)("to push.request with %s rejects it, and the pipe continues", async (_, answer) => {
    const { peer, asked, id } = await asking();
    peer.client.send({ jsonrpc: "2.0", id, ...answer });
    await expect(asked).rejects.toMatchObject({ code: "ASK_FAILED" });
    expect(await peer.client.request("ping")).toEqual({});
    await peer.pipe.end(0);
  });

  test.each<{ wrong: unknown }>([{ toString: "x" }, {}, [], null, 1, true].map((wrong) => ({ wrong })))(
    "to push.request under the id $wrong answers nothing, and the pipe continues",
    async ({ wrong }) => {
      const { peer, asked, id } = await asking();
      peer.client.send({ jsonrpc: "2.0", id: wrong, result: {} });
      peer.client.send({ jsonrpc: "2.0", id: [id], result: {} });
      expect(await peer.client.request("ping")).toEqual({});
      peer.client.send({ jsonrpc: "2.0", id, result: { mine: true } });
      expect(await asked).toEqual({ mine: true });
      await peer.pipe.end(0);
    },
  );
});

/** A client that is being asked something. */
async function asking(): Promise<{ peer: PipePeer; asked: Promise<unknown>; id: unknown }> {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const peer = new PipePeer(server, { revision: "2025-11-25" });
  await peer.client.open();
  const asked = server.push.request(peer.pipe.connection.session ?? "", "roots/list");
  asked.catch(() => {});
  const question = await peer.client.waitFor((it) => "method" in it && it.method === "roots/list");
  return { peer, asked, id: (question as { id?: unknown }).id };
}
