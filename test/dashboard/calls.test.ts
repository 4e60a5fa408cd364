// The kept calls: why one failed, its input and its result without secrets, tasks, and the counts from before the page was opened.
import { McpServer, ProtocolError, ToolError } from "halyard";
import { connect, type McpClient } from "halyard/client";
import { dashboard } from "halyard/dashboard";
import { type HttpServer, serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { type AskDashboard, lookAt, type Row, rowWith } from "../support/looking.ts";
import { deferred, eventually } from "../support/turns.ts";

interface Harbour {
  readonly http: HttpServer;
  readonly client: McpClient;
  readonly ask: AskDashboard;
  readonly gate: PromiseWithResolversOf<void>;
}

type PromiseWithResolversOf<Value> = ReturnType<typeof deferred<Value>>;

/** A server with a dashboard that is not open yet. */
async function open(): Promise<Harbour> {
  const gate = deferred();
  const page = dashboard({ onOpen: () => {} });
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("echo", {}, (args) => `You said ${JSON.stringify(args)}`);
  server.tool("wreck", {}, () => {
    throw new Error("Aground at https://example.com/?token=abcdef0123456789");
  });
  server.tool("refuse", {}, () => {
    throw new ToolError("No wind");
  });
  server.tool("forbid", {}, () => {
    throw new ProtocolError(-32_602, "No such port");
  });
  server.tool("large", {}, () => "x".repeat(100_000));
  server.tool("voyage", { task: "required" }, async () => {
    await gate.promise;
    return "arrived";
  });
  const http = await serveHttp(server, { port: 0, graceMs: 50, dashboard: page });
  const client = await connect(http.url, { info: { name: "cutter", version: "1.0.0" }, tasks: true });
  onTestFinished(async () => {
    await client.close();
    await http.close();
  });
  return { http, client, ask: lookAt(page), gate };
}

async function kept(ask: AskDashboard, name: string): Promise<Row> {
  return eventually(async () => {
    const row = rowWith(await ask("calls"), { name });
    expect(row).toBeDefined();
    return row as Row;
  });
}

/** One call with its input and its result. */
async function shown(ask: AskDashboard, { id }: Row): Promise<Row> {
  return (await ask("call", { id: String(id) })) as unknown as Row;
}

test("a failed call says why, with the id of its error, by which a search finds it", async () => {
  const { client, ask } = await open();
  await ask("now");
  await client.callTool("echo", {});
  await expect(client.callTool("forbid", {})).rejects.toThrow("No such port");
  await client.callTool("refuse", {});
  const { content } = await client.callTool("wreck", {});
  const [, errorId] = /error id:? ([\w-]+)/i.exec(JSON.stringify(content)) ?? [];
  expect(errorId).toBeDefined();
  const wreck = await kept(ask, "wreck");
  expect(wreck).toMatchObject({ outcome: "error", errorId });
  expect(wreck["reason"]).toContain("Aground");
  expect(JSON.stringify(wreck)).not.toContain("abcdef0123456789");
  expect(await kept(ask, "refuse")).toMatchObject({ outcome: "error", reason: "No wind" });
  expect(await kept(ask, "forbid")).toMatchObject({ errorCode: -32_602, reason: "No such port" });
  const echo = await kept(ask, "echo");
  expect(echo).toMatchObject({ outcome: "ok" });
  expect(echo).not.toHaveProperty("reason");
  const found = await ask("calls", { search: errorId });
  expect(found.rows).toEqual([expect.objectContaining({ id: wreck["id"] })]);
  const details = await shown(ask, wreck);
  expect(details["thrown"]).toMatch(/^Error: Aground[^]*calls\.test/);
  expect(JSON.stringify(details)).not.toContain("abcdef0123456789");
});

test("a call has its input and its result, without secrets and bounded, only if it ended while a page was open", async () => {
  const { client, ask } = await open();
  await client.callTool("echo", { port: "Cork" });
  await ask("now");
  expect((await ask("calls")).rows).toEqual([]);
  await client.callTool("echo", { port: "Cork", password: "hunter2" });
  const details = await shown(ask, await kept(ask, "echo"));
  expect(details["input"]).toMatchObject({ text: expect.stringContaining('"port": "Cork"') });
  expect(details["output"]).toMatchObject({ text: expect.stringContaining("You said") });
  expect(JSON.stringify(details)).not.toContain("hunter2");
  await client.callTool("large", {});
  const large = (await shown(ask, await kept(ask, "large")))["output"] as Row;
  expect(String(large["text"]).length).toBe(16_000);
  expect(large["length"]).toBeGreaterThan(100_000);
  expect(await shown(ask, { id: "nothing" })).toMatchObject({ nodes: [{ isSelf: true }] });
  expect((await shown(ask, { id: "nothing" }))["call"]).toBeUndefined();
});

test("a call that became a task took as long as the task, in the list and for its tool", async () => {
  const { client, ask, gate } = await open();
  await ask("now");
  const called = client.callTool("voyage", {});
  await eventually(async () => expect(await kept(ask, "voyage")).toMatchObject({ outcome: "working" }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  gate.resolve();
  await called;
  const row = await eventually(async () => {
    const found = await kept(ask, "voyage");
    expect(found).toMatchObject({ outcome: "ok" });
    return found;
  });
  expect(row["durationMs"]).toBeGreaterThanOrEqual(200);
  const tool = rowWith(await ask("tools"), { name: "voyage" });
  expect(tool).toMatchObject({ calls: 1, errors: 0 });
  expect(tool?.["p50"]).toBeGreaterThanOrEqual(190);
});

test("Now has the calls and errors of the last minutes, even if no page was open", async () => {
  const { client, ask } = await open();
  // Counting begins with the next second.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const tool of ["echo", "echo", "refuse"]) await client.callTool(tool, {});
  // The second in which they ended must be over.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const { series } = (await ask("now")) as unknown as {
    readonly series: Readonly<Record<"calls" | "errors" | "p50", readonly (number | null)[]>>;
  };
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  expect(sum(series.calls)).toBeGreaterThanOrEqual(3);
  expect(sum(series.errors)).toBe(1);
  // Durations are sampled only while a page is open.
  expect(series.p50.every((value) => value === null)).toBe(true);
});
