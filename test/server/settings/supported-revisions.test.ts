// supportedRevisions narrows what a server speaks, on every transport.
import { ConfigurationError, McpServer, type ServerMode, type ServerOptions } from "halyard";
import { portOf } from "halyard/transport";
import { connect, protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { cells } from "../../support/matrix.ts";
import { SseClient } from "../../support/legacy-sse.ts";
import { initializeRequest, legacyDates, metaKeys, modernDates } from "../../support/raw.ts";
import { edges, sendModern, serve, SessionClient } from "../../support/sessions.ts";
import { send } from "../../support/event-reply.ts";

const [modern = ""] = modernDates;
const dates = protocolRevisions.map(({ date }) => date);

function make(supportedRevisions: readonly string[], options: ServerOptions = {}): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { ...options, supportedRevisions });
  server.tool("t", {}, () => "ok");
  return server;
}

describe.each(cells())("supportedRevisions · $revision · $transport", (cell) => {
  test("a server that speaks only this revision says so, and serves it", async () => {
    const client = await cell.connect(make([cell.revision]), { handshake: false });
    onTestFinished(() => client.close());
    if (cell.era === "legacy") expect(await client.open()).toHaveProperty("protocolVersion", cell.revision);
    else expect(await client.request("server/discover")).toHaveProperty("supportedVersions", [cell.revision]);
    expect(await client.request("tools/call", { name: "t" })).toMatchObject({ content: [{ text: "ok" }] });
  });
});

describe("on a pipe", () => {
  test.each(legacyDates)("a client that wants another legacy one than %s gets that", async (only) => {
    const client = await connect(make([only, modern]), { revision: modern });
    onTestFinished(() => client.close());
    for (const wanted of [...dates, "1999-01-01"]) {
      const answer = await make([only, modern]).handleRaw(JSON.stringify(initializeRequest(1, wanted)));
      expect(JSON.parse(answer ?? "")).toHaveProperty("result.protocolVersion", only);
    }
    expect(await client.request("server/discover")).toHaveProperty("supportedVersions", [modern, only]);
  });

  test("a modern request to a server without the modern era is what it is to any legacy server", async () => {
    const server = make(["2025-06-18"]);
    expect(portOf(server).mode).toBe("stateful");
    const client = await connect(server, { revision: modern });
    onTestFinished(() => client.close());
    await expect(client.request("server/discover")).rejects.toMatchObject({ code: -32601 });
  });

  test("initialize to a server without the legacy era is told what is spoken [VER-MODERN-ONLY-INIT-ERROR, VER-UNSUPPORTED-ERROR]", async () => {
    const client = await connect(make([modern]), { revision: "2025-11-25", handshake: false });
    onTestFinished(() => client.close());
    await expect(client.open()).rejects.toMatchObject({
      code: -32022,
      data: { supported: [modern], requested: "2025-11-25" },
    });
    await expect(client.request("tools/list")).rejects.toMatchObject({ code: -32602 });
    await expect(client.request("ping")).rejects.toMatchObject({ code: -32601 });
  });

  test("a version that is known, but not spoken, is not supported [VER-UNSUPPORTED-ERROR]", async () => {
    const client = await connect(make([modern, "2025-11-25"]), { revision: modern });
    onTestFinished(() => client.close());
    for (const [requested, supported] of [
      ["2025-03-26", [modern, "2025-11-25"]],
      ["2025-11-25", [modern]],
    ] as const) {
      const _meta = { [metaKeys.protocolVersion]: requested };
      await expect(client.request("tools/list", { _meta })).rejects.toMatchObject({
        code: -32022,
        data: { supported, requested },
      });
    }
  });

  test("capabilities() knows those that are spoken", () => {
    const server = make(["2025-06-18"]);
    expect(server.capabilities()).toEqual(server.capabilities("2025-06-18"));
    expect(() => server.capabilities(modern)).toThrow(RangeError);
  });
});

describe.each(edges)("over HTTP · %s", (edge) => {
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

  test("a version header must name what is spoken [VER-UNSUPPORTED-HTTP-400]", async () => {
    const served = await serve(make([modern, "2025-11-25"]), {}, edge);
    const client = await SessionClient.open(served);
    const ask = (version: string) =>
      client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-protocol-version": version });
    expect((await ask("2025-11-25")).status).toBe(200);
    const refused = await ask("2025-06-18");
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { code: -32022, data: { supported: [modern, "2025-11-25"], requested: "2025-06-18" } },
    });
  });

  test("without the legacy era there are no sessions, and initialize is told what is spoken [VER-MODERN-ONLY-INIT-ERROR]", async () => {
    const { url } = await serve(make([modern]), {}, edge);
    const body = JSON.stringify(initializeRequest(1, "2025-11-25"));
    const reply = await send(url, { headers: json, body });
    expect([reply.status, reply.headers["mcp-session-id"]]).toEqual([400, undefined]);
    expect(await reply.json()).toMatchObject({
      id: 1,
      error: { code: -32022, data: { supported: [modern], requested: "2025-11-25" } },
    });
    for (const method of ["GET", "DELETE"]) {
      expect((await send(url, { method, headers: { accept: "text/event-stream" } })).status).toBe(405);
    }
    expect((await sendModern(url, "tools/list")).status).toBe(200);
  });

  test("without the modern era nothing looks modern", async () => {
    const { url } = await serve(make(["2025-11-25"]), {}, edge);
    const reply = await sendModern(url, "server/discover");
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: -32600 } });
  });

  test("without sessions, a client that names no version has to speak one that is spoken", async () => {
    const { url } = await serve(make(["2025-11-25"], { mode: "stateless" }), {}, edge);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const ask = async (headers: Record<string, string>): Promise<unknown> =>
      (await send(url, { headers: { ...json, ...headers }, body })).json();
    expect(await ask({ "mcp-protocol-version": "2025-11-25" })).toHaveProperty("result.tools");
    expect(await ask({})).toMatchObject({ error: { code: -32600 } });
  });
});

test("over HTTP+SSE, initialize agrees on what is spoken", async () => {
  const client = await SseClient.open(await serve(make(["2025-03-26"]), { legacySse: true }));
  expect(client.stream.messages[0]).toHaveProperty("result.protocolVersion", "2025-03-26");
});

describe("a server that cannot speak as it should", () => {
  test.each<[unknown, ServerMode | undefined]>([
    [[], undefined],
    ["2025-11-25", undefined],
    [["2025-11-26"], undefined],
    [[5], undefined],
    [["2026-07-28"], "stateful"],
    [["2026-07-28", "2025-11-25"], "stateful"],
  ])("%j with mode %s throws, and names what it may", (supportedRevisions, mode) => {
    const options = { supportedRevisions, ...(mode && { mode }) } as ServerOptions;
    const known = mode === "stateful" ? legacyDates : dates;
    expect(() => new McpServer({ name: "test", version: "1.0.0" }, options)).toThrow(
      expect.objectContaining({
        constructor: ConfigurationError,
        code: "INVALID_OPTION",
        field: "supportedRevisions",
        message: expect.stringContaining(`choose from ${known.join(", ")}`),
      }),
    );
  });
});
