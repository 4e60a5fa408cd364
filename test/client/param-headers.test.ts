// The headers with which a client repeats annotated arguments of tools over HTTP.
import { McpServer } from "halyard";
import {
  type ClientEvent,
  connect,
  type ConnectOptions,
  type Remembered,
  RpcRejection,
} from "halyard/client";
import { fetchHandler } from "halyard/fetch";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { Refuse, type Script, ScriptedServer } from "../support/scripted-wire.ts";
import { until } from "../support/turns.ts";

const url = "http://127.0.0.1/mcp";

interface Sent {
  readonly method: string;
  /** The headers `Mcp-*`, in lower case. */
  readonly headers: { readonly [name: string]: string };
}

/** Passes HTTP requests to `answer`, and keeps the headers of each. */
function recording(answer: (request: Request) => Promise<Response>) {
  const sent: Sent[] = [];
  const fetch = (async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const { method } = (await request.clone().json()) as { method: string };
    const headers = [...request.headers].filter(([name]) => name.startsWith("mcp-"));
    sent.push({ method, headers: Object.fromEntries(headers) });
    return answer(request);
  }) as typeof globalThis.fetch;
  const of = (method: string): Sent[] => sent.filter((request) => request.method === method);
  const params = (): object[] =>
    of("tools/call").map(({ headers }) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-"))),
    );
  return { fetch, of, params };
}

/** Scripted answers over HTTP. */
function scripted(answers: { [method: string]: Script }) {
  const server = new ScriptedServer({ answers });
  const recorded = recording(async (request) => {
    const text = await request.text();
    const { id } = JSON.parse(text) as { id?: unknown };
    const wire = server.openWire();
    if (id === undefined) return new Response(null, { status: 202 });
    const reply = new Promise<string>((resolve) => void (wire.onMessage = resolve));
    void wire.send(text);
    return new Response(await reply, { headers: { "Content-Type": "application/json" } });
  });
  return { server, ...recorded };
}

const annotated = (name: string, header: string, type = "string"): object => ({
  name,
  inputSchema: { type: "object", properties: { city: { type, "x-mcp-header": header } } },
});
const done = { content: [] };
const mismatch = new Refuse(-32020, "The Mcp-Param-City header is missing");

async function connected(fetch: typeof globalThis.fetch, options: ConnectOptions = {}) {
  const ignored: string[] = [];
  const observe = (event: ClientEvent): void => {
    if (event.type === "ignored") ignored.push(event.reason);
  };
  const client = await connect(url, { revision: newestModern, ...options, fetch, observe });
  return { client, ignored };
}

describe("with a server of Halyard, which compares them with the body", () => {
  const inputSchema = {
    type: "object",
    properties: {
      text: { type: "string", "x-mcp-header": "Text" },
      count: { type: "integer", "x-mcp-header": "Count" },
      flag: { type: "boolean", "x-mcp-header": "Flag" },
      deep: { type: "object", properties: { er: { type: "string", "x-mcp-header": "Deep.Er" } } },
      free: { type: "string" },
    },
  } as const;

  function echo() {
    const server = new McpServer({ name: "echo", version: "1.0.0" });
    server.tool("echo", { input: inputSchema }, (args) => JSON.stringify(args));
    return recording(fetchHandler(server));
  }

  test("calls repeat the arguments that the definition says [XMH-CLIENT-SUPPORT, XMH-CLIENT-STEPS, XMH-VALUE-PRESENT]", async () => {
    const { fetch, of } = echo();
    const { client } = await connected(fetch);
    await client.listTools();
    for (const count of [1, 2]) await client.callTool("echo", { text: "Oslo", count });
    expect(of("tools/list")).toHaveLength(1);
    expect(of("tools/call").map(({ headers }) => headers)).toMatchObject([
      { "mcp-method": "tools/call", "mcp-name": "echo", "mcp-param-text": "Oslo", "mcp-param-count": "1" },
      { "mcp-method": "tools/call", "mcp-name": "echo", "mcp-param-text": "Oslo", "mcp-param-count": "2" },
    ]);
    await client.close();
  });

  const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
  const values: readonly (readonly [string, object, object])[] = [
    ["plain text", { text: "Oslo ~!" }, { text: "Oslo ~!" }],
    ["an integer", { count: -42 }, { count: "-42" }],
    ["zero and false", { count: 0, flag: false }, { count: "0", flag: "false" }],
    ["true", { flag: true }, { flag: "true" }],
    ["text beyond ASCII", { text: "Tromsø 🌧" }, { text: base64("Tromsø 🌧") }],
    ["control characters", { text: "a\r\nX: y" }, { text: base64("a\r\nX: y") }],
    ["spaces at the ends", { text: " a " }, { text: base64(" a ") }],
    ["no text", { text: "" }, { text: base64("") }],
    ["the marks of encoding", { text: "=?base64?YQ==?=" }, { text: base64("=?base64?YQ==?=") }],
    ["other marks", { text: "=?BASE64?YQ==?=" }, { text: "=?BASE64?YQ==?=" }],
    ["an inner argument", { deep: { er: "x" }, er: "y" }, { "deep.er": "x" }],
    ["null and nothing", { free: "x" }, {}],
  ];

  test.each(values)(
    "%s arrives [XMH-EXTRACT, XMH-ENCODE-TYPES, XMH-ENCODE-BASE64, XMH-ENCODE-SENTINEL-ESCAPE, XMH-SENTINEL-EXACT, XMH-NULL-OMIT]",
    async (_, args, expected) => {
      const { fetch, params } = echo();
      const { client } = await connected(fetch);
      await client.listTools();
      const { content } = await client.callTool("echo", args as { [name: string]: unknown });
      expect(content).toEqual([{ type: "text", text: JSON.stringify(args) }]);
      const named = Object.entries(expected).map(([name, value]) => [`mcp-param-${name}`, value as string]);
      expect(params()).toEqual([Object.fromEntries(named)]);
      await client.close();
    },
  );

  test("a null argument has no header, and one of a wrong type is for the server to refuse [XMH-NULL-OMIT]", async () => {
    const { fetch, params } = echo();
    const { client } = await connected(fetch);
    await client.listTools();
    await client.callTool("echo", { text: null, deep: null, count: [1] }).catch(() => {});
    expect(params()[0]).toEqual({});
    await client.close();
  });

  test("an integer that is not safe throws before anything is sent [XMH-INT-SAFE]", async () => {
    const { fetch, of } = echo();
    const { client } = await connected(fetch);
    await client.listTools();
    await expect(client.callTool("echo", { count: 2 ** 53 })).rejects.toThrow(/count is 9007199254740992/);
    expect(of("tools/call")).toEqual([]);
    await client.callTool("echo", { count: Number.MAX_SAFE_INTEGER });
    await client.close();
  });
});

describe("with a server whose definitions change", () => {
  /** Refuses calls without the header of the current definition. */
  function changing() {
    let header = "City";
    const fixture = scripted({
      "tools/list": () => ({ tools: [annotated("forecast", header)], ttlMs: 60_000, cacheScope: "public" }),
      "tools/call": () => {
        const last = fixture.params().at(-1) as { [name: string]: string };
        if (last[`mcp-param-${header.toLowerCase()}`] === undefined) throw mismatch;
        return done;
      },
    });
    return { ...fixture, rename: (name: string) => void (header = name) };
  }

  test("-32020 lists the tools again and sends the call once more [XMH-RETRY-REFRESH, BASE-ERR-MCP-RANGE-MEANING]", async () => {
    const { fetch, of, params, rename } = changing();
    const { client } = await connected(fetch);
    await client.listTools();
    await client.callTool("forecast", { city: "Oslo" });
    rename("Town");
    await client.callTool("forecast", { city: "Bergen" });
    expect(params()).toEqual([
      { "mcp-param-city": "Oslo" },
      { "mcp-param-city": "Bergen" },
      { "mcp-param-town": "Bergen" },
    ]);
    expect(of("tools/list")).toHaveLength(2);
    await client.close();
  });

  test("calls that are refused together list once", async () => {
    const { fetch, of, rename } = changing();
    const { client } = await connected(fetch);
    await client.listTools();
    await client.callTool("forecast", { city: "Oslo" });
    rename("Town");
    await Promise.all(["a", "b", "c"].map((city) => client.callTool("forecast", { city })));
    expect(of("tools/list").length).toBeLessThan(4);
    expect(of("tools/call")).toHaveLength(1 + 2 * 3);
    await client.close();
  });

  test("a server that always refuses is asked twice, and its error returned", async () => {
    const { fetch, of } = scripted({
      "tools/list": () => ({ tools: [annotated("forecast", "City")] }),
      "tools/call": () => {
        throw mismatch;
      },
    });
    const { client } = await connected(fetch);
    await expect(client.callTool("forecast", { city: "Oslo" })).rejects.toThrow(RpcRejection);
    expect(of("tools/list")).toHaveLength(1);
    expect(of("tools/call")).toHaveLength(2);
    await client.close();
  });
});

describe("cold calls", () => {
  /** Refuses calls without a header, as a server does that has annotated the argument. */
  function demanding(list: Script) {
    const fixture = scripted({
      "tools/list": list,
      "tools/call": () => {
        if (Object.keys(fixture.params().at(-1) ?? {}).length === 0) throw mismatch;
        return done;
      },
    });
    return fixture;
  }
  const listed = () => ({ tools: [annotated("forecast", "City")], ttlMs: 0, cacheScope: "private" });

  test("are the second request of a client, after the one that connects", async () => {
    let requests = 0;
    const server = new McpServer({ name: "gateway", version: "1.0.0" });
    server.tool("request_count", {}, () => String(requests));
    const handle = fetchHandler(server, { allowedHosts: ["127.0.0.1"] });
    const fetch = ((input: string, init?: RequestInit) => {
      requests++;
      return handle(new Request(input, init));
    }) as typeof globalThis.fetch;
    const first = await connect(url, { fetch });
    const remembered = JSON.parse(JSON.stringify(first.remember())) as Remembered;
    expect((await first.callTool("request_count")).content).toEqual([{ type: "text", text: "2" }]);
    await first.close();
    const worker = await connect(url, { fetch, remembered });
    expect((await worker.callTool("request_count")).content).toEqual([{ type: "text", text: "3" }]);
    await worker.close();
  });

  test("are sent without headers, and list the tools if the server wants some: the call runs once [XMH-RETRY-REFRESH]", async () => {
    let runs = 0;
    const server = new McpServer({ name: "shop", version: "1.0.0" });
    const input = {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
    } as const;
    server.tool("order", { input }, () => `Order ${++runs}`);
    const { fetch, of, params } = recording(fetchHandler(server));
    const { client } = await connected(fetch);
    for (const region of ["eu", "us"]) await client.callTool("order", { region });
    expect(params()).toEqual([{}, { "mcp-param-region": "eu" }, { "mcp-param-region": "us" }]);
    expect(of("tools/list")).toHaveLength(1);
    expect(runs).toBe(2);
    await client.close();
  });

  test("that start together list once", async () => {
    const { fetch, of } = demanding(listed);
    const { client } = await connected(fetch);
    await Promise.all(["a", "b", "c"].map((city) => client.callTool("forecast", { city })));
    expect(of("tools/list")).toHaveLength(1);
    await client.close();
  });

  test("end by their signal, and wait for a list no longer than their timeout", async () => {
    const { fetch, of } = demanding(() => new Promise(() => {}));
    const { client } = await connected(fetch);
    const stop = new AbortController();
    const aborted = client.callTool("forecast", {}, { signal: stop.signal });
    await until(() => of("tools/list").length === 1);
    stop.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await expect(client.callTool("forecast", {}, { timeoutMs: 50 })).rejects.toThrow(RpcRejection);
    await client.close();
  });

  test("list with the headers of the call", async () => {
    const seen: (string | null)[] = [];
    const inner = demanding(listed);
    const fetch = (async (input: string, init?: RequestInit) => {
      seen.push(new Request(input, init).headers.get("x-user"));
      return inner.fetch(input, init);
    }) as typeof globalThis.fetch;
    const { client } = await connected(fetch);
    seen.length = 0;
    await client.callTool("forecast", { city: "Oslo" }, { headers: { "X-User": "anna" } });
    expect(seen).toEqual(["anna", "anna", "anna"]);
    await client.close();
  });
});

describe("annotations that are invalid", () => {
  const invalid: readonly (readonly [string, object])[] = [
    ["a name that is no token", annotated("bad", "a b")],
    ["an empty name", annotated("bad", "")],
    ["the type number", annotated("bad", "City", "number")],
    ["an array of items", { name: "bad", inputSchema: { items: { type: "string", "x-mcp-header": "X" } } }],
    [
      "the same name twice",
      {
        name: "bad",
        inputSchema: {
          properties: {
            a: { type: "string", "x-mcp-header": "X" },
            b: { type: "string", "x-mcp-header": "x" },
          },
        },
      },
    ],
  ];
  const listing = (bad: object): { [method: string]: Script } => ({
    "tools/list": () => ({ tools: [bad, annotated("good", "City")] }),
    "tools/call": () => done,
  });

  test.each(invalid)(
    "%s: over HTTP the tool is left out and reported; others stay usable [XMH-REJECT-TOOL, XMH-REJECT-WARN]",
    async (_, bad) => {
      const { fetch, params } = scripted(listing(bad));
      const { client, ignored } = await connected(fetch);
      expect((await client.listTools()).map(({ name }) => name)).toEqual(["good"]);
      expect(ignored).toHaveLength(1);
      expect(ignored[0]).toMatch(/"bad" is left out: its inputSchema .*x-mcp-header/);
      await client.callTool("good", { city: "Oslo" });
      expect(params()).toEqual([{ "mcp-param-city": "Oslo" }]);
      await client.close();
    },
  );

  test.each([newestModern, newestLegacy])(
    "on a wire they do not matter, on %s [XMH-STDIO-IGNORE]",
    async (revision) => {
      const server = new ScriptedServer({ answers: listing(annotated("bad", "a b")), revision });
      const client = await connect(server, { revision });
      expect(await client.listTools()).toHaveLength(2);
      await client.callTool("bad", { city: "Oslo" });
      expect(server.of("tools/list")).toHaveLength(1);
      await client.close();
    },
  );
});

describe("a client that remembers the tools of a modern server", () => {
  const shop = new McpServer({ name: "shop", version: "1.0.0" });
  shop.tool(
    "order",
    {
      input: {
        type: "object",
        properties: { region: { type: "string", "x-mcp-header": "Region" }, item: { type: "string" } },
      },
    },
    () => "Ordered",
  );
  shop.tool("status", {}, () => "Open");

  async function open(remembered?: Remembered) {
    const handle = fetchHandler(shop, { allowedHosts: ["127.0.0.1"] });
    const http = recording((request) => handle(request));
    const client = await connect(url, { fetch: http.fetch, remembered });
    onTestFinished(() => client.close());
    return { client, ...http };
  }

  test("sends its first call with the headers, and lists nothing before", async () => {
    const first = await open();
    await first.client.callTool("order", { region: "eu", item: "tea" });
    expect(first.of("tools/list")).toHaveLength(1);
    const stored = JSON.parse(JSON.stringify(first.client.remember())) as Remembered;
    expect(stored.tools).toEqual([
      { name: "order", headers: [{ name: "Region", path: ["region"] }] },
      { name: "status" },
    ]);
    for (const remembered of [stored, (await open(stored)).client.remember()]) {
      const next = await open(remembered);
      await next.client.callTool("order", { region: "eu", item: "tea" });
      await next.client.callTool("status");
      expect(next.of("tools/list")).toEqual([]);
      expect(next.params()).toEqual([{ "mcp-param-region": "eu" }, {}]);
    }
  });

  test("lists the tools when the server refuses the remembered headers, and the call runs once", async () => {
    const { remember } = await rememberedWithout("order");
    const next = await open(remember);
    const { content } = await next.client.callTool("order", { region: "eu", item: "tea" });
    expect(content).toEqual([{ type: "text", text: "Ordered" }]);
    expect(next.params()).toEqual([{}, { "mcp-param-region": "eu" }]);
    expect(next.of("tools/list")).toHaveLength(1);
  });

  test("lists the tools for one that it does not remember, once the server refuses the call", async () => {
    const { client } = await open();
    await client.listTools();
    const { tools: _, ...without } = client.remember();
    const next = await open({ ...without, tools: [{ name: "status" }] });
    await next.client.callTool("order", { region: "eu" });
    expect(next.of("tools/list")).toHaveLength(1);
    expect(next.params()).toEqual([{}, { "mcp-param-region": "eu" }]);
  });

  test.each([[{ name: 5 }], [{ name: "order", headers: [{ name: "a b", path: ["region"] }] }], ["order"]])(
    "refuses what was not remembered by a client: %o",
    async (tool) => {
      const { client } = await open();
      const remembered = { ...client.remember(), tools: [tool] } as never;
      await expect(open(remembered)).rejects.toThrow(
        "connect: remembered must be what client.remember() returned",
      );
    },
  );

  /** As a client would remember it that saw the tool before it had a header. */
  async function rememberedWithout(name: string): Promise<{ remember: Remembered }> {
    const { client } = await open();
    await client.listTools();
    const all = client.remember();
    const tools = all.tools?.map((tool) => (tool.name === name ? { name } : tool)) ?? [];
    return { remember: { ...all, tools } };
  }
});
