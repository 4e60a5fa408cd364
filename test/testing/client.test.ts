// A test client is the client of halyard/client, and sends what a test says without additions of its own.
import { McpServer } from "halyard";
import { RpcRejection as ClientRejection } from "halyard/client";
import { connect, protocolRevisions, RpcRejection, TestClient, type Wire } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";

/** A wire whose server responds to each request as told, and keeps what was sent. */
class KeptWire implements Wire {
  readonly sent: { id?: unknown; method?: string; params?: object }[] = [];
  onMessage: (text: string) => void = () => {};
  onClose: (reason: Error) => void = () => {};
  responses: object[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { id?: unknown });
    for (const response of this.responses) this.onMessage(JSON.stringify({ jsonrpc: "2.0", ...response }));
  }

  async close(): Promise<void> {}
}

test("an error response rejects with the same class as in halyard/client", () => {
  expect(RpcRejection).toBe(ClientRejection);
});

describe.each(protocolRevisions)("a test client of $date", ({ date, era }) => {
  test("sends a call as it is given, under the id that it is given", async () => {
    const wire = new KeptWire();
    const client = new TestClient(wire, { revision: date });
    wire.responses = [
      { id: "mine", result: { content: [], ...(era === "modern" && { resultType: "complete" }) } },
    ];
    await client.request("tools/call", { name: "hello" }, { id: "mine" });
    expect(wire.sent).toEqual([
      { jsonrpc: "2.0", id: "mine", method: "tools/call", ...client.withMeta({ name: "hello" }) },
    ]);
    expect(JSON.stringify(wire.sent)).not.toContain("progressToken");
  });

  test("sends nothing again, whatever the error", async () => {
    const wire = new KeptWire();
    const client = new TestClient(wire, { revision: date });
    const refusals = {
      "-32022": { supported: ["2025-11-25"], requested: date },
      "-32042": { elicitations: [] },
      "-32601": {},
    };
    for (const [key, data] of Object.entries(refusals)) {
      const code = Number(key);
      wire.responses = [{ id: code, error: { code, message: "no", data } }];
      await expect(client.request("ping", {}, { id: code })).rejects.toMatchObject({ code });
    }
    expect(wire.sent).toHaveLength(3);
  });

  test("takes an error without an id for the answer to a text of the test, not to its request", async () => {
    const server = new McpServer({ name: "demo", version: "1.0.0" });
    server.tool("hello", {}, () => "Hello");
    const client = await connect(server, { revision: date });
    onTestFinished(() => client.close());
    client.sendText("{");
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ name: "hello" }] });
    expect(client.received).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ code: -32700 }) as object }),
    );
  });

  test("continues after a handshake that failed", async () => {
    const server = new McpServer(
      { name: "modern", version: "1.0.0" },
      { supportedRevisions: ["2026-07-28"] },
    );
    const client = await connect(server, { revision: date, handshake: false });
    onTestFinished(() => client.close());
    if (era === "legacy") await expect(client.open()).rejects.toMatchObject({ code: -32022 });
    const outcome = client.request("ping");
    await expect(outcome).rejects.toBeInstanceOf(RpcRejection);
  });
});
