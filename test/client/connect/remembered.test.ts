// What a client remembers of a server saves requests, and is not trusted for ever.
import { type Remembered, RpcRejection } from "halyard/client";
import { describe, expect, test } from "vitest";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { type HttpScript, respond, serveScript } from "../../support/scripted-http.ts";
import { Refuse, said, ScriptedServer, type Sent } from "../../support/scripted-wire.ts";
import { methods, open } from "./opening.ts";

const day = 24 * 60 * 60 * 1000;

const remembered = (revision: string, ageMs = 0): Remembered => ({
  revision,
  server: { name: "known", version: "1.0.0" },
  capabilities: { tools: {} },
  instructions: "Be kind",
  at: Date.now() - ageMs,
});

describe("a modern server", () => {
  test("is not asked anything before the first call [VER-ERA-PERSIST, VER-DISCOVER-OPTIONAL-CLIENT]", async () => {
    const server = new ScriptedServer().on("tools/call", () => said("done"));
    const known = remembered(newestModern, 1000);
    const client = await open(server, { remembered: known });
    expect(server.received).toEqual([]);
    expect(client).toMatchObject({
      revision: newestModern,
      server: known.server,
      capabilities: known.capabilities,
      instructions: "Be kind",
    });
    expect(client.state).toMatchObject({ name: "ready", reason: "The server is remembered" });
    await client.callTool("pay");
    expect(methods(server)).toEqual(["tools/call"]);
    // It is as old as it was: using it does not renew it.
    expect(client.remember()).toEqual(known);
  });

  test("is remembered by a plain value", async () => {
    const server = new ScriptedServer({ capabilities: { tools: {} } });
    const before = Date.now();
    const client = await open(server, {});
    const kept = JSON.parse(JSON.stringify(client.remember())) as Remembered;
    expect(kept).toMatchObject({
      revision: newestModern,
      capabilities: { tools: {} },
      server: { name: "scripted" },
    });
    expect(kept.at).toBeGreaterThanOrEqual(before);
    const again = await open(server, { remembered: kept });
    expect(again.server).toEqual(client.server);
    expect(methods(server)).toEqual(["server/discover"]);
  });

  test.each([day, 10 * day, -10 * day])("is asked again if that was %i ms ago", async (ageMs) => {
    const server = new ScriptedServer();
    const client = await open(server, { remembered: remembered(newestModern, ageMs) });
    expect(methods(server)).toEqual(["server/discover"]);
    expect(client.remember().at).toBeGreaterThan(Date.now() - day);
  });

  test("is asked if the revision is unknown, or another one is pinned", async () => {
    const server = new ScriptedServer();
    await open(server, { remembered: remembered("2099-01-01") });
    expect(methods(server)).toEqual(["server/discover"]);
    const legacy = new ScriptedServer({ revision: newestLegacy });
    const client = await open(legacy, { remembered: remembered(newestModern), revision: newestLegacy });
    expect(client.revision).toBe(newestLegacy);
  });
});

describe("a server that was modern and is legacy now", () => {
  const initialized = {
    protocolVersion: newestLegacy,
    capabilities: {},
    serverInfo: { name: "s", version: "1" },
  };

  /** Refuses whatever comes before `initialize`. */
  async function overHttp(refuse: (message: Sent) => HttpScript) {
    let isInitialized = false;
    return serveScript(({ verb, message }) => {
      if (verb !== "POST") return { status: 405 };
      if (message.method === "initialize") {
        isInitialized = true;
        return respond(message, { result: initialized });
      }
      if (message.id === undefined) return { status: 202 };
      return isInitialized ? respond(message, { result: said("done") }) : refuse(message);
    });
  }

  test.each<[what: string, refuse: (message: Sent) => HttpScript]>([
    ["400 with plain text", () => ({ status: 400, body: "Missing session ID" })],
    [
      "404 with -32601",
      (message) => ({ ...respond(message, { error: { code: -32601, message: "?" } }), status: 404 }),
    ],
    [
      "400 with -32022",
      (message) => ({
        ...respond(message, { error: { code: -32022, message: "?", data: { supported: [newestLegacy] } } }),
        status: 400,
      }),
    ],
  ])("is found out by the first call, which is sent again: %s", async (_, refuse) => {
    const server = await overHttp(refuse);
    const client = await open(server.url, { remembered: remembered(newestModern) });
    const results = await Promise.all([
      client.callTool("pay"),
      client.callTool("pay"),
      client.callTool("pay"),
    ]);
    expect(results).toHaveLength(3);
    expect(client.revision).toBe(newestLegacy);
    const seen = server.seen();
    expect(seen.filter((method) => method === "initialize")).toHaveLength(1);
    expect(seen.filter((method) => method === "server/discover")).toHaveLength(1);
  });

  test("an error that is meant ends the call after one probe", async () => {
    const server = new ScriptedServer();
    const client = await open(server, { remembered: remembered(newestModern) });
    const failure = await client.request("no/such/method").catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(RpcRejection);
    expect(failure).toMatchObject({ code: -32601 });
    expect(server.of("server/discover")).toHaveLength(1);
    await client.request("no/such/method").catch(() => {});
    expect(server.of("server/discover")).toHaveLength(1);
  });
});

describe("a modern server that is remembered, and does what it is asked", () => {
  test.each<[what: string, answer: (message: Sent) => HttpScript]>([
    ["-32601", (message) => respond(message, { error: { code: -32601, message: "No such account" } })],
    ["409", () => ({ status: 409 })],
  ])("is not asked twice once it has answered: %s", async (_, answer) => {
    const server = await serveScript(({ message }) =>
      message.params?.["name"] === "pay" ? answer(message) : respond(message, { result: said("done") }),
    );
    const client = await open(server.url, { remembered: remembered(newestModern) });
    await client.callTool("read");
    await expect(client.callTool("pay")).rejects.toThrow();
    expect(server.seen().filter((method) => method === "tools/call")).toHaveLength(2);
  });

  test("is not asked twice if the first call took it too long: 408", async () => {
    const server = await serveScript(({ message }) =>
      message.method === "tools/call" ? { status: 408 } : respond(message, { result: { tools: [] } }),
    );
    const client = await open(server.url, { remembered: remembered(newestModern) });
    await expect(client.callTool("pay")).rejects.toMatchObject({ status: 408 });
    expect(server.seen().filter((method) => method === "tools/call")).toHaveLength(1);
  });
});

describe("a legacy server", () => {
  test("is initialized without a probe", async () => {
    const server = new ScriptedServer({ revision: newestLegacy });
    const client = await open(server, { remembered: remembered(newestLegacy) });
    expect(methods(server)).toEqual(["initialize", "notifications/initialized"]);
    expect(client.server).toEqual({ name: "scripted", version: "1.0.0" });
  });

  test("is probed again after a day, because servers change", async () => {
    const server = new ScriptedServer();
    const client = await open(server, { remembered: remembered(newestLegacy, day) });
    expect(client.revision).toBe(newestModern);
  });

  test("that is modern now is found out at once [VER-ERA-PERSIST]", async () => {
    const server = new ScriptedServer().on("initialize", () => {
      throw new Refuse(-32601, "Method not found");
    });
    const client = await open(server, { remembered: remembered(newestLegacy) });
    expect(client.revision).toBe(newestModern);
    expect(methods(server)).toEqual(["initialize", "server/discover"]);
  });
});
