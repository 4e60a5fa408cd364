// The limits of what a dashboard samples are those of the code.
import { McpServer } from "halyard";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { expect, onTestFinished, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { type Probes, probeLimits } from "../support/limit-probes.ts";
import { recordingLogger } from "../support/log.ts";
import { type AskDashboard, lookAt } from "../support/looking.ts";
import { modernRequest } from "../support/raw.ts";

interface Scene {
  readonly server: McpServer;
  readonly ask: AskDashboard;
  call(name?: string, client?: string): Promise<void>;
}

/** A server whose dashboard is open. */
async function open(): Promise<Scene> {
  const page = dashboard({ onOpen: () => {} });
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("echo", {}, () => "hi");
  const http = await serveHttp(server, { port: 0, graceMs: 50, dashboard: page });
  onTestFinished(() => http.close());
  const ask = lookAt(page);
  await ask("now");
  const call = async (name = "echo", client = "client"): Promise<void> => {
    const info = { "io.modelcontextprotocol/clientInfo": { name: client, version: "1.0.0" } };
    await server.handleRaw(JSON.stringify(modernRequest(1, "tools/call", { name }, info)));
  };
  return { server, ask, call };
}

async function times(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at++) await run(at);
}

const probes: Probes = {
  "rows of an answer": async (limit) => {
    const { ask, call } = await open();
    await times(limit + 1, (at) => call("echo", `client ${at}`));
    const { rows, total } = await ask("sessions");
    expect([rows.length, total]).toEqual([limit, limit + 1]);
  },
  "seconds of the plots": async (limit) => {
    holdClocks("setInterval", "clearInterval");
    const { ask } = await open();
    for (let passed = 0; passed < limit + 20; passed += 5) {
      vi.advanceTimersByTime(5000);
      await ask("about");
      await ask("tools");
    }
    const { series } = await ask("now");
    expect(series.calls).toEqual(Array.from({ length: limit }, () => 0));
  },
  "calls sampled in a second": async (limit) => {
    holdClocks("setInterval", "clearInterval");
    const { ask, call } = await open();
    vi.advanceTimersByTime(1000);
    await times(limit, () => call());
    expect(await ask("now")).toMatchObject({ isEstimate: false });
    await call();
    expect(await ask("now")).toMatchObject({ isEstimate: true });
  },
  "tools, prompts and other methods": async (limit) => {
    const { ask, call } = await open();
    await times(limit, (at) => call(`made up ${at}`));
    expect(await ask("tools", { search: "others" })).toMatchObject({ total: 0 });
    await call("one more");
    expect(await ask("tools", { search: "others" })).toMatchObject({ total: 1, rows: [{ calls: 1 }] });
  },
  "last calls": async (limit) => {
    const { ask, call } = await open();
    await times(limit + 1, (at) => call(`made up ${at}`));
    const { calls } = await ask("now");
    expect(calls).toHaveLength(limit);
    expect(calls[0]).toMatchObject({ name: `made up ${limit}` });
  },
  "reasons of refusals": async (limit) => {
    const { server, ask } = await open();
    await times(limit + 1, (at) =>
      server.handleRaw(JSON.stringify({ jsonrpc: "2.0", id: 1, method: `made/up${at}` })),
    );
    expect((await ask("now")).refusals).toHaveLength(limit);
  },
  "topics whose pushes are counted": async (limit) => {
    const { server, ask } = await open();
    await times(limit + 1, (at) => server.resources.updated(`note:///${at}`));
    expect(await ask("topics")).toMatchObject({ total: limit });
  },
  "last pushes of a topic": async (limit) => {
    const { server, ask } = await open();
    await times(limit + 1, () => server.resources.updated("note:///a"));
    const [row] = (await ask("topics", { search: "note:///a" })).rows;
    expect(row).toMatchObject({ pushed: limit + 1 });
    expect(row?.["pushes"]).toHaveLength(limit);
  },
  "modern clients without a subscription": async (limit) => {
    holdClocks("setInterval", "clearInterval");
    const { ask, call } = await open();
    await times(limit, (at) => call("echo", `client ${at}`));
    expect(await ask("sessions")).toMatchObject({ total: limit });
    // In another second, so that it is sampled.
    vi.advanceTimersByTime(1000);
    await call("echo", "one more");
    expect(await ask("sessions")).toMatchObject({ total: limit });
    expect(await ask("sessions", { search: "one more" })).toMatchObject({ total: 1 });
    expect(await ask("sessions", { search: "client 0 " })).toMatchObject({ total: 0 });
  },
};

probeLimits("What a dashboard samples", probes);
