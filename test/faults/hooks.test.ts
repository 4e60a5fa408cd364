// Author's hooks that fail must not fail what they watch.
import { type Logger, McpServer } from "halyard";
import { expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { listen, settled } from "../support/listen.ts";
import { describeMatrix } from "../support/matrix.ts";

describeMatrix("hooks that throw", {}, (cell) => {
  test("an observer that throws changes nothing for clients", async () => {
    const logger = recordingLogger();
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      {
        logger,
        observe: () => {
          throw new Error("observer");
        },
      },
    );
    server.tool("quick", {}, () => "done");
    server.tool("fail", {}, () => {
      throw new Error("handler");
    });
    const client = await cell.connect(server);
    expect(await client.request("tools/call", { name: "quick" })).toMatchObject({
      content: [{ text: "done" }],
    });
    expect(await client.request("tools/call", { name: "fail" })).toMatchObject({ isError: true });
    await expect(client.request("no/such/method")).rejects.toMatchObject({ code: -32601 });
    if (cell.era === "modern") await listen(client, { toolsListChanged: true }, "sub");
    server.tool("second", {}, () => "second");
    await settled(client);
    expect(client.notifications("notifications/tools/list_changed")).toHaveLength(1);
    await client.close();
  });

  test("a logger that throws changes nothing for clients", async () => {
    const fail = (): never => {
      throw new Error("logger");
    };
    const logger: Logger = { debug: fail, info: fail, warn: fail, error: fail };
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    server.onNotification(() => {
      throw new Error("handler");
    });
    server.tool("fail", {}, () => {
      throw new Error("handler");
    });
    const client = await cell.connect(server);
    client.notify("notifications/one");
    client.send({ jsonrpc: "2.0", id: "nobody asked", result: {} });
    expect(await client.request("tools/call", { name: "fail" })).toMatchObject({ isError: true });
    await settled(client);
    await client.close();
  });
});
