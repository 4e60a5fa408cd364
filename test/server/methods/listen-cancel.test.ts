// Cancelling a subscription takes effect at once, also for what the client sends in the same breath.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("subscriptions/listen", { eras: ["modern"] }, (cell) => {
  test("a cancelled subscription is told nothing of the request that follows the cancellation [SUB-CANCEL-SERVER-STOP]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("touch", {}, async () => `told ${await server.resources.updated("note:///a")}`);
    server.resource("note:///a", {}, () => "A");
    const client = await cell.connect(server);
    const listening = { notifications: { resourceSubscriptions: ["note:///a"] } };
    client.send({
      jsonrpc: "2.0",
      id: "watch",
      method: "subscriptions/listen",
      ...client.withMeta(listening),
    });
    await client.waitFor((message) => "method" in message && message.method.endsWith("/acknowledged"));

    client.notify("notifications/cancelled", { requestId: "watch" });
    const { content } = await client.request("tools/call", { name: "touch" });

    expect(content).toEqual([{ type: "text", text: "told 0" }]);
    expect(client.notifications("notifications/resources/updated")).toEqual([]);
    await client.close();
  });
});
