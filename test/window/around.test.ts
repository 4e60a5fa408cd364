// Hooks around calls: they run the handler inside their async context, and see how it ended.
import { AsyncLocalStorage } from "node:async_hooks";
import { ProtocolError } from "halyard";
import { type AroundCall, type CallEnd, windowOf } from "halyard/window";
import { expect, test } from "vitest";
import { call, makeServer, open, refusal, textOf } from "../support/catalogue.ts";
import { describeMatrix } from "../support/matrix.ts";
import { until } from "../support/turns.ts";

interface Seen {
  readonly call: AroundCall;
  readonly end: CallEnd;
}

describeMatrix("window.around", { transports: ["memory", "stdio", "http"] }, (cell) => {
  test("runs around each method, and tells how it ended", async () => {
    const { server, log } = makeServer();
    server.tool("sync", {}, () => "done");
    server.tool("later", {}, async () => "done");
    server.tool("fails", {}, () => ({ content: [{ type: "text", text: "no" }], isError: true }));
    server.tool("throws", {}, async () => {
      throw new Error("secret");
    });
    server.tool("refuses", {}, () => {
      throw new ProtocolError(-31000, "refused");
    });
    server.prompt("p", {}, () => "text");
    server.resource("a:b", {}, () => "text");
    const client = await open(cell, server);
    const seen: Seen[] = [];
    windowOf(server).around(async (told, run) => void seen.push({ call: told, end: await run() }));
    for (const name of ["sync", "later", "fails", "throws"]) await call(client, name);
    await refusal(call(client, "refuses"));
    await client.request("prompts/get", { name: "p" });
    await client.request("resources/read", { uri: "a:b" });
    await client.request("tools/list");
    await until(() => seen.length === 8);
    const rows = seen.map(({ call: { method, name }, end: { outcome, errorCode } }) => [
      method,
      name,
      outcome,
      errorCode,
    ]);
    expect(rows).toEqual([
      ["tools/call", "sync", "ok", undefined],
      ["tools/call", "later", "ok", undefined],
      ["tools/call", "fails", "error", undefined],
      ["tools/call", "throws", "error", undefined],
      ["tools/call", "refuses", "error", -31000],
      ["prompts/get", "p", "ok", undefined],
      ["resources/read", "a:b", "ok", undefined],
      ["tools/list", undefined, "ok", undefined],
    ]);
    for (const { call: told, end } of seen) {
      expect([told.revision, told.era, told.transport]).toEqual([cell.revision, cell.era, cell.transport]);
      expect(typeof told.session).toBe(cell.era === "legacy" ? "string" : "undefined");
      expect(end.durationMs).toBeGreaterThanOrEqual(0);
    }
    const thrown = seen[3]?.end;
    expect(thrown?.error).toMatchObject({ message: "secret" });
    expect(log.at(-1)?.details?.["errorId"] ?? thrown?.errorId).toBe(thrown?.errorId);
    expect(thrown?.errorId).toMatch(/^\w+$/);
    expect(thrown?.reason).toContain(thrown?.errorId);
    expect(seen[0]?.end.response).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(seen[0]?.call.params).toMatchObject({ name: "sync" });
  });

  test("gives handlers its async context, through several hooks and middleware", async () => {
    const { server } = makeServer();
    const storage = new AsyncLocalStorage<string[]>();
    server.use((_, __, next) => next());
    server.tool("t", {}, async () => {
      await Promise.resolve();
      return (storage.getStore() ?? []).join(" in ");
    });
    const client = await open(cell, server);
    const inside = windowOf(server);
    const stops = ["one", "two"].map((name) =>
      inside.around((_, run) => storage.run([name, ...(storage.getStore() ?? [])], run)),
    );
    expect(textOf(await call(client, "t"))).toBe("two in one");
    stops[0]?.();
    expect(textOf(await call(client, "t"))).toBe("two");
    stops[1]?.();
    expect(textOf(await call(client, "t"))).toBe("");
  });

  test("a hook that throws, rejects, waits or never calls run does not affect the call", async () => {
    const { server, log } = makeServer();
    let runs = 0;
    server.tool("t", {}, () => String(++runs));
    const client = await open(cell, server);
    const inside = windowOf(server);
    inside.around(() => {
      throw new Error("broken");
    });
    inside.around(() => Promise.reject(new Error("broken")));
    inside.around(() => {});
    inside.around(async (_, run) => {
      await Promise.resolve();
      const [first, second] = await Promise.all([run(), run()]);
      expect(first).toBe(second);
      throw new Error("broken at the end");
    });
    expect(textOf(await call(client, "t"))).toBe("1");
    expect(textOf(await call(client, "t"))).toBe("2");
    await until(() => log.some(({ message }) => message.startsWith("A hook around calls failed")));
  });
});

test("around sees _meta, the parameters and the caller, and a cancelled call", async () => {
  const { connect } = await import("halyard/testing");
  const { server } = makeServer();
  server.tool("slow", {}, (_, ctx) => {
    return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("late")));
  });
  const client = await connect(server);
  const seen: Seen[] = [];
  windowOf(server).around(async (told, run) => void seen.push({ call: told, end: await run() }));
  const params = { name: "slow", arguments: { a: 1 }, _meta: { traceparent: "00-1" } };
  client.send({ jsonrpc: "2.0", id: "c", method: "tools/call", ...client.withMeta(params) });
  await until(() => windowOf(server).snapshot("calls").total === 1);
  client.notify("notifications/cancelled", { requestId: "c" });
  await until(() => seen.length === 1);
  expect(seen[0]?.call).toMatchObject({ requestId: "c", params: { arguments: { a: 1 } } });
  expect(seen[0]?.end.outcome).toBe("cancelled");
  await client.close();
});
