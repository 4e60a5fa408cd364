// What clients say without being answered, and the handlers that hear it.
import { McpServer } from "halyard";
import { expect, onTestFinished, test, vi } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";

function quietServer(): { server: McpServer; logger: ReturnType<typeof recordingLogger> } {
  const logger = recordingLogger();
  return { server: new McpServer({ name: "test", version: "1.0.0" }, { logger }), logger };
}

describeMatrix("onNotification", {}, (cell) => {
  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "hears every notification with its parameters and who sent it",
    async () => {
      const { server } = quietServer();
      const heard: unknown[] = [];
      server.onNotification((method, params, from) => void heard.push([method, params, from.transport]));
      const client = await cell.connect(server);
      client.notify("notifications/com.example/hello", { a: 1 });
      client.notify("notifications/unknown");
      client.notify("notifications/cancelled", { requestId: "nobody" });
      await settled(client);
      const handshake = cell.era === "legacy" ? [["notifications/initialized", {}, cell.transport]] : [];
      expect(heard).toEqual([
        ...handshake,
        ["notifications/com.example/hello", { a: 1 }, cell.transport],
        ["notifications/unknown", {}, cell.transport],
        ["notifications/cancelled", { requestId: "nobody" }, cell.transport],
      ]);
      await client.close();
    },
  );

  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "hears which revision its client speaks, and what it is and can do",
    async () => {
      const { server } = quietServer();
      const heard: unknown[] = [];
      server.onNotification((method, _, { revision, client, clientCapabilities }) => {
        if (method === "acme/hello") heard.push({ revision, client, clientCapabilities });
      });
      const capabilities = { roots: { listChanged: true } };
      const client = await cell.connect(server, { capabilities });
      client.notify("acme/hello", cell.era === "modern" ? client.withMeta().params : undefined);
      await settled(client);
      const info = { name: "test-client", version: "1.0.0" };
      expect(heard).toEqual([{ revision: cell.revision, client: info, clientCapabilities: capabilities }]);
      await client.close();
    },
  );

  test("that throws or rejects is logged, and nothing is answered [BASE-NOTIF-NO-REPLY]", async () => {
    const { server, logger } = quietServer();
    const client = await cell.connect(server);
    await settled(client);
    let calls = 0;
    server.onNotification(() => {
      if (++calls === 1) throw new Error("thrown");
      return Promise.reject(new Error("rejected"));
    });
    const before = client.received.length;
    client.notify("notifications/one");
    client.notify("notifications/two");
    await settled(client);
    expect(client.received).toHaveLength(before + 1);
    const errors = logger.entries.filter(({ level }) => level === "error");
    expect(errors.map(({ details }) => details?.["error"])).toEqual([
      new Error("thrown"),
      new Error("rejected"),
    ]);
    await client.close();
  });

  test("that never ends holds nothing up", async () => {
    const { server } = quietServer();
    server.onNotification(() => new Promise(() => {}));
    server.tool("quick", {}, () => "done");
    const client = await cell.connect(server);
    client.notify("notifications/one");
    expect(await client.request("tools/call", { name: "quick" })).toMatchObject({
      content: [{ text: "done" }],
    });
    // The end waits for replies, not for what is never answered: on a pipe with its time standing still it would wait for ever.
    if (cell.transport !== "http") vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await client.close();
  });

  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "hears of a cancellation that has taken effect all the same",
    async () => {
      const { server } = quietServer();
      const aborted: boolean[] = [];
      server.tool("slow", {}, (_, ctx) => {
        server.onNotification((method) => {
          if (method === "notifications/cancelled") aborted.push(ctx.signal.aborted);
        });
        return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("late")));
      });
      const client = await cell.connect(server);
      client.send({ jsonrpc: "2.0", id: "c1", method: "tools/call", ...client.withMeta({ name: "slow" }) });
      await settled(client);
      client.notify("notifications/cancelled", { requestId: "c1" });
      await settled(client);
      expect(aborted).toEqual([true]);
      await client.close();
    },
  );

  test("without a handler, an unknown one is dropped in silence [BASE-NOTIF-NO-REPLY]", async () => {
    const { server, logger } = quietServer();
    const client = await cell.connect(server);
    await settled(client);
    const before = client.received.length;
    client.notify("notifications/unknown", { a: 1 });
    client.notify("no/notification/at/all");
    client.notify("tools/call", { name: "nothing" });
    await settled(client);
    expect(client.received).toHaveLength(before + 1);
    expect(logger.entries.filter(({ level }) => level === "error")).toEqual([]);
    await client.close();
  });
});

describeMatrix("onRootsChanged", { eras: ["legacy"] }, (cell) => {
  test("is called with the session that said so, and for nothing else", async () => {
    const { server } = quietServer();
    server.tool("whoami", {}, (_, ctx) => ctx.session ?? "nobody");
    const sessions: unknown[] = [];
    server.onRootsChanged((from) => void sessions.push(from.session));
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    one.notify("notifications/roots/list_changed");
    two.notify("notifications/other");
    await settled(one);
    await settled(two);
    const { content } = await one.request("tools/call", { name: "whoami" });
    expect(sessions).toEqual([(content as { text: string }[])[0]?.text]);
    await one.close();
    await two.close();
  });

  test("that throws or rejects is logged, and nothing is answered [BASE-NOTIF-NO-REPLY]", async () => {
    const { server, logger } = quietServer();
    let calls = 0;
    server.onRootsChanged(() => {
      if (++calls === 1) throw new Error("thrown");
      return Promise.reject(new Error("rejected"));
    });
    const client = await cell.connect(server);
    const before = client.received.length;
    client.notify("notifications/roots/list_changed");
    client.notify("notifications/roots/list_changed");
    await settled(client);
    expect(client.received).toHaveLength(before + 1);
    expect(logger.entries.filter(({ level }) => level === "error")).toHaveLength(2);
    await client.close();
  });

  test("is called even when onNotification fails or never ends", async () => {
    const { server } = quietServer();
    let called = 0;
    server.onRootsChanged(() => void called++);
    const client = await cell.connect(server);
    server.onNotification(() => {
      throw new Error("thrown");
    });
    client.notify("notifications/roots/list_changed");
    await settled(client);
    expect(called).toBe(1);
    server.onNotification(() => new Promise(() => {}));
    client.notify("notifications/roots/list_changed");
    await settled(client);
    expect(called).toBe(2);
    await client.close();
  });
});

describeMatrix("onInitialized", {}, (cell) => {
  test("hears of each legacy client once, however often it says so, and of no modern one", async () => {
    const { server } = quietServer();
    const heard: unknown[] = [];
    server.onInitialized(({ session, revision, client, clientCapabilities, transport }) => {
      heard.push([typeof session, revision, client?.name, clientCapabilities, transport]);
    });
    const client = await cell.connect(server, { capabilities: { sampling: {} } });
    client.notify("notifications/initialized");
    await settled(client);
    const one = ["string", cell.revision, "test-client", { sampling: {} }, cell.transport];
    expect(heard).toEqual(cell.era === "legacy" ? [one] : []);
    await client.close();
  });

  test("that throws is logged", async () => {
    const { server, logger } = quietServer();
    server.onInitialized(() => {
      throw new Error("boom");
    });
    const client = await cell.connect(server);
    await settled(client);
    expect(logger.entries).toHaveLength(cell.era === "legacy" ? 1 : 0);
    await client.close();
  });
});
