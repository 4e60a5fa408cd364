// The limits of what a dashboard samples are those of the code.
import { type JsonObject, McpServer } from "halyard";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { windowOf } from "halyard/window";
import { expect, onTestFinished, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { type Probes, probeLimits } from "../support/limit-probes.ts";
import { recordingLogger } from "../support/log.ts";
import { type AskDashboard, lookAt } from "../support/looking.ts";
import { modernRequest } from "../support/raw.ts";

interface Scene {
  readonly server: McpServer;
  readonly ask: AskDashboard;
  call(name?: string, client?: string, args?: JsonObject): Promise<void>;
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
  const call: Scene["call"] = async (name = "echo", client = "client", args = {}) => {
    const info = { "io.modelcontextprotocol/clientInfo": { name: client, version: "1.0.0" } };
    await server.handleRaw(JSON.stringify(modernRequest(1, "tools/call", { name, arguments: args }, info)));
  };
  return { server, ask, call };
}

async function times(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at++) await run(at);
}

interface Input {
  readonly text: string;
  readonly length: number;
}

/** The inputs of the kept calls, newest first; undefined where none is kept. */
async function inputs(ask: AskDashboard): Promise<readonly (Input | undefined)[]> {
  const { rows } = await ask("calls");
  const all = await Promise.all(rows.map(({ id }) => ask("call", { id: String(id) })));
  return all.map(({ input }) => input as Input | undefined);
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
  "seconds whose calls are counted while no page is open": async (limit) => {
    holdClocks("setInterval", "clearInterval");
    const { server } = await open();
    vi.advanceTimersByTime((limit + 20) * 1000);
    expect(windowOf(server).recent().calls).toHaveLength(limit);
  },
  "calls that are kept": async (limit) => {
    const { ask, call } = await open();
    await times(limit + 1, () => call());
    expect(await ask("calls")).toMatchObject({ total: limit });
  },
  "failed calls that are kept": async (limit) => {
    const { ask, call } = await open();
    await times(limit + 1, (at) => call(`made up ${at}`));
    await times(200, () => call());
    expect(await ask("calls", { search: "made up" })).toMatchObject({ total: limit });
    expect(await ask("calls", { search: "made up 0" })).toMatchObject({ total: 0 });
  },
  "calls of a second whose input and result are kept": async (limit) => {
    holdClocks("setInterval", "clearInterval");
    const { ask, call } = await open();
    vi.advanceTimersByTime(1000);
    await times(limit + 1, () => call());
    const [last, before] = await inputs(ask);
    expect([last, before !== undefined]).toEqual([undefined, true]);
  },
  "bytes of inputs and results that are read in a second": async (limit) => {
    const { ask, call } = await open();
    await call("echo", "client", { text: "x".repeat(limit) });
    await call("echo", "client", { text: "x".repeat(limit / 2) });
    expect(await inputs(ask)).toEqual([undefined, undefined]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await call("echo", "client", { text: "x".repeat(limit / 2) });
    expect((await inputs(ask))[0]).toBeDefined();
  },
  "characters of an input or a result": async (limit) => {
    const { ask, call } = await open();
    await call("echo", "client", { text: "x".repeat(limit) });
    const [input] = await inputs(ask);
    expect(input?.text).toHaveLength(limit);
    expect(input?.length).toBeGreaterThan(limit);
  },
  "characters of all inputs and results": async (limit) => {
    holdClocks("setInterval", "clearInterval");
    const { ask, call } = await open();
    const each = 16_000;
    await times(Math.floor(limit / each), async () => {
      vi.advanceTimersByTime(1000);
      await call("echo", "client", { text: "x".repeat(each) });
      await ask("tools");
    });
    const found = await inputs(ask);
    expect([found[0] !== undefined, found.at(-1)]).toEqual([true, undefined]);
    expect(found.filter((input) => input !== undefined).length).toBeGreaterThan(found.length - 4);
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
