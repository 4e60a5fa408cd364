// What client and server agree on: the handshake of legacy revisions, pinned revisions, and connecting that fails or is given up.
import { connect, NoCommonRevision, RpcRejection } from "halyard/client";
import { describe, expect, test } from "vitest";
import { legacyDates, newestLegacy, newestModern } from "../../support/revisions.ts";
import { Refuse, ScriptedServer } from "../../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";
import { failing, methods, open } from "./opening.ts";

const initialized = (protocolVersion: unknown): object => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: "old", version: "1.0.0" },
  instructions: "Be kind",
});

const full = {
  name: "mine",
  version: "2.0.0",
  title: "Mine",
  description: "A client",
  websiteUrl: "https://example.com/",
};

describe("initialize", () => {
  test.each(legacyDates)(
    "agrees on %s with a server that speaks nothing newer [INIT-VERSION-CLIENT-LATEST, INIT-VERSION-CLIENT-SUPPORTED, BASE-SUPPORT-CORE-LEGACY]",
    async (revision) => {
      const server = new ScriptedServer({ revision });
      const client = await open(server);
      expect(client.revision).toBe(revision);
      expect(server.of("initialize")[0]?.params).toMatchObject({ protocolVersion: newestLegacy });
    },
  );

  test("sends version, capabilities and info, and initialized once it has the response [INIT-REQUEST-FIELDS, INIT-INITIALIZED, INIT-CLIENT-NO-EARLY-REQUESTS, INIT-FIRST, BASE-SUPPORT-CORE-LEGACY]", async () => {
    const gate = deferred<object>();
    const server = new ScriptedServer({ revision: newestLegacy }).on("initialize", () => gate.promise);
    const opening = open(server, {
      revision: newestLegacy,
      info: full,
      onElicit: () => ({ action: "cancel" }),
    });
    await until(() => server.received.length > 0);
    await nextTurn();
    expect(methods(server)).toEqual(["initialize"]);
    gate.resolve(initialized(newestLegacy));
    const client = await opening;
    expect(methods(server)).toEqual(["initialize", "notifications/initialized"]);
    expect(server.received[0]?.params).toMatchObject({
      protocolVersion: newestLegacy,
      clientInfo: full,
      capabilities: { elicitation: {} },
    });
    expect(client.server).toEqual({ name: "old", version: "1.0.0" });
    expect(client.capabilities).toEqual({ tools: {} });
    expect(client.instructions).toBe("Be kind");
  });

  test.each([
    ["2024-11-05", ["name", "version"]],
    ["2025-06-18", ["name", "version", "title"]],
  ])(
    "on %s sends only the fields of the client's info that it has [INIT-IMPLEMENTATION-FIELDS]",
    async (revision, fields) => {
      const server = new ScriptedServer({ revision });
      await open(server, { revision, info: full });
      expect(Object.keys(server.received[0]?.params?.["clientInfo"] as object)).toEqual(fields);
    },
  );

  test.each(["2099-01-01", newestModern])(
    "an answer with %s, which has no handshake or is unknown: an error that lists both sides, and the wire is closed [INIT-VERSION-CLIENT-DISCONNECT]",
    async (date) => {
      const server = new ScriptedServer({ revision: newestLegacy }).on("initialize", () => initialized(date));
      const failure = await failing(server);
      expect(failure).toBeInstanceOf(NoCommonRevision);
      expect(failure).toMatchObject({ theirs: [date] });
      expect(methods(server)).not.toContain("notifications/initialized");
      expect(server.isOpen).toBe(false);
    },
  );

  test("an error that lists versions: once more with a common one [INIT-ERR-PREPARED]", async () => {
    const server = new ScriptedServer({ revision: newestLegacy });
    server.on("initialize", ({ params }) => {
      const asked = params?.["protocolVersion"];
      if (asked !== "2025-03-26")
        throw new Refuse(-32602, "Unsupported", { supported: ["2025-03-26"], requested: asked });
      return initialized(asked);
    });
    expect((await open(server)).revision).toBe("2025-03-26");
    expect(server.of("initialize")).toHaveLength(2);
  });

  test("a result without a version, and an error: connect says what the server said, and nothing stays open", async () => {
    const nameless = new ScriptedServer({ revision: newestLegacy }).on("initialize", () => ({}));
    expect(await failing(nameless)).toMatchObject({ code: "INVALID_RESPONSE" });
    const refusing = new ScriptedServer({ revision: newestLegacy }).on("initialize", () => {
      throw new Refuse(-32603, "Out of order");
    });
    const failure = await failing(refusing);
    expect(failure).toBeInstanceOf(RpcRejection);
    expect(failure).toMatchObject({ code: -32603, message: "Out of order" });
    expect([nameless.isOpen, refusing.isOpen]).toEqual([false, false]);
  });
});

describe("a pinned revision", () => {
  test.each(legacyDates)("%s: initialize at once, without a probe", async (revision) => {
    const server = new ScriptedServer({ revision });
    expect((await open(server, { revision })).revision).toBe(revision);
    expect(methods(server)).toEqual(["initialize", "notifications/initialized"]);
    expect(server.received[0]?.params).toMatchObject({ protocolVersion: revision });
  });

  test("another legacy one than the server's: an error that lists both", async () => {
    const server = new ScriptedServer({ revision: "2025-03-26" });
    const failure = await failing(server, { revision: "2025-06-18" });
    expect(failure).toBeInstanceOf(NoCommonRevision);
    expect(failure).toMatchObject({ ours: ["2025-06-18"], theirs: ["2025-03-26"] });
  });

  test("a legacy one, of a modern server: an error that lists both, and no probe", async () => {
    const server = new ScriptedServer().on("initialize", () => {
      throw new Refuse(-32022, "Unsupported", { supported: [newestModern] });
    });
    const failure = await failing(server, { revision: newestLegacy });
    expect(failure).toBeInstanceOf(NoCommonRevision);
    expect(failure).toMatchObject({ ours: [newestLegacy], theirs: [newestModern] });
    expect(methods(server)).toEqual(["initialize"]);
  });

  test("the modern one, of a legacy server: an error after the probe [VER-MODERN-CLIENT-STDIO-PROBE, STDIO-PROBE-MODERN-ONLY]", async () => {
    const server = new ScriptedServer({ revision: newestLegacy });
    const failure = await failing(server, { revision: newestModern });
    expect(failure).toBeInstanceOf(NoCommonRevision);
    expect(failure).toMatchObject({ ours: [newestModern], cause: { code: -32601 } });
    expect(methods(server)).toEqual(["server/discover"]);
  });
});

describe("connecting that ends early", () => {
  test("an aborted signal ends it with the reason, and closes the wire", async () => {
    const server = new ScriptedServer().on("server/discover", () => undefined);
    const abort = new AbortController();
    const opening = failing(server, { signal: abort.signal });
    const reason = new Error("No longer needed");
    abort.abort(reason);
    expect(await opening).toBe(reason);
    expect(server.isOpen).toBe(false);
  });

  test("a wire that opens after the signal was aborted is closed", async () => {
    const server = new ScriptedServer();
    const gate = deferred();
    const abort = new AbortController();
    const slow = { openWire: () => gate.promise.then(() => server.openWire()) };
    const opening = connect(slow, { signal: abort.signal }).catch((reason: unknown) => reason);
    abort.abort(new Error("No longer needed"));
    expect(await opening).toBe(abort.signal.reason);
    gate.resolve();
    await expect.poll(() => server.ends.length).toBe(1);
    await expect.poll(() => server.isOpen).toBe(false);
  });

  test("a wire that cannot be opened is tried three times, and the error says why", async () => {
    let tries = 0;
    const source = {
      openWire: () => {
        tries++;
        throw new Error("The cable is unplugged");
      },
    };
    const failure = await connect(source, { backoff: { firstMs: 1 } }).catch((reason: unknown) => reason);
    expect(failure).toMatchObject({
      reason: "unreachable",
      mayHaveRun: false,
      message: expect.stringContaining("The cable is unplugged"),
    });
    expect(tries).toBe(3);
  });
});
