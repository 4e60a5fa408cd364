// Log messages to the client: a level for each legacy connection, or for each modern request.
import { type Context, type LogLevel, McpServer } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { paramsOf, settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { deferred } from "../../support/turns.ts";

const levels: LogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const logLevel = "io.modelcontextprotocol/logLevel";

/** A server whose tool logs once at every level, in order. */
function loggingServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("work", {}, (_, ctx) => {
    for (const level of levels) ctx.log(level, `at ${level}`);
    return "done";
  });
  return server;
}

function heard(client: TestClient): unknown[] {
  return client.notifications("notifications/message").map((message) => paramsOf(message)["level"]);
}

/** Sets the level as the client's era does, and returns the `_meta` that its calls need. */
async function want(client: TestClient, level: string): Promise<object> {
  if (client.era === "modern") return { [logLevel]: level };
  expect(await client.request("logging/setLevel", { level })).toEqual({});
  return {};
}

describeMatrix("logging", {}, (cell) => {
  test.each(levels.map((level, at) => [level, at] as const))(
    "at %s brings the messages of that level and above [LOG-LEVELS, LOG-SETLEVEL, LOG-PER-REQUEST-LEVEL]",
    async (level, at) => {
      const client = await cell.connect(loggingServer());
      const _meta = await want(client, level);
      await client.request("tools/call", { name: "work", _meta });
      expect(heard(client)).toEqual(levels.slice(at));
      await client.close();
    },
  );

  test("is declared [LOG-CAP]", async () => {
    const client = await cell.connect(loggingServer(), { handshake: false });
    const opened = cell.era === "legacy" ? await client.open() : await client.request("server/discover");
    expect(opened?.["capabilities"]).toHaveProperty("logging", {});
    await client.close();
  });

  test("a message has a level, any JSON as its data, and a logger if there is one [LOG-MESSAGE-SHAPE]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("work", {}, (_, ctx) => {
      ctx.log("error", "text");
      ctx.log("error", { deep: [1, null, { a: true }] }, "database");
      ctx.log("error", null);
      ctx.log("error", undefined);
      ctx.log("error", 0);
      return "done";
    });
    const client = await cell.connect(server);
    const _meta = await want(client, "debug");
    await client.request("tools/call", { name: "work", _meta });
    expect(client.notifications("notifications/message").map(paramsOf)).toEqual([
      { level: "error", data: "text" },
      { level: "error", logger: "database", data: { deep: [1, null, { a: true }] } },
      { level: "error", data: null },
      { level: "error", data: null },
      { level: "error", data: 0 },
    ]);
    await client.close();
  });

  test("a level that does not exist is never sent [LOG-LEVELS]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("work", {}, (_, ctx) => {
      for (const level of ["warn", "fatal", "INFO", ""]) ctx.log(level as LogLevel, "no");
      return "done";
    });
    const client = await cell.connect(server);
    const _meta = await want(client, "debug");
    await client.request("tools/call", { name: "work", _meta });
    expect(heard(client)).toEqual([]);
    await client.close();
  });

  test("messages come before the reply, and none after it [LOG-PER-REQUEST-LEVEL]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const late = deferred<Context>();
    server.tool("work", {}, (_, ctx) => {
      ctx.log("error", "early");
      late.resolve(ctx);
      return "done";
    });
    const client = await cell.connect(server);
    const _meta = await want(client, "debug");
    await client.request("tools/call", { name: "work", _meta }, { id: "call" });
    (await late.promise).log("error", "late");
    await settled(client);
    expect(heard(client)).toEqual(["error"]);
    const order = client.received.map((message) => ("method" in message ? "message" : message.id));
    expect(order.indexOf("message")).toBeLessThan(order.indexOf("call"));
    await client.close();
  });

  test("what a handler throws is not sent as a log message [LOG-SEC-CONTENT]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("fail", {}, () => {
      throw new Error("password=hunter2");
    });
    const client = await cell.connect(server);
    const _meta = await want(client, "debug");
    await client.request("tools/call", { name: "fail", _meta });
    await settled(client);
    expect(heard(client)).toEqual([]);
    expect(JSON.stringify(client.received)).not.toContain("hunter2");
    await client.close();
  });

  test("logging: false takes the capability, the messages and setLevel away [LOG-CAP]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { capabilities: { logging: false } });
    server.tool("work", {}, (_, ctx) => (ctx.log("emergency", "no"), "done"));
    const client = await cell.connect(server, { handshake: false });
    const opened = cell.era === "legacy" ? await client.open() : await client.request("server/discover");
    expect(opened?.["capabilities"]).not.toHaveProperty("logging");
    const request = client.request("logging/setLevel", { level: "debug" });
    await expect(request).rejects.toMatchObject({ code: -32601 });
    await client.request("tools/call", { name: "work", _meta: { [logLevel]: "debug" } });
    expect(heard(client)).toEqual([]);
    await client.close();
  });
});

describeMatrix("logging", { eras: ["legacy"] }, (cell) => {
  test("is at info until the client says otherwise [LOG-NO-SETLEVEL-DEFAULT]", async () => {
    const client = await cell.connect(loggingServer());
    await client.request("tools/call", { name: "work" });
    expect(heard(client)).toEqual(levels.slice(1));
    await client.close();
  });

  test("has a level of its own for each connection, which a running call sees change [LOG-SETLEVEL]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const [started, gate] = [deferred(), deferred()];
    server.tool("work", {}, async (_, ctx) => {
      ctx.log("info", "before");
      started.resolve();
      await gate.promise;
      ctx.log("info", "after");
      return "done";
    });
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    const call = one.request("tools/call", { name: "work" });
    await started.promise;
    await one.request("logging/setLevel", { level: "error" });
    gate.resolve();
    await call;
    await two.request("tools/call", { name: "work" });
    expect(heard(one)).toEqual(["info"]);
    expect(heard(two)).toEqual(["info", "info"]);
    await one.close();
    await two.close();
  });

  test.each([["loud"], ["INFO"], ["warn"], [""], [undefined], [null], [3], [["info"]]])(
    "setLevel with %j is invalid params, and changes nothing [LOG-SETLEVEL-ERR, LOG-LEVELS]",
    async (level) => {
      const client = await cell.connect(loggingServer());
      await client.request("logging/setLevel", { level: "alert" });
      const request = client.request("logging/setLevel", { level });
      await expect(request).rejects.toMatchObject({ code: -32602 });
      await client.request("tools/call", { name: "work" });
      expect(heard(client)).toEqual(["alert", "emergency"]);
      await client.close();
    },
  );

  test("the level of a modern request means nothing to a legacy one", async () => {
    const client = await cell.connect(loggingServer());
    await client.request("logging/setLevel", { level: "emergency" });
    await client.request("tools/call", { name: "work", _meta: { [logLevel]: "debug" } });
    expect(heard(client)).toEqual(["emergency"]);
    await client.close();
  });
});

describeMatrix("a log message outside a call", { eras: ["legacy"] }, (cell) => {
  const ways: [string, (server: McpServer, level: LogLevel, session: string) => Promise<number | boolean>][] =
    [
      ["server.log", (server, level) => server.log(level, "disk")],
      ["server.log to one session", (server, level, session) => server.log(level, "disk", { session })],
      [
        "push.broadcast",
        (server, level) => server.push.broadcast("notifications/message", { level, data: "disk" }),
      ],
      [
        "push.toSession",
        (server, level, session) =>
          server.push.toSession(session, "notifications/message", { level, data: "disk" }),
      ],
    ];

  test.each(ways)("by %s heeds the level of the session [LOG-SETLEVEL, LOG-LEVELS]", async (_, say) => {
    const server = loggingServer();
    const client = await cell.connect(server);
    await settled(client);
    const [session = ""] = await server.push.sessions();
    const sayAll = async (): Promise<unknown[]> => {
      const reached: unknown[] = [];
      for (const level of levels) reached.push(Number(await say(server, level, session)));
      await settled(client);
      return reached;
    };
    expect(await sayAll()).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
    expect(heard(client)).toEqual(levels.slice(1));
    await client.request("logging/setLevel", { level: "error" });
    expect(await sayAll()).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    await client.request("logging/setLevel", { level: "debug" });
    expect(await sayAll()).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(heard(client)).toEqual([...levels.slice(1), ...levels.slice(4), ...levels]);
    await client.close();
  });

  test("goes to each session by its own level, with its logger", async () => {
    const server = loggingServer();
    const [calm, eager] = [await cell.connect(server), await cell.connect(server)];
    await calm.request("logging/setLevel", { level: "error" });
    await eager.request("logging/setLevel", { level: "debug" });
    await settled(calm);
    await settled(eager);
    expect(await server.log("debug", { free: 1 }, { logger: "disk" })).toBe(1);
    expect(await server.log("alert", undefined)).toBe(2);
    await settled(calm);
    await settled(eager);
    expect(heard(calm)).toEqual(["alert"]);
    expect(eager.notifications("notifications/message").map(paramsOf)).toEqual([
      { level: "debug", logger: "disk", data: { free: 1 } },
      { level: "alert", data: null },
    ]);
    expect(await server.log("alert", "x", { session: "nobody" })).toBe(0);
    expect(await server.log("loud" as LogLevel, "x")).toBe(0);
    await calm.close();
    await eager.close();
  });

  test("that cannot be written as JSON reaches nobody, and is told to the log", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    const client = await cell.connect(server);
    expect(await server.log("alert", 1n)).toBe(0);
    expect(logger.entries).toMatchObject([{ level: "warn" }]);
    await client.close();
  });

  test("is never sent where logging is off [LOG-CAP]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { capabilities: { logging: false } });
    const client = await cell.connect(server);
    await settled(client);
    expect(await server.log("emergency", "x")).toBe(0);
    expect(await server.push.broadcast("notifications/message", { level: "emergency", data: "x" })).toBe(0);
    await settled(client);
    expect(heard(client)).toEqual([]);
    await client.close();
  });
});

describeMatrix("a log message outside a call", { eras: ["modern"] }, (cell) => {
  test("reaches no modern client, whatever one of its requests asked for [LOG-PER-REQUEST-OPTIN, LOG-NOT-ON-OTHER-STREAM]", async () => {
    const server = loggingServer();
    const client = await cell.connect(server);
    await client.request("tools/call", { name: "work", _meta: { [logLevel]: "emergency" } });
    expect(await server.log("emergency", "x")).toBe(0);
    await settled(client);
    expect(heard(client)).toEqual(["emergency"]);
    await client.close();
  });
});

describeMatrix("logging", { eras: ["modern"] }, (cell) => {
  test("logging/setLevel is gone [LOG-SETLEVEL-REMOVED]", async () => {
    const client = await cell.connect(loggingServer());
    const request = client.request("logging/setLevel", { level: "info" });
    await expect(request).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });

  test("a request that did not ask for messages gets none, whatever others asked for [LOG-PER-REQUEST-OPTIN]", async () => {
    const client = await cell.connect(loggingServer());
    await client.request("tools/call", { name: "work" });
    expect(heard(client)).toEqual([]);
    await client.request("tools/call", { name: "work", _meta: { [logLevel]: "alert" } });
    expect(heard(client)).toEqual(["alert", "emergency"]);
    await client.request("tools/call", { name: "work" });
    expect(heard(client)).toEqual(["alert", "emergency"]);
    await client.close();
  });

  test("a call that asked for messages does not bring those of another that did not [LOG-PER-REQUEST-OPTIN, LOG-NOT-ON-OTHER-STREAM]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const gate = deferred();
    server.tool("asks", {}, async () => {
      await gate.promise;
      return "done";
    });
    server.tool("quiet", {}, (_, ctx) => (ctx.log("emergency", "no"), "done"));
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    const asking = one.request(
      "tools/call",
      { name: "asks", _meta: { [logLevel]: "debug" } },
      { id: "asks" },
    );
    await one.request("tools/call", { name: "quiet" });
    await two.request("tools/call", { name: "quiet" });
    gate.resolve();
    await asking;
    expect(heard(one)).toEqual([]);
    expect(heard(two)).toEqual([]);
    await one.close();
    await two.close();
  });

  test("no message is sent on a listen stream, whatever middleware does [LOG-NOT-ON-OTHER-STREAM]", async () => {
    const server = loggingServer();
    server.use((_request, ctx, next) => {
      ctx.log("emergency", "a request has come");
      return next();
    });
    const client = await cell.connect(server);
    const params = client.withMeta({
      notifications: { toolsListChanged: true },
      _meta: { [logLevel]: "debug" },
    });
    client.send({ jsonrpc: "2.0", id: "sub", method: "subscriptions/listen", ...params });
    await settled(client);
    server.tool("another", {}, () => "x");
    await settled(client);
    expect(heard(client)).toEqual([]);
    await client.close();
  });

  test.each([["loud"], ["INFO"], [""], [null], [3], [{}]])(
    "a request with the level %j is invalid params, and its handler does not run [LOG-INVALID-LEVEL, LOG-LEVELS]",
    async (level) => {
      let ran = false;
      const server = new McpServer({ name: "test", version: "1.0.0" });
      server.tool("work", {}, () => ((ran = true), "done"));
      const client = await cell.connect(server);
      const request = client.request("tools/call", { name: "work", _meta: { [logLevel]: level } });
      await expect(request).rejects.toMatchObject({ code: -32602 });
      expect(ran).toBe(false);
      await client.close();
    },
  );
});
