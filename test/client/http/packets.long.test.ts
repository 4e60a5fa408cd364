// TLS connections in which a bit flips, or which are reset, anywhere from the handshake to the end of a reply: what ran is never said
// not to have run, and never runs twice.
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { connect, ConnectionLost, type McpClient } from "halyard/client";
import { nodeHandler } from "halyard/node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { makeCertificate } from "../../support/certificate.ts";
import { recordingLogger } from "../../support/log.ts";
import { PacketProxy } from "../../support/packet-proxy.ts";
import { until } from "../../support/turns.ts";

const runs = new Map<string, number>();
let http: Server;
let handler: ReturnType<typeof nodeHandler>;

beforeAll(async () => {
  const server = new McpServer({ name: "bank", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("pay", { input: z.object({ key: z.string() }) }, ({ key }) => {
    runs.set(key, (runs.get(key) ?? 0) + 1);
    return key;
  });
  handler = nodeHandler(server, { rateLimit: false });
  http = createServer(makeCertificate(), (request, response) => void handler(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  http.close();
  await handler.close();
  http.closeAllConnections();
});

async function behindProxy(fetch?: typeof globalThis.fetch): Promise<[McpClient, PacketProxy]> {
  const trusted = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  const proxy = await PacketProxy.open((http.address() as AddressInfo).port);
  const client = await connect(`https://127.0.0.1:${proxy.port}/mcp`, {
    backoff: { firstMs: 1, maxMs: 2 },
    timeoutMs: 500,
    ...(fetch && { fetch }),
  });
  onTestFinished(async () => {
    await client.close();
    proxy.close();
    if (trusted === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = trusted;
  });
  await client.listTools();
  return [client, proxy];
}

/** Bytes of the handshake, the request and the reply, with the first ones of records, which say what they are. */
const places = [0, 1, 3, 5, 20, 90, 130, 250, 400, 520, 600, 700, 800, 1000, 1200, 1500];

describe.each([
  { name: "node:http", fetch: undefined },
  { name: "fetch", fetch: globalThis.fetch },
])("by $name", ({ name, fetch }) => {
  test.each([
    { kind: "flip", isKept: false },
    { kind: "flip", isKept: true },
    { kind: "reset", isKept: false },
    { kind: "reset", isKept: true },
  ] as const)("$kind, on a connection that was used before: $isKept", { timeout: 60_000 }, async (row) => {
    const { kind, isKept } = row;
    const [client, proxy] = await behindProxy(fetch);
    const outcomes: Record<string, number> = {};
    const wrong: string[] = [];
    for (const way of ["up", "down"] as const)
      for (const at of places) {
        if (isKept) await client.callTool("pay", { key: "before" });
        else {
          proxy.breakAll();
          await until(() => proxy.connections === 0);
        }
        const key = `${name}-${kind}-${way}-${at}-${isKept}`;
        proxy.arm({ kind, way, at });
        const error = await client.callTool("pay", { key }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const isPending = proxy.arm(undefined);
        const ran = runs.get(key) ?? 0;
        const isLost = error instanceof ConnectionLost;
        const outcome = isPending
          ? "untouched"
          : !error
            ? "result"
            : isLost
              ? `lost, ${error.mayHaveRun}`
              : "late";
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        if (ran > 1) wrong.push(`${key} ran ${ran} times: ${String(error)}`);
        if (error === undefined && ran !== 1) wrong.push(`${key} has a result and ran ${ran} times`);
        if (isLost && !error.mayHaveRun && ran > 0) wrong.push(`${key} ran: ${error.message}`);
      }
    expect(wrong).toEqual([]);
    expect(outcomes["lost, true"]).toBeGreaterThan(0);
    if (!isKept && !fetch) expect(outcomes["result"]).toBeGreaterThan(0);
  });
});
