// ping: answered in the legacy era, gone in the modern one.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("ping", { eras: ["legacy"] }, (cell) => {
  test("ping is answered with an empty result [PING-RESPOND]", async () => {
    const client = await cell.connect(new McpServer({ name: "test", version: "1.0.0" }));
    expect(await client.request("ping")).toEqual({});
    await client.close();
  });
});

describeMatrix("ping", { eras: ["modern"] }, (cell) => {
  test("ping is an unknown method [PING-REMOVED]", async () => {
    const client = await cell.connect(new McpServer({ name: "test", version: "1.0.0" }));
    await expect(client.request("ping")).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });
});
