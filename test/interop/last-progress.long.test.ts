// The last progress report of a call reaches the official clients, which drop one that comes in one chunk with the result.
import { Client as ClientV2, SSEClientTransport as SseV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDemoServer } from "../../examples/demo/server.ts";
import { rowsOf } from "./rows.ts";
import { stdio } from "./ways.ts";

type OnProgress = (report: { progress: number }) => void;

/** Calls a tool that reports and returns at once. */
type Call = (onProgress: OnProgress) => Promise<unknown>;

const calls = 30;
const count = { name: "count", arguments: { to: 2, pauseMs: 0 } };
const info = { name: "interop", version: "1.0.0" };

/** How many of the last reports arrive: the best of a few rounds, since a machine that is busy may hold a client up. */
async function lastReports(call: Call): Promise<number> {
  let most = 0;
  for (let round = 0; round < 6 && most < 27; round++) {
    let heard = 0;
    for (let index = 0; index < calls; index++) {
      await call(({ progress }) => void (heard += progress === 2 ? 1 : 0));
    }
    most = Math.max(most, heard);
  }
  return most;
}

describe.each(rowsOf([stdio]))("$name over $way", ({ start, connect }) => {
  test("hears the last report of at least 27 calls in 30", async () => {
    const client = await connect(await start("demo"));
    onTestFinished(() => client.close());
    const call: Call = (onProgress) => client.call(count.name, count.arguments, { onProgress });
    expect(await lastReports(call)).toBeGreaterThanOrEqual(27);
  });
});

async function connectV1(url: URL): Promise<Call> {
  const client = new ClientV1(info);
  await client.connect(new SseV1(url));
  onTestFinished(() => client.close());
  return (onprogress) => client.callTool(count, undefined, { onprogress });
}

async function connectV2(url: URL): Promise<Call> {
  const client = new ClientV2(info);
  await client.connect(new SseV2(url));
  onTestFinished(() => client.close());
  return (onprogress) => client.callTool(count, { onprogress });
}

describe.each([
  ["sdk 1", connectV1],
  ["client 2", connectV2],
] as const)("%s over HTTP+SSE", (_, connect) => {
  test("hears the last report of at least 27 calls in 30", async () => {
    const served = await serveHttp(createDemoServer(), { port: 0, legacySse: true, graceMs: 100 });
    onTestFinished(() => served.close());
    const call = await connect(new URL("/sse", served.url));
    expect(await lastReports(call)).toBeGreaterThanOrEqual(27);
  });
});
