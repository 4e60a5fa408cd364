// Listening over HTTP while connections break and servers restart: nothing is missed without "read again".
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { type Change, connect, type McpClient } from "halyard/client";
import { nodeHandler } from "halyard/node";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../support/turns.ts";

interface Site {
  readonly url: string;
  /** Breaks every connection, and refuses new ones until it is `up`. */
  down(): void;
  up(): void;
  /** Forgets all sessions and streams, as another process would. */
  restart(): Promise<void>;
}

async function site(server: McpServer): Promise<Site> {
  let handler = nodeHandler(server);
  let isDown = false;
  const handlers = [handler];
  const http = createServer((request, response) => void handler(request, response));
  http.on("connection", (socket) => void (isDown && socket.destroy()));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.close();
    http.closeAllConnections();
    await Promise.all(handlers.map((one) => one.close()));
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    down: () => {
      isDown = true;
      http.closeAllConnections();
    },
    up: () => void (isDown = false),
    restart: async () => {
      await handler.close();
      handlers.push((handler = nodeHandler(server)));
    },
  };
}

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.resource("note:///a", {}, () => "a");
  return server;
}

describe.each(protocolRevisions)("listen over HTTP · $date", ({ date: revision, era }) => {
  async function listeningClient(
    url: string,
  ): Promise<{ client: McpClient; changes: Change[]; said: () => string[] }> {
    const backoff = { firstMs: 2, maxMs: 10, maxAttempts: 10_000 };
    const client = await connect(url, { revision, backoff });
    onTestFinished(() => client.close());
    const changes: Change[] = [];
    await client.listen({ tools: true, resources: ["note:///a"] }, (change) => void changes.push(change));
    const said = (): string[] => changes.map(({ kind, cause }) => `${kind} ${cause}`);
    return { client, changes, said };
  }

  test("tells of changes made while every connection was broken, once [SUB-NO-STATE]", async () => {
    const server = makeServer();
    const place = await site(server);
    const { changes, said } = await listeningClient(place.url);
    await server.resources.updated("note:///a");
    await until(() => changes.length === 1);
    place.down();
    server.tool("second", {}, () => "second");
    place.up();
    await until(() => said().some((change) => change.startsWith("tools")));
    const before = changes.length;
    await server.resources.updated("note:///a");
    await until(() => changes.length > before);
    const caused = said().slice(1, before).toSorted();
    // A legacy stream is resumed where it broke; a modern one begins anew.
    expect(caused).toEqual(era === "legacy" ? ["tools changed"] : ["resource gap", "tools gap"]);
    expect(said().slice(before)).toEqual(["resource changed"]);
  });

  test("says read again, and continues, after the server has restarted [SUB-NO-STATE, SESS-404-REINIT]", async () => {
    const server = makeServer();
    const place = await site(server);
    const { changes, said, client } = await listeningClient(place.url);
    place.down();
    await place.restart();
    place.up();
    await until(() => changes.length >= 2);
    expect(said().toSorted()).toEqual(["resource gap", "tools gap"]);
    const before = changes.length;
    await server.resources.updated("note:///a");
    await until(() => changes.length > before);
    expect(said().slice(before)).toEqual(["resource changed"]);
    expect(client.state.name).toBe("ready");
  });
});
