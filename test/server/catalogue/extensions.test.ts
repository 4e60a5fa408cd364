// Extensions: off until a server adds them, and only for modern clients that declare them too unless they say otherwise.
import {
  type ClientCapabilities,
  ConfigurationError,
  type Extension,
  type JsonObject,
  McpServer,
} from "halyard";
import { beforeEach, describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { metaKeys, modernRequest, newestModern, RawPeer } from "../../support/raw.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";

const clock: Extension = {
  settings: { zone: "UTC" },
  requests: {
    "clock/now": (params, ctx) => ({ now: 0, format: params["format"] ?? null, revision: ctx.revision }),
    "clock/later": () => ({ resultType: "ticking", ticks: 3 }),
  },
  listens: { ticks: { notification: "notifications/clock/tick", kind: "keys" } },
};

beforeEach(() =>
  allowBeyondSchema(
    "result of clock",
    "/params/notifications/ticks",
    "notifications/clock",
    // Legacy revisions do not name it, and their set of capabilities is open.
    "/capabilities/extensions",
  ),
);

const make = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });
const withClock = (): McpServer => make().extension("com.example/clock", clock);
const declaring = (...identifiers: string[]): ClientCapabilities => ({
  extensions: Object.fromEntries(identifiers.map((identifier) => [identifier, {}])),
});

describeMatrix("extensions", { eras: ["modern"] }, (cell) => {
  test("are off until a server adds them: nothing is advertised, no method is there [EXT-OFF-BY-DEFAULT]", async () => {
    const client = await cell.connect(make(), { capabilities: declaring("com.example/clock") });
    expect(await client.request("server/discover")).not.toHaveProperty("capabilities.extensions");
    await expect(client.request("clock/now")).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });

  test("are advertised with their settings, or with none [VER-EXT-EMPTY-SETTINGS, VER-CAP-SERVER-ADVERTISE]", async () => {
    const client = await cell.connect(withClock().extension("com.example/plain"));
    expect(await client.request("server/discover")).toMatchObject({
      capabilities: { extensions: { "com.example/clock": { zone: "UTC" }, "com.example/plain": {} } },
    });
    await client.close();
  });

  test("answer a client that declares them, even with no settings [VER-EXT-EMPTY-SETTINGS]", async () => {
    const client = await cell.connect(withClock(), { capabilities: declaring("com.example/clock") });
    expect(await client.request("clock/now", { format: "iso" })).toMatchObject({
      now: 0,
      format: "iso",
      revision: cell.revision,
      resultType: "complete",
    });
    await client.close();
  });

  test("are refused to a client that does not, with the capability it would need, and core is served all the same [VER-EXT-FALLBACK, VER-CAP-NOT-DECLARED]", async () => {
    const server = withClock();
    server.tool("core", {}, () => "core");
    const client = await cell.connect(server, { capabilities: declaring("com.example/other") });
    await expect(client.request("clock/now")).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { "com.example/clock": {} } } },
    });
    expect(await client.request("tools/call", { name: "core" })).toMatchObject({
      content: [{ text: "core" }],
    });
    await client.close();
  });

  test("that only the client has are no reason to refuse it [VER-EXT-FALLBACK]", async () => {
    const server = make();
    server.tool("core", {}, () => "core");
    const client = await cell.connect(server, {
      capabilities: declaring("com.example/theirs", "not an id", ""),
    });
    expect(await client.request("tools/call", { name: "core" })).toMatchObject({
      content: [{ text: "core" }],
    });
    await client.close();
  });

  test("have to be declared in each request anew [BASE-STATELESS-NO-PRIOR]", async () => {
    const client = await cell.connect(withClock());
    const _meta = { [metaKeys.clientCapabilities]: declaring("com.example/clock") };
    expect(await client.request("clock/now", { _meta })).toMatchObject({ now: 0 });
    await expect(client.request("clock/now")).rejects.toMatchObject({ code: -32021 });
    await client.close();
  });

  test("may have results of a type of their own; what is no extension's is complete [BASE-RESULTTYPE-EXT-SET, BASE-RESULTTYPE-EXT-MAY, BASE-RESULT-OPEN]", async () => {
    const server = withClock();
    server.tool("core", {}, () => "core");
    const client = await cell.connect(server, { capabilities: declaring("com.example/clock") });
    expect(await client.request("clock/later")).toMatchObject({ resultType: "ticking", ticks: 3 });
    expect(await client.request("tools/call", { name: "core" })).toMatchObject({ resultType: "complete" });
    await client.close();
  });

  test("whose method comes to no object say so in the log, and which method it was", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    server.extension("com.example/clock", {
      requests: { "clock/none": () => null as unknown as JsonObject },
    });
    const client = await cell.connect(server, { capabilities: declaring("com.example/clock") });
    await expect(client.request("clock/none")).rejects.toMatchObject({ code: -32603 });
    const message = expect.stringContaining("clock/none returned no result") as string;
    expect(logger.entries).toMatchObject([{ details: { error: { message } } }]);
    await client.close();
  });

  test("can be listened to by who declares them [VER-EXT-FALLBACK]", async () => {
    const server = withClock();
    server.tool("core", {}, () => "core");
    const client = await cell.connect(server);
    const filter = { notifications: { ticks: ["a"], toolsListChanged: true } };
    const acknowledgement = async (id: string, meta: object): Promise<unknown> => {
      client.send(modernRequest(id, "subscriptions/listen", filter, { ...meta }));
      const message = await client.waitFor(
        (each) =>
          "method" in each &&
          (each.params?.["_meta"] as JsonObject | undefined)?.[metaKeys.subscriptionId] === id,
      );
      return "params" in message ? message.params?.["notifications"] : undefined;
    };
    const declared = { [metaKeys.clientCapabilities]: declaring("com.example/clock") };
    expect(await acknowledgement("with", declared)).toEqual({ ticks: ["a"], toolsListChanged: true });
    expect(await acknowledgement("without", {})).toEqual({ toolsListChanged: true });
    expect(await server.push.publish("notifications/clock/tick", "a", { at: 1 })).toBe(1);
    await client.waitFor((message) => "method" in message && message.method === "notifications/clock/tick");
    await client.close();
  });
});

describeMatrix("extensions", { eras: ["legacy"] }, (cell) => {
  test("do not exist for a legacy client, not even for one that declares them [INIT-CAPS-EXTENSIONS-NOT-LEGACY]", async () => {
    const server = withClock().extension("io.modelcontextprotocol/tasks", {
      requests: { "tasks/get": () => ({ task: {} }) },
    });
    const capabilities = declaring("com.example/clock", "io.modelcontextprotocol/tasks");
    const client = await cell.connect(server, { capabilities, handshake: false });
    expect(await client.open()).not.toHaveProperty("capabilities.extensions");
    await expect(client.request("clock/now")).rejects.toMatchObject({ code: -32601 });
    await expect(client.request("tasks/get")).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });
});

describeMatrix("an extension for both eras", {}, (cell) => {
  // No legacy schema names it, but their capabilities are an open set.
  beforeEach(() => allowBeyondSchema("/capabilities/extensions"));
  const both = (declaration?: "optional"): McpServer =>
    make()
      .extension("com.example/modern", { requests: { "modern/only": () => ({}) } })
      .extension("com.example/clock", { ...clock, eras: "both", ...(declaration && { declaration }) });

  test("is advertised by initialize as by discover, and no other is in the legacy era [INIT-CAPS-EXTENSIONS-NOT-LEGACY]", async () => {
    const client = await cell.connect(both(), { handshake: false });
    const opened = cell.era === "legacy" ? await client.open() : await client.request("server/discover");
    const modern = cell.era === "modern" ? { "com.example/modern": {} } : {};
    expect(opened).toHaveProperty("capabilities.extensions", {
      ...modern,
      "com.example/clock": { zone: "UTC" },
    });
    expect(both().capabilities(cell.revision).extensions).toEqual({
      ...modern,
      "com.example/clock": { zone: "UTC" },
    });
    await client.close();
  });

  test("answers those who declare it, and refuses others with what is missing [VER-EXT-FALLBACK]", async () => {
    const declared = await cell.connect(both(), { capabilities: declaring("com.example/clock") });
    expect(await declared.request("clock/now")).toMatchObject({ now: 0, revision: cell.revision });
    const other = await cell.connect(both(), { capabilities: declaring("com.example/modern") });
    await expect(other.request("clock/now")).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { "com.example/clock": {} } } },
    });
    if (cell.era === "legacy")
      await expect(other.request("modern/only")).rejects.toMatchObject({ code: -32601 });
    await declared.close();
    await other.close();
  });

  test("whose declaration is optional answers everybody", async () => {
    const client = await cell.connect(both("optional"));
    expect(await client.request("clock/now")).toMatchObject({ now: 0 });
    await client.close();
  });

  test("that is modern, and whose declaration is optional, is listened to by everybody", async () => {
    if (cell.era === "legacy") return;
    const server = make().extension("com.example/clock", { ...clock, declaration: "optional" });
    const client = await cell.connect(server);
    server.tool("core", {}, () => "core");
    client.send(modernRequest("sub", "subscriptions/listen", { notifications: { ticks: ["a"] } }));
    const acknowledged = "notifications/subscriptions/acknowledged";
    await client.waitFor((message) => "method" in message && message.method === acknowledged);
    expect(await server.push.publish("notifications/clock/tick", "a", { at: 1 })).toBe(1);
    await client.close();
  });
});

describe("an extension for both eras", () => {
  test.each(["ping", "tasks/result", "elicitation/create", "tools/call"])("cannot have %s", (method) => {
    const extension: Extension = { eras: "both", requests: { [method]: () => ({}) } };
    expect(() => make().extension("com.example/x", extension)).toThrow("is already a method");
  });

  test.each([{ eras: "legacy" }, { declaration: "no" }])("cannot be %j", (wrong) => {
    expect(() => make().extension("com.example/x", wrong as Extension)).toThrow(ConfigurationError);
  });
});

describe("identifiers", () => {
  test.each([
    "com.example/clock",
    "example/clock",
    "com.example/clock.v2",
    "a.b-c/x_y",
    "io.modelcontextprotocol/tasks",
    "com.example/1",
  ])("%s is one [VER-EXT-IDENTIFIER]", (identifier) => {
    expect(make().extension(identifier).capabilities().extensions).toEqual({ [identifier]: {} });
  });

  test.each([
    "clock",
    "/clock",
    "com.example",
    "com..example/clock",
    "1com/clock",
    "com.example-/clock",
    "com.example/clock/now",
    "com.example/-x",
    "com example/clock",
    ".com/x",
    "",
    "com.exämple/clock",
  ])("%j is none, and throws when it is added [VER-EXT-IDENTIFIER]", (identifier) => {
    expect(() => make().extension(identifier)).toThrow(ConfigurationError);
  });

  test("are taken once each", () => {
    expect(() => withClock().extension("com.example/clock")).toThrow("is already registered");
  });

  test("are told apart exactly: a new identifier is a new extension", async () => {
    const server = withClock().extension("com.example/clock2", {
      requests: { "clock2/now": () => ({ now: 2 }) },
    });
    const peer = new RawPeer(server, newestModern);
    const ask = (method: string, identifier: string): Promise<unknown> =>
      peer.request(method, { _meta: { [metaKeys.clientCapabilities]: declaring(identifier) } });
    expect(await ask("clock2/now", "com.example/clock2")).toMatchObject({ result: { now: 2 } });
    expect(await ask("clock2/now", "com.example/clock")).toMatchObject({ error: { code: -32021 } });
    expect(await ask("clock/now", "com.example/Clock")).toMatchObject({ error: { code: -32021 } });
  });
});
