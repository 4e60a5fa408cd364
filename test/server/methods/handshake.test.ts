// initialize: what a legacy client and the server agree on, once, and keep to.
import { type Context, McpServer, type ServerOptions } from "halyard";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { cells, describeMatrix, pipes } from "../../support/matrix.ts";
import {
  initializeRequest,
  legacyDates,
  newestLegacy,
  newestModern,
  RawPeer,
  rawPeer,
} from "../../support/raw.ts";

const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }];
const info = {
  name: "full",
  version: "1.2.3",
  title: "A full server",
  description: "Says everything of itself",
  websiteUrl: "https://example.com",
  icons,
};

function makeServer(options: ServerOptions = {}): { server: McpServer; seen: Context[] } {
  const seen: Context[] = [];
  const server = new McpServer(info, { logger: recordingLogger(), ...options });
  server.tool("look", { title: "Look", icons }, (_, ctx) => {
    seen.push(ctx);
    ctx.log("warning", "looked");
    return "seen";
  });
  server.tool("sample", { requires: { sampling: {} } }, () => "sampled");
  return { server, seen };
}

const fresh = (server: McpServer): RawPeer => new RawPeer(server, newestLegacy);

describe.each(legacyDates)("initialize with %s", (date) => {
  test("is answered with that version, capabilities and serverInfo, and nothing else [INIT-RESPONSE-FIELDS, INIT-VERSION-SERVER-ECHO, BASE-SUPPORT-CORE-LEGACY]", async () => {
    const { result } = (await fresh(makeServer().server).say(initializeRequest(1, date))) ?? {};
    expect(result?.["protocolVersion"]).toBe(date);
    expect(Object.keys(result ?? {}).toSorted()).toEqual(["capabilities", "protocolVersion", "serverInfo"]);
    expect(result?.["capabilities"]).toMatchObject({ tools: {} });
  });

  test("carries the instructions where there are any [INIT-RESPONSE-FIELDS]", async () => {
    const { server } = makeServer({ instructions: "Look first" });
    expect(await fresh(server).say(initializeRequest(1, date))).toMatchObject({
      result: { instructions: "Look first" },
    });
  });

  test("tells of the server only what the revision knows [INIT-IMPLEMENTATION-FIELDS]", async () => {
    const { name, version, title, description, websiteUrl } = info;
    const expected =
      date >= "2025-11-25"
        ? { name, version, title, description, websiteUrl, icons }
        : date >= "2025-06-18"
          ? { name, version, title }
          : { name, version };
    const { result } = (await fresh(makeServer().server).say(initializeRequest(1, date))) ?? {};
    expect(result?.["serverInfo"]).toEqual(expected);
  });

  test("takes a client that says nothing of itself, and one that says unknown things [INIT-CAPS-OPEN-SET]", async () => {
    const { server, seen } = makeServer();
    for (const params of [
      { protocolVersion: date },
      { protocolVersion: date, capabilities: null, clientInfo: "me" },
      {
        protocolVersion: date,
        capabilities: { holograms: { depth: 3 }, experimental: { x: 1 } },
        clientInfo: { name: 1 },
      },
      { protocolVersion: date, capabilities: [], clientInfo: {}, more: [1] },
    ]) {
      const peer = fresh(server);
      const answer = await peer.say({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      expect(answer).toMatchObject({ result: { protocolVersion: date } });
      expect(await peer.request("tools/call", { name: "look" })).toMatchObject({ result: {} });
      expect(seen.at(-1)?.client).toBeUndefined();
    }
  });

  test("a handler sees what was agreed, and who it was [INIT-RESPECT-VERSION, INIT-RESPECT-VERSION-OLD]", async () => {
    const { server, seen } = makeServer();
    const peer = fresh(server);
    const clientInfo = { name: "me", version: "9", title: "Me" };
    await peer.say(initializeRequest(1, date, { clientInfo, capabilities: { roots: {} } }));
    await peer.request("tools/call", { name: "look" });
    expect(seen[0]).toMatchObject({ revision: date, client: clientInfo, clientCapabilities: { roots: {} } });
  });

  test("what follows is in the words of that version alone [INIT-RESPECT-VERSION, INIT-RESPECT-VERSION-OLD]", async () => {
    const peer = await rawPeer(makeServer().server, date);
    const { result } = await peer.request("tools/list");
    const [tool] = (result?.["tools"] ?? []) as object[];
    expect("title" in (tool ?? {})).toBe(date >= "2025-06-18");
    expect("icons" in (tool ?? {})).toBe(date >= "2025-11-25");
    for (const modernOnly of ["resultType", "ttlMs", "cacheScope", "_meta"])
      expect(result).not.toHaveProperty([modernOnly]);
  });

  test("leaves only what was advertised to be used [INIT-RESPECT-CAPS, INIT-RESPECT-VERSION-OLD]", async () => {
    const { server } = makeServer({ capabilities: { logging: false } });
    const peer = await rawPeer(server, date);
    for (const method of [
      "prompts/list",
      "resources/list",
      "resources/read",
      "completion/complete",
      "logging/setLevel",
    ]) {
      expect(await peer.request(method), method).toMatchObject({ error: { code: -32601 } });
    }
  });

  test("a tool that needs a capability is refused to a client that did not declare it [INIT-RESPECT-CAPS]", async () => {
    const { server } = makeServer();
    const without = fresh(server);
    await without.say(initializeRequest(1, date));
    expect(await without.request("tools/call", { name: "sample" })).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    const having = fresh(server);
    await having.say(initializeRequest(1, date, { capabilities: { sampling: {} } }));
    expect(await having.request("tools/call", { name: "sample" })).toMatchObject({ result: {} });
  });
});

describe.each(["2025-06-18", "2025-11-25"])("the elicitation capability on %s", (date) => {
  test("means forms when it is bare, and never URLs unless it says so [INIT-CAPS-ELICITATION-SINCE]", async () => {
    const server = new McpServer(info);
    server.tool("ask", { requires: { elicitation: {} } }, () => "ok");
    server.tool("form", { requires: { elicitation: { form: {} } } }, () => "ok");
    server.tool("url", { requires: { elicitation: { url: {} } } }, () => "ok");
    const codesFor = async (capabilities: object): Promise<unknown[]> => {
      const peer = new RawPeer(server, date);
      await peer.say(initializeRequest(1, date, { capabilities }));
      const answers = ["ask", "form", "url"].map((name) => peer.request("tools/call", { name }));
      return (await Promise.all(answers)).map(({ error }) => error?.code ?? "ok");
    };
    expect(await codesFor({})).toEqual([-32021, -32021, -32021]);
    expect(await codesFor({ elicitation: {} })).toEqual(["ok", "ok", -32021]);
    expect(await codesFor({ elicitation: { url: {} } })).toEqual(["ok", -32021, "ok"]);
    expect(await codesFor({ elicitation: { form: {}, url: {} } })).toEqual(["ok", "ok", "ok"]);
  });
});

describe("initialize with a version that is not spoken", () => {
  test.each([
    newestModern,
    "1999-12-31",
    "2099-01-01",
    "draft",
    "DRAFT-2026-v1",
    "",
    "latest",
    "2025-11-25 ",
    "__proto__",
  ])(
    "%j is answered with the newest legacy version, as a result [INIT-VERSION-SERVER-OTHER, INIT-VERSION-SERVER-LATEST, INIT-ERR-PREPARED]",
    async (date) => {
      const { server, seen } = makeServer();
      const peer = fresh(server);
      expect(await peer.say(initializeRequest(1, date))).toMatchObject({
        result: { protocolVersion: newestLegacy },
      });
      await peer.request("tools/call", { name: "look" });
      expect(seen[0]?.revision).toBe(newestLegacy);
    },
  );

  test.each([undefined, null, 20251125, ["2025-11-25"], {}, true])(
    "%j is no version: invalid params, and the client may try again",
    async (version) => {
      const peer = fresh(makeServer().server);
      expect(await peer.say(initializeRequest(1, version))).toMatchObject({ id: 1, error: { code: -32602 } });
      expect(await peer.request("tools/list")).toMatchObject({ error: { code: -32600 } });
      expect(await peer.say(initializeRequest(2, "2025-03-26"))).toMatchObject({
        result: { protocolVersion: "2025-03-26" },
      });
    },
  );

  test("without params it is invalid params", async () => {
    const peer = fresh(makeServer().server);
    expect(await peer.say({ jsonrpc: "2.0", id: 1, method: "initialize" })).toMatchObject({
      error: { code: -32602 },
    });
  });
});

describeMatrix("before initialize", { eras: ["legacy"], transports: pipes }, (cell) => {
  test("only ping is answered; the rest is refused, says why, and does not run [INIT-FIRST]", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server, { handshake: false });
    expect(await client.request("ping")).toEqual({});
    for (const method of ["tools/list", "tools/call", "logging/setLevel", "resources/subscribe"]) {
      const failure = client.request(method, { name: "look", level: "debug", uri: "test://a" });
      await expect(failure, method).rejects.toMatchObject({
        code: -32600,
        message: expect.stringContaining("initialize"),
      });
    }
    expect(seen).toEqual([]);
    await client.open();
    await client.request("tools/call", { name: "look" });
    expect(seen).toHaveLength(1);
    await client.close();
  });

  test("a session is not there to be pushed to [INIT-FIRST]", async () => {
    const { server } = makeServer();
    const client = await cell.connect(server, { handshake: false });
    await client.request("ping");
    expect(await server.push.sessions()).toEqual([]);
    await client.open();
    await client.request("ping");
    expect(await server.push.sessions()).toHaveLength(1);
    await client.close();
    expect(await server.push.sessions()).toEqual([]);
  });

  test("and before initialized, the server sends no requests of its own [INIT-SERVER-NO-EARLY-REQUESTS]", async () => {
    const { server } = makeServer();
    const client = await cell.connect(server, { handshake: false });
    client.send(
      initializeRequest("init", cell.revision, {
        capabilities: { roots: { listChanged: true }, sampling: {} },
      }),
    );
    await client.waitFor((message) => "id" in message && message.id === "init");
    server.tool("late", {}, () => "late");
    await client.request("tools/call", { name: "look" });
    await client.waitFor((message) => "method" in message);
    expect(client.received.filter((message) => "method" in message && "id" in message)).toEqual([]);
    await client.close();
  });
});

describeMatrix("a second initialize", { eras: ["legacy"] }, (cell) => {
  test("is an invalid request, and changes neither version nor client nor capabilities nor log level", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server, { capabilities: { roots: {} } });
    await client.request("logging/setLevel", { level: "error" });
    const other = legacyDates.find((date) => date !== cell.revision) ?? "";
    const again = initializeRequest("again", other, {
      capabilities: { sampling: {} },
      clientInfo: { name: "somebody else", version: "6" },
    });
    client.send(again);
    const answer = await client.waitFor((message) => "id" in message && message.id === "again");
    expect(answer).toMatchObject({
      error: { code: -32600, message: "This connection is already initialized" },
    });
    await client.request("tools/call", { name: "look" });
    expect(seen[0]).toMatchObject({
      revision: cell.revision,
      client: { name: "test-client" },
      clientCapabilities: { roots: {} },
    });
    await expect(client.request("tools/call", { name: "sample" })).rejects.toMatchObject({ code: -32021 });
    expect(client.notifications("notifications/message")).toEqual([]);
    await client.close();
  });

  test("sent together with the first loses to it", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server, { handshake: false });
    const other = legacyDates.find((date) => date !== cell.revision) ?? "";
    client.send(initializeRequest("a", cell.revision));
    client.send(initializeRequest("b", other));
    expect(await client.waitFor((message) => "id" in message && message.id === "b")).toMatchObject({
      error: { code: -32600 },
    });
    await client.request("tools/call", { name: "look" });
    expect(seen[0]?.revision).toBe(cell.revision);
    await client.close();
  });
});

describeMatrix("requireInitialized", { eras: ["legacy"] }, (cell) => {
  const refusal = { code: -32600, message: "Send notifications/initialized first" };

  test("refuses requests between initialize and its notification, except ping", async () => {
    const { server, seen } = makeServer({ requireInitialized: true });
    const client = await cell.connect(server, { handshake: false });
    client.send(initializeRequest("init", cell.revision));
    await client.waitFor((message) => "id" in message && message.id === "init");
    await expect(client.request("tools/call", { name: "look" })).rejects.toMatchObject(refusal);
    expect(await client.request("ping")).toEqual({});
    client.notify("notifications/initialized");
    await client.request("tools/call", { name: "look" });
    expect(seen).toHaveLength(1);
    await client.close();
  });

  test("is not satisfied by a notification that came before initialize", async () => {
    const { server } = makeServer({ requireInitialized: true });
    const client = await cell.connect(server, { handshake: false });
    client.notify("notifications/initialized");
    client.send(initializeRequest("init", cell.revision));
    await client.waitFor((message) => "id" in message && message.id === "init");
    await expect(client.request("tools/call", { name: "look" })).rejects.toMatchObject(refusal);
    await client.close();
  });

  test("is off unless asked for: a client that forgets the notification is served", async () => {
    const { server, seen } = makeServer();
    const client = await cell.connect(server, { handshake: false });
    client.send(initializeRequest("init", cell.revision));
    await client.waitFor((message) => "id" in message && message.id === "init");
    await client.request("tools/call", { name: "look" });
    expect(seen).toHaveLength(1);
    await client.close();
  });
});

describe.each(cells({ eras: ["modern"] }))("requireInitialized · $revision · $transport", (cell) => {
  test("asks nothing of a modern client, which has nothing to initialize", async () => {
    const { server, seen } = makeServer({ requireInitialized: true });
    const client = await cell.connect(server);
    await client.request("tools/call", { name: "look" });
    expect(seen).toHaveLength(1);
    await client.close();
  });
});

describe("the server's own implementation", () => {
  test.each([
    { name: "", version: "1" },
    { name: "x", version: "" },
    { name: "x" },
    { version: "1" },
    { name: 1, version: "1" },
    null,
  ])(
    "%j lacks a name or a version, and throws when the server is made [INIT-IMPLEMENTATION-FIELDS]",
    (given) => {
      expect(() => new McpServer(given as never)).toThrow(/name|version/);
    },
  );
});
