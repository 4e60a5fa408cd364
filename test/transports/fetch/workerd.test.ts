// fetchHandler under workerd: alone for calls, and in a Durable Object for sessions and streams.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/turns.ts";
import { startWorker, type Worker } from "./workerd.ts";

const revision = "2026-07-28";
const json = { "content-type": "application/json" };

let worker: Worker;

function post(
  message: object,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${worker.origin}/mcp`, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    ...(signal && { signal }),
  });
}

function postModern(method: string, params: object, name?: string, signal?: AbortSignal): Promise<Response> {
  const headers = {
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": name }),
  };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return post({ method, params: { ...params, name, _meta } }, headers, signal);
}

function initialize(): Promise<Response> {
  const clientInfo = { name: "test", version: "1.0.0" };
  return post({
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
}

/** Reads a stream until it has carried a message of that method. */
async function readUntil(response: Response, method: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(`"${method}"`)) return text;
  }
  throw new Error(`The stream ended without ${method}: ${text}`);
}

const hello = { result: { content: [{ type: "text", text: "Hello" }] } };

describe("fetchHandler in a plain Worker", () => {
  beforeAll(async () => {
    worker = await startWorker("plain-worker");
  });

  afterAll(() => worker.stop());

  test("answers a modern call", async () => {
    const response = await postModern("tools/call", {}, "hello");
    expect(await response.json()).toMatchObject(hello);
  });

  test("answers legacy requests without a session in mode stateless", async () => {
    const response = await initialize();
    expect(response.headers.get("mcp-session-id")).toBeNull();
    const called = await post({ method: "tools/call", params: { name: "hello" } });
    expect(await called.json()).toMatchObject(hello);
  });
});

describe("fetchHandler in a Durable Object", () => {
  beforeAll(async () => {
    worker = await startWorker("durable-object");
  });

  afterAll(() => worker.stop());

  test("answers a modern call", async () => {
    const response = await postModern("tools/call", {}, "hello");
    expect(await response.json()).toMatchObject(hello);
  });

  test("tells a session of a change on its GET stream, and answers its calls meanwhile", async () => {
    const session = { "mcp-session-id": (await initialize()).headers.get("mcp-session-id") ?? "" };
    const stream = await fetch(`${worker.origin}/mcp`, {
      headers: { accept: "text/event-stream", ...session },
    });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const called = await post({ method: "tools/call", params: { name: "rename" } }, session);
    expect(called.status).toBe(200);
    expect(await readUntil(stream, "notifications/tools/list_changed")).toMatch(/^id: /m);
  });

  test("tells a modern client that listens of a change, and forgets it at the next one after it has gone", async () => {
    const leaving = new AbortController();
    const filter = { notifications: { toolsListChanged: true } };
    const stream = await postModern("subscriptions/listen", filter, undefined, leaving.signal);
    await postModern("tools/call", {}, "rename");
    const heard = await readUntil(stream, "notifications/tools/list_changed");
    expect(heard).toMatch(/^data: .*"notifications\/subscriptions\/acknowledged"/);
    leaving.abort();
    // This runtime reports a gone reader only at the next write.
    const open = async (): Promise<unknown> => {
      await postModern("tools/call", {}, "rename");
      return (await fetch(`${worker.origin}/stats`)).json();
    };
    await eventually(async () => expect(await open()).toMatchObject({ subscriptions: 0 }));
  });
});
