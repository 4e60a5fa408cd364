// Middleware: what it sees, what it may add, change and refuse.
import { type CallToolResult, McpServer, type Principal, ProtocolError, ToolError } from "halyard";
import { Connection, type RpcResponse } from "halyard/transport";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { call, heard, list, makeServer, open, refusal, secret, textOf } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("middleware", {}, (cell) => {
  test("runs around the handler, in the order it was added", async () => {
    const { server } = makeServer();
    const order: string[] = [];
    for (const name of ["a", "b"]) {
      server.use(async (request, _, next) => {
        if (request.method !== "tools/call") return next();
        order.push(`${name} in`);
        const result = await next();
        order.push(`${name} out`);
        return result;
      });
    }
    server.use("tools/call", (_, __, next) => {
      order.push("call");
      return next();
    });
    server.use("prompts/get", () => {
      throw new Error("never");
    });
    server.tool("t", {}, () => {
      order.push("handler");
      return "";
    });
    await call(await open(cell, server), "t");
    expect(order).toEqual(["a in", "b in", "call", "handler", "b out", "a out"]);
  });

  test("sees the method, the parameters, the revision, the client and the session", async () => {
    const { server } = makeServer();
    const seen: unknown[] = [];
    server.use("tools/call", (request, ctx, next) => {
      seen.push([request.method, request.params.name, request.params.arguments]);
      seen.push([ctx.method, ctx.revision, ctx.client?.name, ctx.transport, ctx.principal]);
      seen.push(typeof ctx.session);
      return next();
    });
    server.tool("t", { input: z.object({ a: z.number() }) }, () => "");
    await call(await open(cell, server), "t", { a: 1 });
    expect(seen).toEqual([
      ["tools/call", "t", { a: 1 }],
      ["tools/call", cell.revision, "test-client", cell.transport, undefined],
      cell.era === "legacy" ? "string" : "undefined",
    ]);
  });

  test("runs around every method, lists and handshakes included", async () => {
    const { server } = makeServer();
    const methods = new Set<string>();
    server.use((request, _, next) => {
      methods.add(request.method);
      return next();
    });
    server.tool("t", {}, () => "");
    const client = await open(cell, server);
    await list(client, "tools/list");
    if (cell.era === "modern") await client.request("server/discover");
    expect([...methods].toSorted()).toEqual(
      (cell.era === "modern" ? ["server/discover", "tools/list"] : ["initialize", "tools/list"]).toSorted(),
    );
  });

  test("what is given to next() is on ctx from there on", async () => {
    const { server: plain } = makeServer();
    const early: unknown[] = [];
    const server = plain
      .use<{ user: string }>((_, ctx, next) => {
        early.push("user" in ctx);
        return next({ user: "ada" });
      })
      .use<{ greeting: string }>((_, ctx, next) => next({ greeting: `Hello ${ctx.user}` }));
    server.tool("t", {}, (_, ctx) => `${ctx.greeting}, ${ctx.user}`);
    server.prompt("p", {}, (_, ctx) => ctx.user);
    server.resource("a:b", {}, (_, ctx) => ctx.user);
    server.resourceTemplate("t:{x}", {}, (_, ctx) => ctx.user);
    const client = await open(cell, server);
    expect(textOf(await call(client, "t"))).toBe("Hello ada, ada");
    expect(await client.request("prompts/get", { name: "p" })).toMatchObject({
      messages: [{ content: { text: "ada" } }],
    });
    for (const uri of ["a:b", "t:1"]) {
      expect(await client.request("resources/read", { uri })).toMatchObject({ contents: [{ text: "ada" }] });
    }
    expect(early).not.toContain(true);
  });

  test("two calls at the same time have each their own additions", async () => {
    const { server: plain } = makeServer();
    const server = plain.use<{ tag: string }>(async (request, _, next) => {
      const params = request.params as { arguments?: { tag: string } };
      return next({ tag: params.arguments?.tag ?? "" });
    });
    server.tool("t", { input: z.object({ tag: z.string() }) }, async (_, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return ctx.tag;
    });
    const client = await open(cell, server);
    const tags = ["a", "b", "c"];
    expect((await Promise.all(tags.map((tag) => call(client, "t", { tag })))).map(textOf)).toEqual(tags);
  });

  test.each(["signal", "principal", "log", "method", "progress", "session", "__proto__", "constructor"])(
    "ctx.%s cannot be replaced",
    async (name) => {
      const { server, log } = makeServer();
      let runs = 0;
      server.use("tools/call", (_, __, next) => next({ [name]: "mine" }));
      server.tool("t", {}, () => `${++runs}`);
      const error = await refusal(call(await open(cell, server), "t"));
      expect(error).toMatchObject({ code: -32603, data: { errorId: log[0]?.details?.["errorId"] } });
      expect(String(log[0]?.details?.["error"])).toContain(`ctx.${name}`);
      expect(runs).toBe(0);
    },
  );

  test("next() may be called again, with other additions", async () => {
    const { server: plain } = makeServer();
    const server = plain.use<{ attempt: number }>(async (request, _, next) => {
      if (request.method !== "tools/call") return next({ attempt: 0 });
      const first = (await next({ attempt: 1 })) as unknown as CallToolResult;
      return first.isError ? next({ attempt: 2 }) : { ...first };
    });
    server.tool("flaky", {}, (_, ctx) => {
      if (ctx.attempt < 2) throw new ToolError("Not yet");
      return `worked at ${ctx.attempt}`;
    });
    expect(textOf(await call(await open(cell, server), "flaky"))).toBe("worked at 2");
  });

  test("next() may be called twice; the result that is returned counts", async () => {
    const { server } = makeServer();
    let runs = 0;
    server.use("tools/call", async (_, __, next) => {
      await next();
      return next();
    });
    server.tool("t", {}, () => `run ${++runs}`);
    expect(textOf(await call(await open(cell, server), "t"))).toBe("run 2");
  });

  test("middleware may answer without next(), and an answer it keeps is never changed", async () => {
    const { server } = makeServer();
    const answer: CallToolResult = { content: [{ type: "text", text: "from the cache" }] };
    const before = JSON.stringify(answer);
    server.use("tools/call", () => answer);
    server.tool("t", {}, () => "never");
    const client = await open(cell, server);
    expect(textOf(await call(client, "t"))).toBe("from the cache");
    const second = await call(client, "t");
    expect(textOf(second)).toBe("from the cache");
    expect("resultType" in second).toBe(cell.era === "modern");
    expect(JSON.stringify(answer)).toBe(before);
    const frozen = makeServer().server;
    frozen.use("tools/call", () => Object.freeze({ content: Object.freeze([]) as [] }));
    frozen.tool("t", {}, () => "never");
    expect((await call(await open(cell, frozen), "t")).content).toEqual([]);
  });

  test("middleware may change a result", async () => {
    const { server } = makeServer();
    server.use("tools/call", async (_, __, next) => {
      const result = await next();
      return { ...result, content: [...result.content, { type: "text", text: "added" }] };
    });
    server.use("tools/list", async (_, __, next) => {
      const page = await next();
      return {
        ...page,
        tools: page.tools.map((tool) => Object.assign({}, tool, { description: "changed" })),
      };
    });
    server.tool("t", { description: "old" }, () => "own");
    const client = await open(cell, server);
    expect((await call(client, "t")).content).toEqual([
      { type: "text", text: "own" },
      { type: "text", text: "added" },
    ]);
    expect(await list(client, "tools/list")).toMatchObject([{ name: "t", description: "changed" }]);
  });

  test("a list that is changed in place fails loudly, since the page is shared", async () => {
    const { server, log } = makeServer();
    server.use("tools/list", async (_, __, next) => {
      const page = await next();
      (page.tools as unknown[]).pop();
      return page;
    });
    server.tool("admin", {}, () => "");
    expect((await refusal(list(await open(cell, server), "tools/list"))).code).toBe(-32603);
    expect(log).toHaveLength(1);
  });

  test("middleware may refuse, with an error of its own choice", async () => {
    const { server, log } = makeServer();
    let runs = 0;
    server.use("tools/call", async (request, _, next) => {
      if (request.params.name === "secret")
        throw new ProtocolError(-31403, "Not for you", { scope: "admin" });
      return next();
    });
    server.tool("secret", {}, () => `${++runs}`);
    server.tool("open", {}, () => "ok");
    const client = await open(cell, server);
    expect(await refusal(call(client, "secret"))).toMatchObject({
      code: -31403,
      message: "Not for you",
      data: { scope: "admin" },
    });
    expect(textOf(await call(client, "open"))).toBe("ok");
    expect([runs, log.length]).toEqual([0, 0]);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a string", "x"],
    ["null", null],
    ["a list", []],
  ])("middleware that returns %s fails with an id", async (_, returned) => {
    const { server, log } = makeServer();
    server.use("tools/call", (() => returned) as never);
    server.tool("t", {}, () => "");
    const error = await refusal(call(await open(cell, server), "t"));
    expect(error).toMatchObject({ code: -32603, data: { errorId: log[0]?.details?.["errorId"] } });
  });

  test("what middleware throws by accident stays here", async () => {
    const { server, log } = makeServer();
    server.use("tools/call", () => {
      throw new Error(secret);
    });
    server.tool("t", {}, () => "");
    const client = await open(cell, server);
    const error = await refusal(call(client, "t"));
    expect(error.code).toBe(-32603);
    expect(heard(client)).not.toContain("hunter2");
    expect(log[0]?.details).toMatchObject({ errorId: (error.data as { errorId: string }).errorId });
    expect(log[0]?.details?.["error"]).toHaveProperty("stack", expect.stringContaining("hunter2"));
  });

  test("arguments are checked after middleware, and what is meant for the model is a result to it", async () => {
    const { server } = makeServer();
    const seen: unknown[] = [];
    server.use("tools/call", async (_, __, next) => {
      const result = await next();
      seen.push(result.isError);
      return result;
    });
    server.tool("fails", {}, () => {
      throw new ToolError("Try tomorrow");
    });
    expect(await call(await open(cell, server), "fails")).toMatchObject({ isError: true });
    expect(seen).toEqual([true]);
  });

  class Locked extends Error {}

  /** A tool that throws at once, one that throws later, and one whose output cannot be had. */
  function failing(server: McpServer): void {
    server.tool("sync", {}, () => {
      throw new Locked("/srv/secret is locked");
    });
    server.tool("async", { output: z.object({ n: z.number() }) }, async () => {
      await Promise.resolve();
      throw new Locked("/srv/secret is locked");
    });
  }

  test("next() rejects with what the tool threw, and one piece of middleware translates it for all tools", async () => {
    const { server, log } = makeServer();
    const seen: unknown[] = [];
    server.use("tools/call", async (request, _, next) => {
      try {
        return await next();
      } catch (error) {
        seen.push(error);
        if (request.params.arguments?.["as"] === "error") throw new ProtocolError(-31423, "Locked");
        if (request.params.arguments?.["as"] === "tool error") throw new ToolError("It is locked");
        return { content: [{ type: "text", text: "Locked: try later" }], isError: true };
      }
    });
    failing(server);
    const client = await open(cell, server);
    for (const name of ["sync", "async"]) {
      expect(await call(client, name)).toMatchObject({
        content: [{ text: "Locked: try later" }],
        isError: true,
      });
      expect(await call(client, name, { as: "tool error" })).toMatchObject({
        content: [{ text: "It is locked" }],
        isError: true,
      });
      expect(await refusal(call(client, name, { as: "error" }))).toMatchObject({ code: -31423 });
    }
    expect(seen.every((error) => error instanceof Locked)).toBe(true);
    expect([seen.length, log.filter(({ level }) => level === "error").length]).toEqual([6, 0]);
  });

  test.each(["passes it on", "wraps it"])(
    "a failure of the tool stays one, and is logged once, when middleware %s",
    async (what) => {
      const { server, log, events } = makeServer();
      server.use("tools/call", (_, __, next) =>
        next().catch((cause: unknown) => {
          throw what === "wraps it" ? new Error("Wrapped", { cause }) : cause;
        }),
      );
      server.use((_, __, next) => next());
      failing(server);
      const client = await open(cell, server);
      for (const name of ["sync", "async"]) {
        const result = await call(client, name);
        expect(result.isError).toBe(true);
        expect(textOf(result)).toMatch(new RegExp(`^Tool ${name} failed \\(error id [0-9a-f]{8}\\)$`));
      }
      expect(log).toHaveLength(2);
      expect(events.filter(({ type }) => type === "handler-error")).toHaveLength(2);
    },
  );
});

describe("who is calling", () => {
  const meta = {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };

  function ask(
    server: McpServer,
    name: string,
    args: object,
    principal?: Principal,
  ): Promise<RpcResponse | undefined> {
    const connection = new Connection(principal ? { transport: "test", principal } : { transport: "test" });
    const exchange = { connection, headers: { "x-tenant": "acme" }, address: "10.0.0.1" };
    return server.handle(
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: { ...args }, ...meta } },
      exchange,
    );
  }

  test("middleware and handlers see the principal, the headers and the address", async () => {
    const { server } = makeServer();
    const seen: unknown[] = [];
    server.use((_, ctx, next) => {
      seen.push(ctx.principal, ctx.headers?.["x-tenant"], ctx.address);
      return next();
    });
    server.tool("t", {}, (_, ctx) => `${ctx.principal?.subject}@${ctx.headers?.["x-tenant"]}`);
    const ada = { issuer: "https://as.example", subject: "ada" };
    expect(await ask(server, "t", {}, ada)).toMatchObject({ result: { content: [{ text: "ada@acme" }] } });
    expect(seen).toEqual([ada, "acme", "10.0.0.1"]);
  });

  test("inputs are validated, access is controlled, calls are limited and failures are sanitised [TOOL-SEC-SERVER]", async () => {
    const { server } = makeServer();
    const calls = new Map<string, number>();
    server.use("tools/call", (request, ctx, next) => {
      const subject = ctx.principal?.subject ?? "nobody";
      if (request.params.name === "admin" && subject !== "root")
        throw new ProtocolError(-31403, "Not for you");
      const count = (calls.get(subject) ?? 0) + 1;
      calls.set(subject, count);
      if (count > 2) throw new ToolError("Too many calls: try again later");
      return next();
    });
    let runs = 0;
    server.tool("admin", { input: z.object({ n: z.number() }) }, ({ n }) => `${++runs} ${n}`);
    server.tool("leaky", {}, () => {
      throw new Error(secret);
    });
    const root = { issuer: "https://as.example", subject: "root" };
    const ada = { issuer: "https://as.example", subject: "ada" };
    expect(await ask(server, "admin", { n: 1 }, ada)).toMatchObject({ error: { code: -31403 } });
    expect(await ask(server, "admin", { n: "x" }, root)).toMatchObject({ result: { isError: true } });
    expect(runs).toBe(0);
    expect(await ask(server, "admin", { n: 1 }, root)).toMatchObject({
      result: { content: [{ text: "1 1" }] },
    });
    expect(await ask(server, "admin", { n: 1 }, root)).toMatchObject({
      result: { isError: true, content: [{ text: "Too many calls: try again later" }] },
    });
    expect(runs).toBe(1);
    expect(JSON.stringify(await ask(server, "leaky", {}, ada))).not.toContain("hunter2");
  });

  test("prompts, completions and resources can be kept from those who may not see them, and limited [PROMPT-SEC, COMP-SEC, RES-SEC-ACCESS]", async () => {
    const { server } = makeServer();
    let completions = 0;
    const schema = z.object({ who: z.string() });
    const complete = { who: () => ["top secret"] };
    server.prompt("p", { arguments: schema, complete }, ({ who }) => `top secret ${who}`);
    server.resource("a:b", {}, () => "top secret");
    server.use((request, ctx, next) => {
      if (ctx.principal?.subject !== "root") throw new ProtocolError(-31403, "Not for you");
      if (request.method === "completion/complete" && ++completions > 1) {
        throw new ProtocolError(-31429, "Too many requests");
      }
      return next();
    });
    const requests: [string, object][] = [
      ["prompts/get", { name: "p", arguments: { who: "x" } }],
      ["resources/read", { uri: "a:b" }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: "p" }, argument: { name: "who", value: "" } },
      ],
    ];
    const send = (subject: string, method: string, params: object) => {
      const principal = { issuer: "https://as.example", subject };
      return server.handle(
        { jsonrpc: "2.0", id: 1, method, params: { ...params, ...meta } },
        { connection: new Connection({ transport: "test", principal }) },
      );
    };
    for (const [method, params] of requests) {
      const refused = await send("ada", method, params);
      expect(refused).toMatchObject({ error: { code: -31403 } });
      expect(JSON.stringify(refused)).not.toContain("top secret");
      expect(JSON.stringify(await send("root", method, params))).toContain("top secret");
    }
    expect(await send("root", ...(requests[2] as [string, object]))).toMatchObject({
      error: { code: -31429 },
    });
  });
});
