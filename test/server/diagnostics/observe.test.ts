// observe: every request, refusal, push, listener and failure as an event.
import { McpServer, ProtocolError } from "halyard";
import { expect, test } from "vitest";
import * as z from "zod";
import { call, makeServer, open, refusal, textOf } from "../../support/catalogue.ts";
import { ofType } from "../../support/events.ts";
import { recordingLogger } from "../../support/log.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("observe", {}, (cell) => {
  test("sees every request with its subject, outcome and duration", async () => {
    const { server, events } = makeServer();
    server.tool("t", { input: z.object({ n: z.number() }) }, () => "");
    server.tool("refuses", {}, () => {
      throw new ProtocolError(-31000, "no");
    });
    server.tool("fails", {}, () => ({ content: [], isError: true }));
    server.prompt("p", {}, () => "");
    server.resource("a:b", {}, () => "");
    const client = await open(cell, server);
    events.length = 0;
    await call(client, "t", { n: 1 });
    await refusal(call(client, "refuses"));
    await call(client, "fails");
    await client.request("prompts/get", { name: "p" });
    await client.request("resources/read", { uri: "a:b" });
    await client.request("tools/list");
    const requests = ofType(events, "request");
    expect(
      requests.map(({ method, name, outcome, errorCode }) => [method, name, outcome, errorCode]),
    ).toEqual([
      ["tools/call", "t", "ok", undefined],
      ["tools/call", "refuses", "error", -31000],
      ["tools/call", "fails", "error", undefined],
      ["prompts/get", "p", "ok", undefined],
      ["resources/read", "a:b", "ok", undefined],
      ["tools/list", undefined, "ok", undefined],
    ]);
    for (const { revision, transport, durationMs, session } of requests) {
      expect([revision, transport]).toEqual([cell.revision, cell.transport]);
      expect(durationMs).toBeGreaterThanOrEqual(0);
      expect(typeof session).toBe(cell.era === "legacy" ? "string" : "undefined");
    }
  });

  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "sees a call that was cancelled",
    async () => {
      const { server, events } = makeServer();
      server.tool(
        "slow",
        {},
        (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
      );
      const client = await open(cell, server);
      client.send({ jsonrpc: "2.0", id: "c", method: "tools/call", ...client.withMeta({ name: "slow" }) });
      client.notify("notifications/cancelled", { requestId: "c" });
      await expect.poll(() => ofType(events, "request").at(-1)?.outcome).toBe("cancelled");
    },
  );

  test("sees what was refused before it became a request", async () => {
    const { server, events } = makeServer();
    const client = await open(cell, server);
    events.length = 0;
    await refusal(client.request("no/such/method"));
    client.sendText("{");
    await expect.poll(() => ofType(events, "refusal").length).toBe(2);
    expect(ofType(events, "refusal").map(({ errorCode }) => errorCode)).toEqual([-32601, -32700]);
    for (const { reason, transport } of ofType(events, "refusal")) {
      expect(reason).toMatch(/\w/);
      expect(transport).toBe(cell.transport);
    }
    expect(ofType(events, "request")).toEqual([]);
  });

  test("sees listeners come and go, and what is pushed to them", async () => {
    const { server, events } = makeServer();
    server.tool("t", {}, () => "");
    server.resource("a:b", {}, () => "");
    const client = await cell.connect(server);
    if (cell.era === "modern") {
      const filter = { toolsListChanged: true };
      client.send({
        jsonrpc: "2.0",
        id: "l",
        method: "subscriptions/listen",
        ...client.withMeta({ notifications: filter }),
      });
    }
    const type = cell.era === "modern" ? "subscription" : "session";
    const [begun, ended] = cell.era === "modern" ? ["opened", "closed"] : ["made", "ended"];
    await expect
      .poll(() => ofType(events, type))
      .toMatchObject([{ state: begun, transport: cell.transport }]);
    events.length = 0;
    server.tools.get("t")?.update({ description: "x" });
    await expect
      .poll(() => ofType(events, "push"))
      .toMatchObject([{ notification: "notifications/tools/list_changed", delivered: 1 }]);
    await server.resources.updated("a:b");
    expect(ofType(events, "push").at(-1)).toMatchObject({
      notification: "notifications/resources/updated",
      key: "a:b",
      delivered: 0,
    });
    await client.close();
    await expect.poll(() => ofType(events, type)).toMatchObject([{ state: ended }]);
  });

  test("an observer that throws has no effect on others", async () => {
    const logger = recordingLogger();
    const observe = (): never => {
      throw new Error("observer");
    };
    const server = new McpServer({ name: "test", version: "1.0.0" }, { observe, logger });
    server.tool("t", {}, () => "fine");
    server.tool("fails", {}, () => {
      throw new Error("tool");
    });
    const client = await open(cell, server);
    expect(textOf(await call(client, "t"))).toBe("fine");
    expect(await call(client, "fails")).toMatchObject({ isError: true });
    expect((await refusal(client.request("no/such/method"))).code).toBe(-32601);
    server.tools.get("t")?.disable();
    expect((await refusal(call(client, "t"))).code).toBe(-32602);
  });

  test("a server without an observer works the same", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("t", {}, () => "fine");
    expect(textOf(await call(await open(cell, server), "t"))).toBe("fine");
  });
});
