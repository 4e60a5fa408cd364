// How a client finds out over a wire and over stdio which era a server speaks: every row of the table.
import { CallTimeout, connect, InvalidResponse, NoCommonRevision, RpcRejection } from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { metaKeys, newestLegacy, newestModern } from "../../support/revisions.ts";
import { Refuse, type Script, ScriptedServer } from "../../support/scripted-wire.ts";
import { nextTurn } from "../../support/turns.ts";
import { scriptCommand } from "../stdio/start.ts";
import { failing, methods, open } from "./opening.ts";

const refusing =
  (code: number, data?: object): Script =>
  () => {
    throw new Refuse(code, "Refused", data);
  };

/** A legacy server that answers the probe like this. */
function legacy(probe: Script): ScriptedServer {
  return new ScriptedServer({ revision: newestLegacy }).on("server/discover", probe);
}

describe("a modern server on a wire", () => {
  test("a result with a common version [STDIO-PROBE-DISCOVER, STDIO-PROBE-RESULT, VER-DISCOVER-PICK]", async () => {
    const server = new ScriptedServer();
    const client = await open(server);
    expect(client.revision).toBe(newestModern);
    expect(client.server).toEqual({ name: "scripted", version: "1.0.0" });
    expect(methods(server)).toEqual(["server/discover"]);
    expect(server.received[0]?.params).toMatchObject({
      _meta: { [metaKeys.protocolVersion]: newestModern, [metaKeys.clientCapabilities]: {} },
    });
  });

  test("-32022 with a common version: once more with it, and no initialize [STDIO-PROBE-RESULT, VER-UNSUPPORTED-CLIENT-RETRY]", async () => {
    const server = new ScriptedServer();
    const result = { supportedVersions: [newestModern], capabilities: {} };
    let probes = 0;
    server.on("server/discover", () => {
      if (++probes === 1) throw new Refuse(-32022, "Unsupported", { supported: [newestModern] });
      return result;
    });
    expect((await open(server)).revision).toBe(newestModern);
    expect(methods(server)).toEqual(["server/discover", "server/discover"]);
  });

  test("-32022 without a common version: both sides are listed, and no initialize [STDIO-PROBE-RESULT]", async () => {
    const server = new ScriptedServer().on(
      "server/discover",
      refusing(-32022, { supported: ["2099-01-01"] }),
    );
    const failure = await failing(server);
    expect(failure).toBeInstanceOf(NoCommonRevision);
    expect(failure).toMatchObject({ theirs: ["2099-01-01"] });
    expect(methods(server)).toEqual(["server/discover"]);
  });

  test("that is silent at first and rejects initialize: the client probes once more", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const server = new ScriptedServer();
    let probes = 0;
    const result = { supportedVersions: [newestModern], capabilities: {} };
    server.on("server/discover", () => (++probes === 1 ? undefined : result));
    const opening = open(server);
    await vi.advanceTimersByTimeAsync(5000);
    expect((await opening).revision).toBe(newestModern);
    expect(methods(server)).toEqual(["server/discover", "initialize", "server/discover"]);
  });

  test.each(["before initialize has a response", "together with that of initialize"])(
    "that is slow to start: its late result counts, on a new wire without another handshake, %s [STDIO-PROBE-RESULT]",
    async (when) => {
      holdClocks("setTimeout", "clearTimeout");
      const server = new ScriptedServer().on("server/discover", () => undefined);
      server.on("initialize", () => undefined).on("acme/ping", () => ({}));
      const opening = open(server);
      while (methods(server).length === 0) await nextTurn();
      await vi.advanceTimersByTimeAsync(5000);
      expect(methods(server)).toEqual(["server/discover", "initialize"]);
      const [probe, initialize] = server.received;
      const discovered = {
        resultType: "complete",
        supportedVersions: [newestModern, newestLegacy],
        capabilities: {},
      };
      server.end.send({ jsonrpc: "2.0", id: probe?.id, result: discovered });
      if (when.startsWith("together")) {
        const serverInfo = { name: "slow", version: "1.0.0" };
        const result = { protocolVersion: newestLegacy, capabilities: {}, serverInfo };
        server.end.send({ jsonrpc: "2.0", id: initialize?.id, result });
      }
      const client = await opening;
      expect(client.revision).toBe(newestModern);
      await client.request("acme/ping");
      expect(methods(server)).toEqual(["server/discover", "initialize", "acme/ping"]);
      expect(server.ends).toHaveLength(2);
    },
  );

  test("that is slow to start, on a wire that cannot be opened again: a legacy revision", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const server = new ScriptedServer({ revision: newestLegacy, reopens: false });
    server.on("server/discover", () => undefined).on("initialize", () => undefined);
    const opening = open(server);
    while (methods(server).length === 0) await nextTurn();
    await vi.advanceTimersByTimeAsync(5000);
    const [probe, initialize] = server.received;
    const discovered = { resultType: "complete", supportedVersions: [newestModern], capabilities: {} };
    server.end.send({ jsonrpc: "2.0", id: probe?.id, result: discovered });
    const serverInfo = { name: "slow", version: "1.0.0" };
    const result = { protocolVersion: newestLegacy, capabilities: {}, serverInfo };
    server.end.send({ jsonrpc: "2.0", id: initialize?.id, result });
    expect((await opening).revision).toBe(newestLegacy);
    expect(server.ends).toHaveLength(1);
  });
});

describe("a legacy server on a wire", () => {
  test.each([-32601, -32600, -32602, -32603, -32000, -32002, 0, 1])(
    "the error %i [STDIO-PROBE-RESULT, STDIO-PROBE-NOT-ONE-CODE, VER-ERA-ANYTHING-ELSE]",
    async (code) => {
      const server = legacy(refusing(code));
      expect((await open(server)).revision).toBe(newestLegacy);
      expect(methods(server)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
      expect(server.ends).toHaveLength(1);
    },
  );

  test("an error whose id is null", async () => {
    const server = legacy((_, end) =>
      end.send({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "Not initialized" } }),
    );
    expect((await open(server)).revision).toBe(newestLegacy);
  });

  test("silence: initialize follows on the same wire after 5 s, and a late response is dropped [STDIO-PROBE-RESULT, STDIO-PROBE-NOT-ONE-CODE, CANCEL-LATE-RESPONSE]", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const server = legacy(() => undefined);
    const ignored: string[] = [];
    const opening = open(server, {
      observe: (event) => void (event.type === "ignored" && ignored.push(event.reason)),
    });
    // What `observe` needs is loaded first.
    while (methods(server).length === 0) await nextTurn();
    await vi.advanceTimersByTimeAsync(4999);
    expect(methods(server)).toEqual(["server/discover"]);
    await vi.advanceTimersByTimeAsync(1);
    expect((await opening).revision).toBe(newestLegacy);
    expect(server.ends).toHaveLength(1);
    // A server that does not know the probe is not told of its end either.
    expect(methods(server)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    server.end.send({ jsonrpc: "2.0", id: server.received[0]?.id, error: { code: -32601, message: "Late" } });
    await nextTurn();
    expect(ignored).toEqual([]);
  });

  test("a wire that closes: initialize follows on a new one", async () => {
    const server = legacy((_, end) => end.cut());
    expect((await open(server)).revision).toBe(newestLegacy);
    expect(server.ends).toHaveLength(2);
    expect(methods(server)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  test("a wire that closes and cannot be opened again: an error", async () => {
    const server = new ScriptedServer({ revision: newestLegacy, reopens: false });
    server.on("server/discover", (_, end) => end.cut(new Error("It is over")));
    const failure = await failing(server);
    expect(failure).toMatchObject({
      code: "CONNECTION_LOST",
      message: expect.stringContaining("It is over"),
    });
    expect(server.ends).toHaveLength(1);
  });

  test.each([-32001, -32020, -32021])(
    "the error %i says nothing: initialize is tried, and the first error reported if it fails too",
    async (code) => {
      expect((await open(legacy(refusing(code)))).revision).toBe(newestLegacy);
      const neither = legacy(refusing(code)).on("initialize", refusing(-32603));
      const failure = await failing(neither);
      expect(failure).toBeInstanceOf(RpcRejection);
      expect(failure).toMatchObject({ code });
    },
  );

  test("a result that is not usable is an error", async () => {
    const server = legacy(() => ({ tools: [] }));
    expect(await failing(server)).toBeInstanceOf(InvalidResponse);
    expect(methods(server)).toEqual(["server/discover"]);
  });
});

describe("a legacy server on stdio", () => {
  /** Answers `initialize`; does something else at the probe. */
  const serving = (onProbe: string): string => `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === "server/discover") { ${onProbe} }
      if (method !== "initialize") return;
      const result = { protocolVersion: "${newestLegacy}", capabilities: {}, serverInfo: { name: "pid", version: String(process.pid) } };
      console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });`;

  test("that exits at the probe is started again, without the probe", async () => {
    const client = await connect(scriptCommand(serving("process.exit(1);")));
    onTestFinished(() => client.close());
    expect(client.revision).toBe(newestLegacy);
  });

  test("that ignores the probe is initialized", async () => {
    const client = await connect(scriptCommand(serving("")), { connectTimeoutMs: 6000 });
    onTestFinished(() => client.close());
    expect(client.revision).toBe(newestLegacy);
  }, 20_000);
});

test("a server that never answers: connecting ends in time, names the limit, and never cancels initialize [INIT-NOT-CANCELLABLE]", async () => {
  holdClocks("setTimeout", "clearTimeout");
  const server = new ScriptedServer({ revision: newestLegacy });
  server.on("server/discover", () => undefined).on("initialize", () => undefined);
  const opening = failing(server, { connectTimeoutMs: 1000 });
  await vi.advanceTimersByTimeAsync(999);
  expect(methods(server)).toEqual(["server/discover", "initialize"]);
  await vi.advanceTimersByTimeAsync(1);
  const failure = await opening;
  expect(failure).toBeInstanceOf(CallTimeout);
  expect(failure).toMatchObject({ limit: "connectTimeoutMs" });
  expect(methods(server)).toEqual(["server/discover", "initialize"]);
});
