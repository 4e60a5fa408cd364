// notifications/cancelled: what it stops, and what it leaves alone.
import { McpServer, type RequestId } from "halyard";
import { Connection } from "halyard/transport";
import type { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { PipePeer } from "../../support/pipe.ts";
import { deferred, nextTurn } from "../../support/turns.ts";

interface Slow {
  readonly server: McpServer;
  readonly started: Promise<void>;
  readonly finish: () => void;
  readonly reasons: string[];
  readonly logger: ReturnType<typeof recordingLogger>;
}

/** A server with one tool that ignores its signal and runs until the test finishes it. */
function slowServer(): Slow {
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
  const [started, gate] = [deferred(), deferred()];
  const reasons: string[] = [];
  server.tool("slow", {}, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => reasons.push((ctx.signal.reason as Error).message));
    started.resolve();
    await gate.promise;
    ctx.progress(2);
    ctx.log("emergency", "late");
    return "done";
  });
  return { server, started: started.promise, finish: gate.resolve, reasons, logger };
}

function call(client: TestClient, id: RequestId, name = "slow"): void {
  const _meta = { progressToken: "t", "io.modelcontextprotocol/logLevel": "debug" };
  client.send({ jsonrpc: "2.0", id, method: "tools/call", ...client.withMeta({ name, _meta }) });
}

function repliesTo(client: TestClient, id: RequestId): unknown[] {
  return client.received.filter((message) => "id" in message && message.id === id);
}

describeMatrix("cancellation", {}, (cell) => {
  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "a cancelled call sees its signal abort, and nothing more is sent for it [CANCEL-RECEIVER, STDIO-MODERN-CANCEL-SILENT, STDIO-MODERN-CANCEL-STOP]",
    async () => {
      const { server, started, finish, reasons } = slowServer();
      const client = await cell.connect(server);
      call(client, "c1");
      await started;
      client.notify("notifications/cancelled", { requestId: "c1", reason: "Changed my mind" });
      await settled(client);
      expect(reasons).toEqual(["Changed my mind"]);
      finish();
      await nextTurn();
      await settled(client);
      expect(repliesTo(client, "c1")).toEqual([]);
      expect(client.notifications("notifications/progress")).toEqual([]);
      expect(client.notifications("notifications/message")).toEqual([]);
      await client.close();
    },
  );

  test("a handler that rejects because of its signal sends nothing and logs no error [CANCEL-RECEIVER]", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    const started = deferred();
    server.tool("slow", {}, (_, ctx) => {
      started.resolve();
      return new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error));
      });
    });
    const client = await cell.connect(server);
    call(client, "c1");
    await started.promise;
    client.notify("notifications/cancelled", { requestId: "c1" });
    await settled(client);
    expect(repliesTo(client, "c1")).toEqual([]);
    expect(logger.entries.filter(({ level }) => level === "error")).toEqual([]);
    await client.close();
  });

  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "a signal that is first read after the cancellation is aborted already",
    async () => {
      const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
      const [started, gate, seen] = [deferred(), deferred(), deferred<AbortSignal>()];
      server.tool("slow", {}, async (_, ctx) => {
        started.resolve();
        await gate.promise;
        seen.resolve(ctx.signal);
        return "done";
      });
      const client = await cell.connect(server);
      call(client, "c1");
      await started.promise;
      client.notify("notifications/cancelled", { requestId: "c1", reason: "Too late" });
      await settled(client);
      gate.resolve();
      const signal = await seen.promise;
      expect(signal.aborted).toBe(true);
      expect((signal.reason as Error).name).toBe("AbortError");
      expect((signal.reason as Error).message).toBe("Too late");
      await client.close();
    },
  );

  test("a cancellation after the end is harmless, and so is one of an unknown id [CANCEL-RACE, CANCEL-INVALID-IGNORE, CANCEL-IGNORE]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("quick", {}, () => "done");
    const client = await cell.connect(server);
    await client.request("tools/call", { name: "quick" }, { id: "c1" });
    client.notify("notifications/cancelled", { requestId: "c1" });
    client.notify("notifications/cancelled", { requestId: "never" });
    client.notify("notifications/cancelled", { requestId: 99_999 });
    const before = client.received.length;
    await settled(client);
    expect(client.received).toHaveLength(before + 1);
    expect(await client.request("tools/call", { name: "quick" }, { id: "c1" })).toMatchObject({
      content: [{ text: "done" }],
    });
    await client.close();
  });

  const malformed: [string, unknown][] = [
    ["no parameters", undefined],
    ["no id", {}],
    ["a null id", { requestId: null }],
    ["an id that is an object", { requestId: { id: "c1" } }],
    ["an id in a list", { requestId: ["c1"] }],
    ["a fraction", { requestId: 1.5 }],
    ["a boolean", { requestId: true }],
    ["parameters that are a list", ["c1"]],
    ["parameters that are a string", "c1"],
  ];
  test.each(malformed)(
    "a malformed cancellation is ignored in silence: %s [CANCEL-INVALID-IGNORE, BASE-NOTIF-NO-REPLY]",
    async (_, params) => {
      const { server, started, finish, reasons } = slowServer();
      const client = await cell.connect(server);
      call(client, "c1");
      await started;
      const before = client.received.length;
      client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      await settled(client);
      expect(client.received.slice(before)).toHaveLength(1);
      finish();
      await client.waitFor((message) => "id" in message && message.id === "c1");
      expect(reasons).toEqual([]);
      await client.close();
    },
  );

  test("an id is the number or the string it is: the other kind cancels nothing [CANCEL-INVALID-IGNORE]", async () => {
    const { server, started, finish, reasons } = slowServer();
    const client = await cell.connect(server);
    call(client, 500);
    await started;
    client.notify("notifications/cancelled", { requestId: "500" });
    await settled(client);
    finish();
    await client.waitFor((message) => "id" in message && message.id === 500);
    expect(reasons).toEqual([]);
    await client.close();
  });

  test
    .skipIf(cell.transport === "http" && cell.era === "modern")
    .each<[RequestId]>([[0], [""], [-1], ["a b"]])(
    "a call with the id %j can be cancelled [CANCEL-RECEIVER]",
    async (id) => {
      const { server, started, finish, reasons } = slowServer();
      const client = await cell.connect(server);
      call(client, id);
      await started;
      client.notify("notifications/cancelled", { requestId: id });
      await settled(client);
      finish();
      await settled(client);
      expect(reasons).toEqual(["Cancelled by the client"]);
      expect(repliesTo(client, id)).toEqual([]);
      await client.close();
    },
  );

  test.skipIf(cell.transport === "http" && cell.era === "modern")(
    "the reason of a cancellation is logged [CANCEL-LOG-UI]",
    async () => {
      const { server, started, finish, logger } = slowServer();
      const client = await cell.connect(server);
      call(client, "c1");
      await started;
      client.notify("notifications/cancelled", { requestId: "c1", reason: "Changed my mind" });
      await settled(client);
      const details = logger.entries.map((entry) => entry.details?.["reason"]);
      expect(details).toContain("Changed my mind");
      finish();
      await client.close();
    },
  );

  test("the other calls of the client continue", async () => {
    const { server, started, finish } = slowServer();
    const client = await cell.connect(server);
    call(client, "stays");
    call(client, "goes");
    await started;
    client.notify("notifications/cancelled", { requestId: "goes" });
    await settled(client);
    finish();
    await client.waitFor((message) => "id" in message && message.id === "stays");
    await settled(client);
    expect(repliesTo(client, "goes")).toEqual([]);
    await client.close();
  });

  test.skipIf(cell.transport === "http")("calls that never look at their signal are given none", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const client = await cell.connect(server);
    const { AbortController: Original } = globalThis;
    let made = 0;
    globalThis.AbortController = class extends Original {
      constructor() {
        super();
        made++;
      }
    };
    try {
      server.tool("quick", {}, () => "done");
      server.tool("looks", {}, (_, ctx) => String(ctx.signal.aborted));
      await client.request("tools/call", { name: "quick" });
      expect(made).toBe(0);
      await client.request("tools/call", { name: "looks" });
      expect(made).toBe(1);
      await client.close();
    } finally {
      globalThis.AbortController = Original;
    }
  });
});

describeMatrix("cancellation", { eras: ["legacy"] }, (cell) => {
  test("initialize cannot be cancelled: the connection opens all the same [CANCEL-IGNORE]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("quick", {}, () => "done");
    server.use(async (_request, _ctx, next) => {
      await nextTurn();
      return next();
    });
    const client = await cell.connect(server, { handshake: false });
    const params = {
      protocolVersion: cell.revision,
      capabilities: {},
      clientInfo: { name: "c", version: "1.0.0" },
    };
    const opening = client.request("initialize", params, { id: "init" });
    client.notify("notifications/cancelled", { requestId: "init" });
    expect(await opening).toMatchObject({ protocolVersion: cell.revision });
    client.notify("notifications/initialized");
    expect(await client.request("tools/call", { name: "quick" })).toMatchObject({
      content: [{ text: "done" }],
    });
    await client.close();
  });
});

describe("cancellation where ids need not be unique", () => {
  test("an id that two calls share cancels neither, and the log says so", async () => {
    const { server, finish, reasons, logger } = slowServer();
    // A transport with a reply stream for each request, such as HTTP: the same id may be in use twice.
    const connection = new Connection({ transport: "test" });
    const { client } = new PipePeer(server);
    const request = {
      jsonrpc: "2.0" as const,
      id: "same",
      method: "tools/call",
      ...client.withMeta({ name: "slow" }),
    };
    const first = server.handle(request, { connection });
    const second = server.handle(request, { connection });
    await nextTurn();
    const cancelled = {
      jsonrpc: "2.0" as const,
      method: "notifications/cancelled",
      params: { requestId: "same" },
    };
    expect(await server.handle(cancelled, { connection })).toBeUndefined();
    finish();
    expect(await first).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(await second).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(reasons).toEqual([]);
    expect(logger.entries.filter(({ level }) => level === "warn")).toHaveLength(1);
  });
});
