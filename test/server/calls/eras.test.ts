// Both eras on one pipe: each request is answered under its own, and the modern ones leave no trace.
import { type Context, errorCodes, McpServer, ProtocolError } from "halyard";
import { connect, type TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { cells, describeMatrix, pipes } from "../../support/matrix.ts";
import {
  answersTo,
  initializeRequest,
  legacyDates,
  metaKeys,
  modernMeta,
  modernRequest,
  newestModern,
  RawPeer,
} from "../../support/raw.ts";

function makeServer(): { server: McpServer; seen: Context[] } {
  const seen: Context[] = [];
  const server = new McpServer(
    { name: "dual", version: "1.0.0" },
    { logger: recordingLogger(), pageSize: 2 },
  );
  server.tool("look", {}, (_, ctx) => {
    seen.push(ctx);
    ctx.log("debug", "debug");
    ctx.log("error", "error");
    ctx.progress(1);
    return ctx.revision;
  });
  server.tool("sample", { requires: { sampling: {} } }, () => "sampled");
  server.tool("last", {}, () => "last");
  server.resource("test://a", {}, () => "a");
  server.prompt("hello", {}, () => "Hello");
  return { server, seen };
}

/** Sends a modern request on whatever connection the client has, and resolves with its answer. */
async function askModern(
  client: TestClient,
  id: string,
  method: string,
  params = {},
  meta = {},
): Promise<unknown> {
  client.send(modernRequest(id, method, params, meta));
  return client.waitFor((message) => "id" in message && message.id === id);
}

describeMatrix("a modern request on a legacy connection", { eras: ["legacy"] }, (cell) => {
  test("is answered under the modern revision, and the next one under the agreed one [VER-DUAL-SERVER-SELECT-MODERN, VER-DUAL-SERVER-MAY]", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server);
    const call = { name: "look" };
    expect(await client.request("tools/call", call)).toEqual({
      content: [{ type: "text", text: cell.revision }],
    });
    expect(await askModern(client, "m", "tools/call", call)).toMatchObject({
      result: {
        resultType: "complete",
        content: [{ text: newestModern }],
        _meta: { [metaKeys.serverInfo]: {} },
      },
    });
    expect(await client.request("tools/call", call)).toEqual({
      content: [{ type: "text", text: cell.revision }],
    });
    expect(seen.map((ctx) => ctx.session === undefined)).toEqual([false, true, false]);
    await client.close();
  });

  test("takes nothing from the handshake: not the client, not its capabilities, not its log level [BASE-STATELESS-NO-PRIOR, VER-CAP-EMPTY, VER-CAP-NOT-DECLARED]", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server, { capabilities: { sampling: {} } });
    await client.request("logging/setLevel", { level: "debug" });
    expect(await client.request("tools/call", { name: "sample" })).toMatchObject({
      content: [{ text: "sampled" }],
    });
    expect(await askModern(client, "m1", "tools/call", { name: "sample" })).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    const logs = (): number => client.notifications("notifications/message").length;
    await askModern(client, "m2", "tools/call", { name: "look" });
    expect(logs()).toBe(0);
    expect(seen[0]).toMatchObject({ client: undefined, clientCapabilities: {} });
    await client.request("tools/call", { name: "look" });
    expect(logs()).toBe(2);
    await client.close();
  });

  test("gives nothing to the handshake either [VER-DUAL-SERVER-SELECT-LEGACY]", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server);
    const meta = {
      [metaKeys.clientCapabilities]: { sampling: {} },
      [metaKeys.clientInfo]: { name: "other", version: "1" },
      [metaKeys.logLevel]: "debug",
    };
    await askModern(client, "m", "tools/call", { name: "sample" }, meta);
    await client.request("logging/setLevel", { level: "emergency" });
    await client.request("tools/call", { name: "look" });
    expect(seen.at(-1)).toMatchObject({
      revision: cell.revision,
      client: { name: "test-client" },
      clientCapabilities: {},
    });
    expect(client.notifications("notifications/message")).toEqual([]);
    await expect(client.request("tools/call", { name: "sample" })).rejects.toMatchObject({ code: -32021 });
    await client.close();
  });

  test("server/discover without modern _meta is unknown there, and with it is answered [VER-DUAL-SERVER-SELECT-MODERN]", async () => {
    const client = await cell.connect(makeServer().server);
    await expect(client.request("server/discover")).rejects.toMatchObject({ code: -32601 });
    await expect(client.request("subscriptions/listen", { notifications: {} })).rejects.toMatchObject({
      code: -32601,
    });
    expect(await askModern(client, "m", "server/discover")).toMatchObject({
      result: { resultType: "complete" },
    });
    await client.close();
  });

  test("a reserved key other than version and capabilities does not make a request modern [VER-DUAL-SERVER-SELECT-LEGACY]", async () => {
    const client = await cell.connect(makeServer().server);
    const _meta = {
      [metaKeys.clientInfo]: { name: "x", version: "1" },
      [metaKeys.logLevel]: "debug",
      progressToken: 1,
    };
    expect(await client.request("tools/call", { name: "look", _meta })).toEqual({
      content: [{ type: "text", text: cell.revision }],
    });
    await client.close();
  });
});

describeMatrix("initialize on a connection that has been modern so far", { eras: ["modern"] }, (cell) => {
  test.each(legacyDates)(
    "agrees on %s for what has no modern _meta from then on [VER-DUAL-SERVER-SELECT-LEGACY, VER-DUAL-SERVER-MAY]",
    async (date) => {
      const { server } = makeServer();
      const client = await cell.connect(server);
      await client.request("tools/call", { name: "look" });
      const [answer] = await answersTo(client, JSON.stringify(initializeRequest("init", date)));
      expect(answer).toMatchObject({ id: "init", result: { protocolVersion: date } });
      const plain = { jsonrpc: "2.0", id: "plain", method: "tools/call", params: { name: "look" } };
      const answers = await answersTo(client, JSON.stringify(plain));
      expect(answers.at(-1)).toEqual({
        jsonrpc: "2.0",
        id: "plain",
        result: { content: [{ type: "text", text: date }] },
      });
      expect(await client.request("tools/call", { name: "look" })).toMatchObject({
        content: [{ text: newestModern }],
      });
      await client.close();
    },
  );

  test("many of both, all at once, are each answered in their own words [BASE-STATELESS-MULTI-CONV, VER-DUAL-SERVER-SELECT-MODERN, VER-DUAL-SERVER-SELECT-LEGACY]", async () => {
    const { server } = makeServer();
    const client = await cell.connect(server);
    client.send(initializeRequest("init", "2025-06-18"));
    await client.waitFor((message) => "id" in message && message.id === "init");
    for (let at = 0; at < 40; at++) {
      const call = { name: "look" };
      client.send(
        at % 2 === 0
          ? modernRequest(at, "tools/call", call, { [metaKeys.clientInfo]: { name: `c${at}`, version: "1" } })
          : { jsonrpc: "2.0", id: at, method: "tools/call", params: call },
      );
    }
    const answers = (): object[] =>
      client.received.filter((message) => "id" in message && typeof message.id === "number");
    await client.waitFor(() => answers().length === 40);
    for (const answer of answers() as { id: number; result: { content: { text: string }[] } }[]) {
      expect(answer.result.content[0]?.text).toBe(answer.id % 2 === 0 ? newestModern : "2025-06-18");
      expect("resultType" in answer.result).toBe(answer.id % 2 === 0);
    }
    await client.close();
  });
});

describe.each(cells({ transports: pipes }))(
  "what the modern era has not · $revision · $transport",
  (cell) => {
    test.each([
      [
        "initialize",
        { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
      ],
      ["ping", {}],
      ["logging/setLevel", { level: "debug" }],
      ["resources/subscribe", { uri: "test://a" }],
      ["resources/unsubscribe", { uri: "test://a" }],
    ])(
      "%s with modern _meta is an unknown method, and does nothing [VER-DUAL-INITIALIZE-WITH-MODERN-META]",
      async (method, params) => {
        const { server } = makeServer();
        const client = await cell.connect(server);
        expect(await askModern(client, "m", method, params)).toMatchObject({ error: { code: -32601 } });
        expect(await server.push.isSubscribed("test://a")).toBe(false);
        if (cell.era === "modern") {
          const plain = { jsonrpc: "2.0", id: "plain", method: "tools/list" };
          expect(await answersTo(client, JSON.stringify(plain))).toMatchObject([{ error: { code: -32600 } }]);
        }
        await client.close();
      },
    );
  },
);

describeMatrix("modern requests", { eras: ["modern"] }, (cell) => {
  test("stand alone: client, capabilities and log level of one are gone in the next [BASE-STATELESS-NO-PRIOR, VER-CAP-EMPTY, VER-CAP-NOT-DECLARED]", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server);
    const rich = {
      [metaKeys.clientCapabilities]: { sampling: {}, roots: {} },
      [metaKeys.clientInfo]: { name: "rich", version: "1" },
      [metaKeys.logLevel]: "debug",
      progressToken: "p",
    };
    await askModern(client, "1", "tools/call", { name: "look" }, rich);
    expect(await askModern(client, "2", "tools/call", { name: "sample" }, rich)).toMatchObject({
      result: {},
    });
    const heard = client.notifications("notifications/message").length;
    expect(heard).toBe(2);
    await askModern(client, "3", "tools/call", { name: "look" });
    expect(client.notifications("notifications/message")).toHaveLength(heard);
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      client: { name: "rich" },
      clientCapabilities: { sampling: {}, roots: {} },
    });
    expect(seen[1]).toMatchObject({ client: undefined, clientCapabilities: {} });
    expect(await askModern(client, "4", "tools/call", { name: "sample" })).toMatchObject({
      error: { code: -32021 },
    });
    await client.close();
  });

  test("a capability that was not declared is -32021 and names exactly what is missing [VER-CAP-MISSING-ERROR, BASE-ERR-MCP-RANGE-MEANING]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    let ran = 0;
    server.tool(
      "ask",
      { requires: { sampling: { tools: {} }, elicitation: { form: {}, url: {} }, roots: {} } },
      () => {
        ran++;
        return "asked";
      },
    );
    const client = await cell.connect(server);
    const ask = (capabilities: object): Promise<unknown> =>
      client.request("tools/call", { name: "ask", _meta: { [metaKeys.clientCapabilities]: capabilities } });
    await expect(ask({})).rejects.toMatchObject({
      code: -32021,
      data: {
        requiredCapabilities: { sampling: { tools: {} }, elicitation: { form: {}, url: {} }, roots: {} },
      },
    });
    const partly = await ask({ sampling: {}, elicitation: {}, roots: { listChanged: true } }).catch(
      (error: unknown) => error,
    );
    expect((partly as { data: unknown }).data).toEqual({
      requiredCapabilities: { sampling: { tools: {} }, elicitation: { url: {} } },
    });
    expect(ran).toBe(0);
    await ask({ sampling: { tools: {} }, elicitation: { form: {}, url: {} }, roots: {} });
    expect(ran).toBe(1);
    await client.close();
  });

  test("every result says that it is complete, and who answered [BASE-RESULTTYPE-REQUIRED]", async () => {
    const client = await cell.connect(makeServer().server);
    const asked: [string, object][] = [
      ["server/discover", {}],
      ["tools/list", {}],
      ["tools/call", { name: "look" }],
      ["tools/call", { name: "last", arguments: {} }],
      ["prompts/list", {}],
      ["prompts/get", { name: "hello" }],
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri: "test://a" }],
    ];
    for (const [method, params] of asked) {
      expect(await client.request(method, { ...params }), method).toMatchObject({
        resultType: "complete",
        _meta: { [metaKeys.serverInfo]: { name: "dual", version: "1.0.0" } },
      });
    }
    await client.close();
  });

  test("deprecated things still work: a log for who asks for it, capabilities that are on their way out [DEPR-STILL-WORK]", async () => {
    const { server } = makeServer();
    const client = await cell.connect(server, {
      capabilities: { roots: { listChanged: true }, sampling: {} },
    });
    expect(await client.request("tools/call", { name: "sample" })).toMatchObject({
      content: [{ text: "sampled" }],
    });
    await client.request("tools/call", { name: "look", _meta: { [metaKeys.logLevel]: "error" } });
    expect(client.notifications("notifications/message")).toMatchObject([
      { params: { level: "error", data: "error" } },
    ]);
    await client.close();
  });

  test("what spans requests is named by the client: a list continues from its cursor on another connection [BASE-STATELESS-EXPLICIT-ID, BASE-STATELESS-NO-AFFINITY]", async () => {
    const { server } = makeServer();
    const first = await cell.connect(server);
    const { tools, nextCursor } = await first.request("tools/list");
    await first.close();
    const second = await cell.connect(server);
    const rest = await second.request("tools/list", { cursor: nextCursor });
    const names = [...(tools as { name: string }[]), ...(rest["tools"] as { name: string }[])].map(
      ({ name }) => name,
    );
    expect(names).toEqual(["look", "sample", "last"]);
    expect(await second.request("tools/list")).toMatchObject({
      tools: [{ name: "look" }, { name: "sample" }],
    });
    await second.close();
  });

  test.skipIf(cell.transport === "http")(
    "no message of the server is a request, and no notification has an id [BASE-SERVER-NO-REQUESTS, BASE-NOTIF-NO-ID, BASE-REQSCOPED-NOTIF]",
    async () => {
      const { server } = makeServer();
      const client = await cell.connect(server, {
        capabilities: { roots: {}, sampling: {}, elicitation: {} },
      });
      const notifications = { toolsListChanged: true, resourceSubscriptions: ["test://a"] };
      client.send(modernRequest("listen", "subscriptions/listen", { notifications }));
      await client.waitFor((message) => "method" in message);
      await client.request("tools/call", {
        name: "look",
        _meta: { [metaKeys.logLevel]: "debug", progressToken: 1 },
      });
      server.tool("new", {}, () => "new");
      await server.resources.updated("test://a");
      await client.waitFor(
        (message) => "method" in message && message.method === "notifications/tools/list_changed",
      );
      await client.close();
      const sent = client.received.filter((message) => "method" in message);
      expect(new Set(sent.map((message) => message.method))).toEqual(
        new Set([
          "notifications/subscriptions/acknowledged",
          "notifications/message",
          "notifications/progress",
          "notifications/tools/list_changed",
          "notifications/resources/updated",
          "notifications/cancelled",
        ]),
      );
      for (const message of sent) expect(message).not.toHaveProperty("id");
    },
  );
});

describeMatrix("legacy notifications", { eras: ["legacy"] }, (cell) => {
  test("have no id either [BASE-NOTIF-NO-ID]", async () => {
    const { server } = makeServer();
    const client = await cell.connect(server);
    await client.request("resources/subscribe", { uri: "test://a" });
    await client.request("tools/call", { name: "look", _meta: { progressToken: 1 } });
    server.tool("new", {}, () => "new");
    await server.resources.updated("test://a");
    await client.waitFor(
      (message) => "method" in message && message.method === "notifications/tools/list_changed",
    );
    const sent = client.received.filter((message) => "method" in message);
    expect(sent.length).toBeGreaterThanOrEqual(4);
    for (const message of sent) expect(message).not.toHaveProperty("id");
    await client.close();
  });
});

describe("error codes", () => {
  test.each([-32042, -32002, -32000, -32001, -32019, -32023, -32050, -32099, -32100, -32500, -32768, -32604])(
    "%i cannot be sent by a handler: it is reserved, retired or undefined [BASE-ERR-32042-NOT-EMIT, BASE-ERR-32002-NOT-EMIT, BASE-ERR-MCP-RANGE-UNDEFINED, BASE-ERR-LEGACY-RANGE-NEW, BASE-ERR-LEGACY-RANGE-USE, BASE-ERR-APP-CODES]",
    (code) => {
      expect(() => new ProtocolError(code, "no")).toThrow(RangeError);
    },
  );

  test.each([1, -1, 0, 42, -31999, -32769, 2 ** 31])(
    "%i is a code of the author's own, and arrives with its data [BASE-ERR-APP-CODES, BASE-ERR-DATA]",
    async (code) => {
      const server = new McpServer({ name: "test", version: "1.0.0" });
      server.prompt("fail", {}, () => {
        throw new ProtocolError(code, "Mine", { why: ["because"] });
      });
      const client = await connect(server, { revision: newestModern });
      await expect(client.request("prompts/get", { name: "fail" })).rejects.toMatchObject({
        code,
        message: "Mine",
        data: { why: ["because"] },
      });
      await client.close();
    },
  );

  test("a missing resource is -32002 in the legacy era alone [BASE-ERR-32002-NOT-EMIT, BASE-ERR-LEGACY-RANGE-USE]", async () => {
    const { server } = makeServer();
    const peer = new RawPeer(server, newestModern);
    expect(await peer.request("resources/read", { uri: "test://none" })).toMatchObject({
      error: { code: -32602 },
    });
    await peer.say(initializeRequest(1, "2025-11-25"));
    const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "test://none" } };
    expect(await peer.say(read)).toMatchObject({ error: { code: errorCodes.legacyResourceNotFound } });
    expect(await peer.request("resources/read", { uri: "test://none" })).toMatchObject({
      error: { code: -32602 },
    });
  });

  test("a handler that fails is -32603, with an id and nothing of what went wrong [BASE-ERR-STANDARD-CODES]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.prompt("fail", {}, () => {
      throw new Error("postgres://user:secret@db");
    });
    const peer = new RawPeer(server, newestModern);
    const answer = await peer.request("prompts/get", { name: "fail" });
    expect(answer).toMatchObject({ error: { code: -32603, data: { errorId: expect.any(String) } } });
    expect(JSON.stringify(answer)).not.toContain("secret");
  });

  test.each(["prompts/list", "prompts/get", "resources/read", "completion/complete", "no/such/method"])(
    "%s is -32601 where nothing of its kind is offered [BASE-ERR-32601-CAP-GATED]",
    async (method) => {
      const server = new McpServer({ name: "test", version: "1.0.0" });
      server.tool("only", {}, () => "only");
      const peer = new RawPeer(server, newestModern);
      const answer = await peer.request(method, { name: "x", uri: "test://a", ref: {}, argument: {} });
      expect(answer).toMatchObject({ error: { code: -32601 } });
      expect(
        await peer.say({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: modernMeta() } }),
      ).toMatchObject({
        result: {},
      });
    },
  );
});
