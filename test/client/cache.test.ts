// What a client keeps of lists and reads, how long, and what makes it forget.
import { AsyncLocalStorage } from "node:async_hooks";
import { McpServer } from "halyard";
import { type ClientAuth, type ClientEvent, connect, type ConnectOptions } from "halyard/client";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks, passSeconds, setWallClock, stopClock } from "../support/clock.ts";
import { legacyDates, newestLegacy, newestModern } from "../support/revisions.ts";
import { Refuse, type Script, ScriptedServer } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

const day = 24 * 60 * 60;
const tool = { name: "a", inputSchema: { type: "object" } };
const allCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};

/** Answers every list and read with these hints. */
function hinted(hints: object): { [method: string]: Script } {
  return {
    "tools/list": () => ({ tools: [tool], ...hints }),
    "prompts/list": () => ({ prompts: [], ...hints }),
    "resources/list": () => ({ resources: [], ...hints }),
    "resources/templates/list": () => ({ resourceTemplates: [], ...hints }),
    "resources/read": ({ params }) => ({ contents: [{ uri: params?.["uri"], text: "text" }], ...hints }),
  };
}

const minute = { ttlMs: 60_000, cacheScope: "public" };

async function connected(server: ScriptedServer, options: ConnectOptions = {}) {
  return connect(server, { revision: newestModern, ...options });
}

async function askedTwice(hints: object, seconds = 0): Promise<number> {
  const server = new ScriptedServer({ answers: hinted(hints) });
  const client = await connected(server);
  stopClock();
  await client.listTools();
  passSeconds(seconds);
  await client.listTools();
  await client.close();
  return server.of("tools/list").length;
}

describe("freshness", () => {
  test("a result is fresh for its ttlMs, and is then requested again when it is needed [CACHE-TTL-POSITIVE, CACHE-STALE-REFETCH, CACHE-NOT-POLL]", async () => {
    expect(await askedTwice(minute, 59.999)).toBe(1);
    expect(await askedTwice(minute, 60)).toBe(2);
  });

  test.each([-3600, 3600])("a clock that is set by %i seconds keeps no result longer", async (seconds) => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    const client = await connected(server);
    holdClocks("setTimeout", "clearTimeout");
    await client.listTools();
    vi.advanceTimersByTime(30_000);
    setWallClock(seconds);
    vi.advanceTimersByTime(30_000);
    await client.listTools();
    expect(server.of("tools/list")).toHaveLength(2);
    await client.close();
  });

  test.each([
    ["0 [CACHE-TTL-ZERO]", 0],
    ["absent [CACHE-TTL-ABSENT]", undefined],
    ["negative [CACHE-TTL-NEGATIVE]", -60_000],
    ["a text", "60000"],
    ["null", null],
    ["an object", { valueOf: 60_000 }],
  ])("a ttlMs that is %s caches nothing", async (_, ttlMs) => {
    expect(await askedTwice({ ttlMs, cacheScope: "public" })).toBe(2);
  });

  test("a ttlMs that is too long ends after a day", async () => {
    const hints = { ttlMs: Number.MAX_VALUE, cacheScope: "public" };
    expect(await askedTwice(hints, day - 1)).toBe(1);
    expect(await askedTwice(hints, day)).toBe(2);
  });

  test("cache: false asks each time, and fresh: true once, which others then receive", async () => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    const without = await connected(server, { cache: false });
    await without.listTools();
    await without.listTools();
    expect(server.of("tools/list")).toHaveLength(2);
    await without.close();
    const client = await connected(server);
    await client.readResource("a:1");
    await client.readResource("a:1", { fresh: true });
    await client.readResource("a:1");
    expect(server.of("resources/read")).toHaveLength(2);
    await client.close();
  });

  test("observe hears of a result from the cache", async () => {
    const events: ClientEvent[] = [];
    const server = new ScriptedServer({ answers: hinted(minute) });
    const client = await connected(server, { observe: (event) => void events.push(event) });
    await client.readResource("a:1");
    await client.readResource("a:1");
    expect(events.findLast(({ type }) => type === "request")).toMatchObject({
      method: "resources/read",
      name: "a:1",
      outcome: "cached",
      attempts: 0,
    });
    await client.close();
    await expect(client.readResource("a:1")).rejects.toThrow("closed");
  });
});

describe("keys", () => {
  test("each method, URI and cursor has a result of its own [CACHE-KEY, CACHE-PAGES-INDEPENDENT]", async () => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    server.on("tools/list", ({ params }) =>
      params?.["cursor"] === undefined
        ? { tools: [tool], nextCursor: "2", ...minute }
        : { tools: [{ ...tool, name: "b" }], ttlMs: 30_000, cacheScope: "public" },
    );
    const client = await connected(server);
    stopClock();
    const first = await client.readResource("a:1");
    const second = await client.readResource("a:2");
    expect([first, second].map(({ contents }) => contents[0]?.uri)).toEqual(["a:1", "a:2"]);
    expect(await client.listResources()).toEqual([]);
    expect(await client.listResourceTemplates()).toEqual([]);
    expect(await client.listTools()).toHaveLength(2);
    passSeconds(45);
    expect(await client.listTools()).toHaveLength(2);
    expect(server.given("tools/list", "cursor")).toEqual([undefined, "2", "2"]);
    await client.close();
  });

  test("an invalid cursor discards all pages, and the list begins anew [CACHE-PAGES-INDEPENDENT]", async () => {
    let generation = 1;
    let isBroken = false;
    const server = new ScriptedServer();
    server.on("tools/list", ({ params }) => {
      const cursor = params?.["cursor"];
      if (cursor === undefined) return { tools: [tool], nextCursor: `of ${generation}`, ...minute };
      if (isBroken || cursor !== `of ${generation}`) throw new Refuse(-32602, "Invalid cursor");
      return { tools: [{ ...tool, name: `b${generation}` }], ttlMs: 0, cacheScope: "public" };
    });
    const client = await connected(server);
    await client.listTools();
    generation = 2;
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["a", "b2"]);
    expect(server.given("tools/list", "cursor")).toEqual([undefined, "of 1", "of 1", undefined, "of 2"]);
    // One that is always invalid ends the list.
    isBroken = true;
    await expect(client.listTools({ fresh: true })).rejects.toThrow("Invalid cursor");
    await client.close();
  });

  test("a call with headers of its own neither uses nor fills the cache [CACHE-PRIVATE]", async () => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    const client = await connected(server);
    const headers = { Authorization: "Bearer of another user" };
    await client.readResource("a:1", { headers });
    await client.readResource("a:1");
    await client.readResource("a:1", { headers });
    await client.readResource("a:1");
    expect(server.of("resources/read")).toHaveLength(3);
    await client.close();
  });

  test("two clients share nothing [CACHE-PRIVATE]", async () => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    for (let count = 1; count <= 2; count++) {
      const client = await connected(server);
      await client.readResource("a:1");
      expect(server.of("resources/read")).toHaveLength(count);
      await client.close();
    }
  });
});

describe("credentials", () => {
  /** A server over HTTP whose resource contains the principal that read it. */
  async function whose(auth: ClientAuth | (() => string | Promise<string>), cacheScope: string) {
    let count = 0;
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      const { method, id } = JSON.parse(String(init?.body)) as { method: string; id: number };
      if (method === "resources/read") count++;
      const headers = new Headers(init?.headers);
      const text = headers.get("authorization") ?? headers.get("x-api-key");
      const result =
        method === "server/discover"
          ? { resultType: "complete", supportedVersions: [newestModern], capabilities: {} }
          : { contents: [{ uri: "a:1", text }], ttlMs: 60_000, cacheScope };
      return Response.json({ jsonrpc: "2.0", id, result });
    };
    const client = await connect("https://mcp.example.com/mcp", {
      revision: newestModern,
      auth,
      fetch: fetch as typeof globalThis.fetch,
    });
    onTestFinished(() => client.close());
    const read = async (): Promise<unknown> => {
      const { contents } = await client.readResource("a:1");
      return (contents[0] as { text?: string }).text;
    };
    return { read, count: () => count };
  }

  test.each(["private", "unknown"])(
    "a result of scope %s is gone when they change [CACHE-PRIVATE]",
    async (scope) => {
      let token = "anna";
      const { read, count } = await whose(() => token, scope);
      for (const user of ["anna", "anna", "ben", "ben", "anna"]) {
        token = user;
        expect(await read()).toBe(`Bearer ${user}`);
      }
      expect(count()).toBe(3);
    },
  );

  test("a public result is kept, for those who have received it [CACHE-PUBLIC]", async () => {
    let token = "anna";
    const { read, count } = await whose(() => token, "public");
    for (token of ["anna", "ben", "anna", "ben"]) await read();
    expect(count()).toBe(2);
  });

  test("headers other than Authorization are credentials too [CACHE-PRIVATE]", async () => {
    let key = "one";
    const { read } = await whose({ headers: () => ({ "X-API-Key": key }) }, "private");
    expect(await read()).toBe("one");
    key = "two";
    expect(await read()).toBe("two");
  });

  test("a proof that differs on each request is not a change of them", async () => {
    let proofs = 0;
    const { read, count } = await whose(
      { headers: () => ({ Authorization: "DPoP anna", DPoP: `proof ${++proofs}` }) },
      "private",
    );
    expect([await read(), await read()]).toEqual(["DPoP anna", "DPoP anna"]);
    expect(count()).toBe(1);
    expect(proofs).toBeGreaterThan(2);
  });

  test("users who share a client receive their own, however their reads meet [CACHE-PRIVATE]", async () => {
    const user = new AsyncLocalStorage<string>();
    const token = async (): Promise<string> => {
      await nextTurn();
      return user.getStore() ?? "nobody";
    };
    const { read } = await whose(token, "private");
    const names = ["anna", "ben", "anna", "carl", "ben"];
    const texts = await Promise.all(names.map((name) => user.run(name, read)));
    expect(texts).toEqual(names.map((name) => `Bearer ${name}`));
  });
});

describe("changes", () => {
  const lists = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
  ];
  const cases: readonly (readonly [string, object | undefined, readonly string[]])[] = [
    ["notifications/tools/list_changed", undefined, ["tools/list"]],
    ["notifications/prompts/list_changed", undefined, ["prompts/list"]],
    ["notifications/resources/list_changed", undefined, ["resources/list", "resources/templates/list"]],
    ["notifications/resources/updated", { uri: "a:1" }, ["resources/read"]],
    ["notifications/resources/updated", { uri: "a:2" }, []],
    ["notifications/resources/updated", {}, []],
  ];

  test.each(cases)(
    "%s %j makes only what it is about stale [LIST-CHANGED-INVALIDATE]",
    async (method, params, stale) => {
      const server = new ScriptedServer({ answers: hinted(minute), capabilities: allCapabilities });
      const client = await connected(server);
      const all = async (): Promise<void> => {
        await client.listTools();
        await client.listPrompts();
        await client.listResources();
        await client.listResourceTemplates();
        await client.readResource("a:1");
      };
      await all();
      server.end.notify(method, params);
      await nextTurn();
      await all();
      const counts = lists.map((list) => server.of(list).length);
      expect(counts).toEqual(lists.map((list) => (stale.includes(list) ? 2 : 1)));
      await client.close();
    },
  );

  test("a response that was under way when the list changed is not kept", async () => {
    const gates: (() => void)[] = [];
    const server = new ScriptedServer({ answers: hinted(minute) });
    server.on("tools/list", async () => {
      const age = gates.length === 0 ? "old" : "new";
      await new Promise<void>((resolve) => void gates.push(resolve));
      return { tools: [{ ...tool, name: age }], ...minute };
    });
    const client = await connected(server);
    const old = client.listTools();
    await until(() => gates.length === 1);
    server.end.notify("notifications/tools/list_changed");
    await nextTurn();
    const next = client.listTools();
    await until(() => gates.length === 2);
    gates[1]?.();
    expect(await next).toMatchObject([{ name: "new" }]);
    gates[0]?.();
    expect(await old).toMatchObject([{ name: "old" }]);
    expect(await client.listTools()).toMatchObject([{ name: "new" }]);
    expect(gates).toHaveLength(2);
    await client.close();
  });

  test("a list that is under way when it changes is not shared with those who ask later", async () => {
    const gates: (() => void)[] = [];
    const server = new ScriptedServer({ answers: hinted(minute) });
    const client = await connected(server);
    // Only lists that may be cached are shared while they are under way.
    await client.listTools();
    server.end.notify("notifications/tools/list_changed");
    await nextTurn();
    server.on("tools/list", async () => {
      const age = gates.length === 0 ? "old" : "new";
      await new Promise<void>((resolve) => void gates.push(resolve));
      return { tools: [{ ...tool, name: age }], ...minute };
    });
    const early = [client.listTools()];
    await until(() => gates.length === 1);
    early.push(client.listTools());
    server.end.notify("notifications/tools/list_changed");
    await nextTurn();
    const late = client.listTools();
    await until(() => gates.length === 2);
    for (const open of gates) open();
    for (const list of early) expect(await list).toMatchObject([{ name: "old" }]);
    expect(await late).toMatchObject([{ name: "new" }]);
    await client.close();
  });

  test("a new connection forgets everything", async () => {
    const server = new ScriptedServer({
      answers: hinted(minute),
      revision: newestLegacy,
      capabilities: allCapabilities,
    });
    const client = await connected(server, { revision: newestLegacy, backoff: { firstMs: 1 } });
    await client.listTools();
    server.end.cut();
    await until(() => client.state.name === "ready");
    await client.listTools();
    expect(server.of("tools/list")).toHaveLength(2);
    await client.close();
  });
});

describe.each(legacyDates)("on %s", (revision) => {
  test("lists are kept until the server announces a change, and reads are not kept", async () => {
    const server = new ScriptedServer({ answers: hinted({}), revision, capabilities: allCapabilities });
    const client = await connected(server, { revision });
    for (let count = 0; count < 2; count++) {
      await client.listTools();
      await client.readResource("a:1");
    }
    expect(server.of("tools/list")).toHaveLength(1);
    expect(server.of("resources/read")).toHaveLength(2);
    server.end.notify("notifications/tools/list_changed");
    await nextTurn();
    await client.listTools();
    expect(server.of("tools/list")).toHaveLength(2);
    await client.close();
  });

  test("lists are not kept if the server does not announce changes, nor are templates", async () => {
    const capabilities = { tools: {}, resources: { listChanged: true } };
    const server = new ScriptedServer({ answers: hinted(minute), revision, capabilities });
    const client = await connected(server, { revision });
    for (let count = 0; count < 2; count++) {
      await client.listTools();
      await client.listResourceTemplates();
    }
    expect(server.of("tools/list")).toHaveLength(2);
    expect(server.of("resources/templates/list")).toHaveLength(2);
    await client.close();
  });
});

test.each(legacyDates)(
  "on %s over HTTP, a call shows in the next list although its change is announced late",
  async (revision) => {
    const announced = deferred();
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const note = server.resource("note:///1", {}, () => "text");
    server.tool("remove", {}, () => {
      note.remove();
      return "removed";
    });
    const http = await serveHttp(server, { port: 0 });
    onTestFinished(() => http.close());
    const lateGet: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== "GET" || response.body === null) return response;
      const late = new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, controller) {
          if (new TextDecoder().decode(chunk).includes("list_changed")) await announced.promise;
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(late), response);
    };
    const client = await connect(http.url, { revision, fetch: lateGet });
    onTestFinished(() => client.close());
    expect(await client.listResources()).toHaveLength(1);
    await client.callTool("remove");
    expect(await client.listResources()).toEqual([]);
    announced.resolve();
  },
);

test("a read that needed answers of the user is not kept [CACHE-NO-MRTR]", async () => {
  const server = new ScriptedServer();
  server.on("resources/read", ({ params }) =>
    params?.["inputResponses"] === undefined
      ? { resultType: "input_required", inputRequests: { who: { method: "roots/list" } }, requestState: "s" }
      : { contents: [{ uri: "a:1", text: "yours" }], ...minute },
  );
  const client = await connected(server, { roots: [{ uri: "file:///home" }] });
  for (let count = 0; count < 2; count++)
    expect(await client.readResource("a:1")).toMatchObject({ contents: [{ text: "yours" }] });
  expect(server.of("resources/read")).toHaveLength(4);
  await client.close();
});

test("a question that is returned is not kept", async () => {
  const question = { resultType: "input_required", inputRequests: {}, requestState: "s", ...minute };
  const server = new ScriptedServer({ answers: { "resources/read": () => question } });
  const client = await connected(server);
  for (let count = 1; count <= 2; count++) {
    expect(await client.readResource("a:1", { inputRequired: "return" })).toMatchObject(question);
    expect(server.of("resources/read")).toHaveLength(count);
  }
  await client.close();
});

describe("limits", () => {
  test("whatever was dropped before, there is room for the next result", async () => {
    const server = new ScriptedServer();
    server.on("resources/read", () => ({ contents: [{ text: "x".repeat(4000) }], ...minute }));
    const client = await connected(server, { limits: { maxCachedBytes: 10_000 } });
    for (let number = 0; number < 20; number++) await client.readResource(`a:${number}`);
    await client.readResource("a:19");
    expect(server.of("resources/read")).toHaveLength(20);
    await client.close();
  });

  test("past maxCached the results that were not used for longest are dropped", async () => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    const client = await connected(server, { limits: { maxCached: 2 } });
    for (const uri of ["a:1", "a:2", "a:1", "a:3", "a:1", "a:2"]) await client.readResource(uri);
    expect(server.given("resources/read", "uri")).toEqual(["a:1", "a:2", "a:3", "a:2"]);
    await client.close();
  });

  test("past maxCachedBytes too, and a result that is larger alone is not kept", async () => {
    const server = new ScriptedServer();
    server.on("resources/read", ({ params }) => ({
      contents: [{ text: "x".repeat(params?.["uri"] === "a:large" ? 20_000 : 4000) }],
      ...minute,
    }));
    const client = await connected(server, { limits: { maxCachedBytes: 10_000 } });
    for (const uri of ["a:1", "a:2", "a:large", "a:2", "a:1", "a:3", "a:2"]) await client.readResource(uri);
    expect(server.given("resources/read", "uri")).toEqual(["a:1", "a:2", "a:large", "a:3", "a:2"]);
    await client.close();
  });
});

test("what lists and reads return is frozen, kept or not, so that no caller can change it for another", async () => {
  for (const hints of [minute, { ttlMs: 0, cacheScope: "public" }]) {
    const server = new ScriptedServer({ answers: hinted(hints) });
    const client = await connected(server);
    const [first] = await client.listTools();
    const read = await client.readResource("a:1");
    const change = first?.inputSchema as { type: string };
    expect(() => void (change.type = "array")).toThrow(TypeError);
    expect(() => (read.contents as unknown[]).push({})).toThrow(TypeError);
    const tools = await client.listTools();
    // The array itself is the caller's own.
    tools.push(...tools);
    expect(await client.listTools()).toEqual([tool]);
    await client.close();
  }
});

describe("equal requests at once", () => {
  test("in the same turn they are one request, unless one has options of its own", async () => {
    const server = new ScriptedServer({ answers: hinted({ ttlMs: 0, cacheScope: "private" }) });
    const client = await connected(server);
    await Promise.all([client.listTools(), client.listTools(), client.listTools({})]);
    expect(server.of("tools/list")).toHaveLength(1);
    const { signal } = new AbortController();
    await Promise.all([client.listTools(), client.listTools({ signal }), client.listTools({ fresh: true })]);
    expect(server.of("tools/list")).toHaveLength(4);
    await Promise.all([client.readResource("a:1"), client.readResource("a:2")]);
    expect(server.of("resources/read")).toHaveLength(2);
    await client.close();
  });

  test("a later one is a request of its own, unless the server allows results to be kept", async () => {
    const gates: (() => void)[] = [];
    const server = new ScriptedServer();
    server.on("resources/read", async ({ params }) => {
      await new Promise<void>((resolve) => void gates.push(resolve));
      return { contents: [], ttlMs: params?.["uri"] === "a:kept" ? 1 : 0, cacheScope: "public" };
    });
    const client = await connected(server);
    stopClock();
    const twice = async (uri: string): Promise<number> => {
      const before = gates.length;
      const first = client.readResource(uri);
      await until(() => gates.length === before + 1);
      const second = client.readResource(uri);
      await nextTurn();
      for (const open of gates) open();
      await first;
      for (const open of gates) open();
      await second;
      return gates.length - before;
    };
    // The caller may have changed something between its two reads.
    expect(await twice("a:kept")).toBe(2);
    passSeconds(1);
    expect(await twice("a:kept")).toBe(1);
    expect(await twice("a:not")).toBe(1);
    expect(await twice("a:not")).toBe(2);
    await client.close();
  });

  test("they fail together, and the next one is sent again", async () => {
    const server = new ScriptedServer({ answers: hinted(minute) });
    server.on("tools/list", () => {
      throw new Refuse(-32603, "broken");
    });
    const client = await connected(server);
    const both = await Promise.allSettled([client.listTools(), client.listTools()]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(server.of("tools/list")).toHaveLength(1);
    server.on("tools/list", () => ({ tools: [tool], ...minute }));
    expect(await client.listTools()).toEqual([tool]);
    await client.close();
  });
});
