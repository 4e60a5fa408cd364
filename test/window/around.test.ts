// Hooks around calls: they run the handler inside their async context, and see how it ended.
import { AsyncLocalStorage } from "node:async_hooks";
import { type JsonObject, ProtocolError } from "halyard";
import { type AroundCall, type AroundHook, type CallEnd, windowOf } from "halyard/window";
import { expect, test } from "vitest";
import { call, makeServer, open, refusal, textOf } from "../support/catalogue.ts";
import { describeMatrix } from "../support/matrix.ts";
import { until } from "../support/turns.ts";

const passwords = {
  type: "object",
  properties: { password: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
} as const;

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

  test("the log says that the call of a hook that failed before run() ran all the same", async () => {
    const { server, log } = makeServer();
    server.tool("t", {}, () => "done");
    const client = await open(cell, server);
    const inside = windowOf(server);
    const ranAllTheSame = (what: string): string =>
      `A hook around calls failed, and ${what} ran all the same: to refuse a call, use server.use()`;
    const hooks: AroundHook[] = [
      () => {
        throw new Error("you may not");
      },
      async () => {
        await Promise.resolve();
        throw new Error("you may not");
      },
    ];
    for (const hook of hooks) {
      log.length = 0;
      const stop = inside.around(hook);
      expect(textOf(await call(client, "t"))).toBe("done");
      await until(() => log.some(({ message }) => message === ranAllTheSame('tools/call "t"')));
      stop();
    }
    const stop = inside.around(hooks[0] as AroundHook);
    await client.request("tools/list");
    await until(() => log.some(({ message }) => message === ranAllTheSame("tools/list")));
    stop();
    inside.around(async (_, run) => {
      await run();
      throw new Error("too late");
    });
    log.length = 0;
    await call(client, "t");
    await until(() => log.some(({ message }) => message === "A hook around calls failed"));
  });

  test("a hook cannot change the call, nor what the client gets", async () => {
    const { server } = makeServer();
    const got: unknown[] = [];
    server.tool("login", { input: passwords }, (args) => {
      got.push(args);
      return "done";
    });
    server.tool("other", {}, () => "the other tool");
    const client = await open(cell, server);
    const failures: unknown[] = [];
    const copies: unknown[] = [];
    const attempt = (object: object, name: string, value: unknown): void => {
      try {
        (object as Record<string, unknown>)[name] = value;
      } catch (error) {
        failures.push(error);
      }
    };
    windowOf(server).around(async (told, run) => {
      const args = told.params["arguments"] as JsonObject;
      attempt(args, "password", "***");
      attempt(args["tags"] as object, "0", "***");
      attempt(told.params, "name", "other");
      attempt(told, "params", { name: "other" });
      attempt(told, "name", "other");
      attempt(told.meta, "progressToken", "***");
      attempt(told.client ?? Object.freeze({}), "name", "***");
      const end = await run();
      attempt(end, "outcome", "error");
      attempt(end, "response", {});
      attempt(end.response, "result", {});
      const { result } = end.response as { readonly result?: unknown };
      attempt((result as { content: object[] }).content[0] as object, "text", "***");
      copies.push(told.params, args);
      expect(structuredClone(end.response)).toMatchObject({ result: { content: [{ text: "done" }] } });
    });
    const answered = await call(client, "login", { password: "hunter2", tags: ["a"] });
    expect(textOf(answered)).toBe("done");
    expect(got).toEqual([{ password: "hunter2", tags: ["a"] }]);
    await until(() => copies.length === 2);
    expect(copies[1]).toEqual({ password: "hunter2", tags: ["a"] });
    expect(failures).toHaveLength(11);
    for (const failure of failures) expect(failure).toBeInstanceOf(TypeError);
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

test("a response has what JSON writes of other objects", async () => {
  const { connect } = await import("halyard/testing");
  const { server } = makeServer();
  const content = [{ type: "text", text: "done" }] as const;
  server.tool("t", {}, () => ({ content, _meta: { at: new Date(0) } }));
  const client = await connect(server);
  const seen: unknown[] = [];
  windowOf(server).around(async (_, run) => void seen.push((await run()).response));
  await call(client, "t");
  await until(() => seen.length === 1);
  expect(seen[0]).toMatchObject({ result: { content, _meta: { at: "1970-01-01T00:00:00.000Z" } } });
  await client.close();
});
