// What strangers send leaves little behind in a dashboard, however large it is, and cannot make its answers large.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type JsonObject, McpServer } from "halyard";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { type Entry, Page, serveWithPage } from "../support/following.ts";
import { modernRequest, newestModern } from "../support/raw.ts";
import { SessionClient } from "../support/sessions.ts";

/** As long as it gets in a message that is kept whole; longer ones are not in the messages that `history` keeps. */
const large = (at: number, length = 500_000): string => `${at}`.padEnd(length, "x");
const million = 1_000_000;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function makeServer(): McpServer {
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: silent });
  server.tool("echo", {}, () => "text");
  return server;
}

/** Megabytes of the heap that are in use. */
function heapMegabytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed / million;
}

/** Megabytes that stay after the messages. */
async function growthBy(messages: number, send: (at: number) => Promise<unknown>): Promise<number> {
  await send(messages);
  const before = heapMegabytes();
  for (let at = 0; at < messages; at++) await send(at);
  return heapMegabytes() - before;
}

/** The other clients of the tests check what they hear, and keep it meanwhile. */
async function post(url: string, message: object, headers: Record<string, string>): Promise<void> {
  const accept = "application/json, text/event-stream";
  const init = { method: "POST", headers: { "content-type": "application/json", accept, ...headers } };
  const reply = await fetch(url, { ...init, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  await reply.arrayBuffer();
  expect(reply.ok).toBe(true);
}

function callAs(url: string, client: object, id: number): Promise<void> {
  const meta: JsonObject = { "io.modelcontextprotocol/clientInfo": client };
  const headers = {
    "mcp-protocol-version": newestModern,
    "mcp-method": "tools/call",
    "mcp-name": "echo",
  };
  return post(url, modernRequest(id, "tools/call", { name: "echo", arguments: {} }, meta), headers);
}

const introductions: Readonly<Record<string, (at: number) => object>> = {
  "names of a million characters": (at) => ({ name: large(at, million), version: "1.0.0" }),
  "versions of a million characters": (at) => ({ name: `client ${at}`, version: large(at, million) }),
  "titles of a million characters": (at) => ({ name: "client", version: "1.0.0", title: large(at, million) }),
};

test.each(Object.entries(introductions))("60 modern clients with %s", async (_, clientOf) => {
  for (const history of [0, 1000]) {
    const page = dashboard({ onOpen: () => {}, history });
    const http = await serveHttp(makeServer(), { port: 0, graceMs: 50, dashboard: page });
    onTestFinished(() => http.close());
    const asked = new Page(page);
    await asked.peers();
    const growth = await growthBy(60, (at) => callAs(http.url, clientOf(at), at));
    expect(growth).toBeLessThan(25);
    expect(JSON.stringify(await asked.ask({ ask: "sessions" })).length).toBeLessThan(50_000);
    await http.close();
  }
});

const messages: Readonly<Record<string, (at: number) => object>> = {
  ids: (at) => ({ id: large(at, 4096), method: "ping" }),
  methods: (at) => ({ id: at, method: large(at) }),
  notifications: (at) => ({ method: `notifications/${large(at)}` }),
  "ids of answers": (at) => ({ id: large(at, 4096), result: {} }),
  actions: (at) => ({ id: `question ${at}`, result: { action: large(at) } }),
  "names of tools": (at) => ({ id: at, method: "tools/call", params: { name: large(at) } }),
  URIs: (at) => ({ id: at, method: "resources/read", params: { uri: `note:${large(at)}` } }),
  "names of answers": (at) => ({
    id: at,
    method: "tools/call",
    params: { name: "echo", inputResponses: { [large(at)]: { action: large(at) } } },
  }),
};

test.each(Object.entries(messages))("60 messages of a followed client with long %s", async (_, message) => {
  const { page, url } = await serveWithPage(makeServer());
  const { id, revision } = await SessionClient.open({ url });
  const headers = { "mcp-session-id": id, "mcp-protocol-version": revision };
  const [peer = ""] = await page.peers();
  await page.timeline(peer);
  const growth = await growthBy(60, (at) => post(url, message(at), headers));
  expect(growth).toBeLessThan(25);
  const entries = await page.entries(peer);
  expect(entries.length).toBeGreaterThan(50);
  for (const entry of entries)
    for (const text of textsOf(entry)) expect(text.length).toBeLessThanOrEqual(200);
});

function textsOf({ points, ...entry }: Entry): string[] {
  const texts = [...Object.values(entry), ...points.map(({ what }) => what)];
  return texts.filter((value) => typeof value === "string");
}
