// What a client lists: all pages, one entry after the other, and what it does with pages that are wrong or never end.
import { McpServer } from "halyard";
import { type ClientEvent, type ClientLimits, connect, InvalidResponse } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { type Script, ScriptedServer } from "../support/scripted-wire.ts";

const inputSchema = { type: "object" };
const tool = (name: string): object => ({ name, inputSchema });

/** Pages by the cursor that leads to them. */
function paged(pages: { readonly [cursor: string]: object }): ScriptedServer {
  const list: Script = ({ params }) => ({
    ttlMs: 0,
    cacheScope: "private",
    ...pages[(params?.["cursor"] as string | undefined) ?? "first"],
  });
  return new ScriptedServer({ answers: { "tools/list": list } });
}

async function connected(
  server: ScriptedServer,
  limits: Partial<ClientLimits> = {},
  revision = newestModern,
) {
  const events: ClientEvent[] = [];
  const client = await connect(server, { revision, limits, observe: (event) => void events.push(event) });
  const ignored = (): string[] => events.flatMap((event) => (event.type === "ignored" ? [event.reason] : []));
  return { client, ignored };
}

const namesOf = (entries: readonly { readonly name: string }[]): string[] => entries.map(({ name }) => name);

describe.each(protocolRevisions.map(({ date }) => date))("on %s", (revision) => {
  test("the four lists return all entries of all pages, and iterate over the same [PAGE-OPS, PAGE-SIZE, PAGE-END]", async () => {
    const server = new McpServer({ name: "pages", version: "1.0.0" }, { pageSize: 3 });
    const names = Array.from({ length: 8 }, (_, index) => `entry-${index}`);
    for (const name of names) {
      server.tool(name, {}, () => "");
      server.prompt(name, {}, () => "");
      server.resource(`note:///${name}`, { name }, () => "");
      server.resourceTemplate(`note:///${name}/{id}`, { name }, () => "");
    }
    await using client = await connect(server, { revision });
    const lists = [
      [client.listTools(), client.eachTool()],
      [client.listPrompts(), client.eachPrompt()],
      [client.listResources(), client.eachResource()],
      [client.listResourceTemplates(), client.eachResourceTemplate()],
    ] as const;
    for (const [all, each] of lists) {
      expect(namesOf(await all).toSorted()).toEqual(names);
      const found: string[] = [];
      for await (const { name } of each) found.push(name);
      expect(found).toEqual(namesOf(await all));
    }
  });
});

test("listTools sends each cursor as it came, the empty one too, and ends at null [PAGE-OPAQUE, PAGE-EMPTY-STRING]", async () => {
  const odd = ' {"page": 2}\u0000 ü ';
  const server = paged({
    first: { tools: [tool("a")], nextCursor: "" },
    "": { tools: [], nextCursor: odd },
    [odd]: { tools: [tool("b"), tool("c")], nextCursor: null },
  });
  const { client } = await connected(server);
  expect(namesOf(await client.listTools())).toEqual(["a", "b", "c"]);
  expect(server.given("tools/list", "cursor")).toEqual([undefined, "", odd]);
  await client.close();
});

test("eachTool requests the next page only when it is needed", async () => {
  const server = paged({
    first: { tools: [tool("a"), tool("b")], nextCursor: "2" },
    "2": { tools: [tool("c")] },
  });
  const { client } = await connected(server);
  for await (const { name } of client.eachTool()) if (name === "b") break;
  expect(server.of("tools/list")).toHaveLength(1);
  await client.close();
});

test.each([
  ["the same cursor", { first: "a", a: "a" }],
  ["a circle of cursors", { first: "a", a: "b", b: "c", c: "a" }],
])("%s that repeats ends the list with InvalidResponse", async (_, next: { [cursor: string]: string }) => {
  const pages = Object.entries(next).map(([cursor, nextCursor]) => [cursor, { tools: [], nextCursor }]);
  const server = paged(Object.fromEntries(pages) as { [cursor: string]: object });
  const { client } = await connected(server);
  await expect(client.listTools()).rejects.toThrow(InvalidResponse);
  await expect(client.listTools()).rejects.toThrow(/repeats/);
  expect(server.of("tools/list").length).toBeLessThan(20);
  await client.close();
});

test("pages without end stop at maxPages, items at maxListItems and maxListBytes; the error names the limit", async () => {
  let count = 0;
  const endless = (): object => ({ tools: [tool(`t${count++}`)], nextCursor: `page ${count}` });
  const server = new ScriptedServer({ answers: { "tools/list": endless } });
  const { client } = await connected(server, { maxPages: 20 });
  await expect(client.listTools()).rejects.toThrow("limits.maxPages (20)");
  expect(server.of("tools/list")).toHaveLength(20);
  await client.close();

  const few = await connected(server, { maxListItems: 5 });
  await expect(few.client.listTools()).rejects.toThrow("limits.maxListItems (5): iterate with eachTool");
  const found: string[] = [];
  for await (const { name } of few.client.eachTool()) if (found.push(name) === 9) break;
  expect(found).toHaveLength(9);
  await few.client.close();

  server.on("tools/list", () => ({ tools: [{ ...tool("x".repeat(5000)) }] }));
  const short = await connected(server, { maxListBytes: 4000 });
  await expect(short.client.listTools()).rejects.toThrow("limits.maxListBytes (4000)");
  await short.client.close();
});

test("a list of nine hundred thousand entries is refused at the limits of a client without options", async () => {
  const many = JSON.parse(`[${"0,".repeat(899_999)}0]`) as unknown[];
  const server = paged({ first: { tools: many } });
  const { client, ignored } = await connected(server);
  // None of them is a tool. They are reported, but not one by one.
  await expect(client.listTools()).resolves.toEqual([]);
  expect(ignored()).toHaveLength(11);
  server.on("resources/list", () => ({
    resources: Array.from({ length: 100_001 }, () => ({ uri: "a:b", name: "" })),
  }));
  await expect(client.listResources()).rejects.toThrow(/limits.maxListItems/);
  await client.close();
});

test.each([
  ["no list", {}, "has no array tools"],
  ["a list that is no array", { tools: { length: 1 } }, "has no array tools"],
  ["a cursor that is no text", { tools: [], nextCursor: 7 }, "nextCursor is not a string"],
])("a page with %s is an InvalidResponse", async (_, page, problem) => {
  const { client } = await connected(paged({ first: page }));
  await expect(client.listTools()).rejects.toThrow(InvalidResponse);
  await expect(client.listTools()).rejects.toThrow(problem);
  await client.close();
});

test("entries that cannot be used are left out and reported; the others stay usable", async () => {
  const strange = [
    null,
    1,
    "a",
    [],
    {},
    { name: 1, inputSchema },
    { name: "no schema" },
    { name: "b", inputSchema: [] },
  ];
  const { client, ignored } = await connected(paged({ first: { tools: [tool("good"), ...strange] } }));
  expect(namesOf(await client.listTools())).toEqual(["good"]);
  expect(ignored()).toHaveLength(strange.length);
  expect(ignored().at(-2)).toBe('tools/list: entry "no schema" is left out: it has no inputSchema');
  await client.close();
});

test("of two tools with one name the first counts, on all pages; names differ by case [TOOL-NAME-CASE]", async () => {
  const server = paged({
    first: { tools: [{ ...tool("a"), title: "first" }, tool("A"), tool("a")], nextCursor: "2" },
    "2": { tools: [{ ...tool("a"), title: "last" }, tool("b")] },
  });
  const { client, ignored } = await connected(server);
  const tools = await client.listTools();
  expect(tools.map(({ name, title }) => [name, title])).toEqual([
    ["a", "first"],
    ["A", undefined],
    ["b", undefined],
  ]);
  expect(ignored()).toEqual(['tools/list: "a" is listed more than once; the first one counts']);
  await client.close();
});

test("a name of a megabyte is a name, and no event repeats it whole", async () => {
  const long = "n".repeat(1024 * 1024);
  const { client, ignored } = await connected(paged({ first: { tools: [tool(long), tool(long)] } }));
  expect(namesOf(await client.listTools())).toEqual([long]);
  expect(ignored().join("").length).toBeLessThan(1000);
  await client.close();
});

test("definitions arrive as the server wrote them, unknown keywords included [SCHEMA-KEYWORDS-PRESERVE]", async () => {
  const schema = {
    type: "object",
    $defs: { a: { $anchor: "x", not: {}, if: true, else: {} } },
    oneOf: [{ $dynamicRef: "#x" }],
    "x-unknown": [1, { two: null }],
  };
  const definition = {
    name: "a",
    inputSchema: schema,
    outputSchema: { anyOf: [true] },
    future: { field: 1 },
  };
  const { client } = await connected(paged({ first: { tools: [definition] } }));
  expect(await client.listTools()).toEqual([definition]);
  await client.close();
});

test("a new session does not receive a cursor of the old one [PAGE-NO-PERSIST]", async () => {
  const server = new ScriptedServer({ revision: newestLegacy });
  server.on("tools/list", ({ params }, end) => {
    const count = server.of("tools/list").length;
    if (params?.["cursor"] === undefined) return { tools: [tool("a")], nextCursor: `of ${count}` };
    if (count === 2) end.cut();
    return { tools: [tool("b")] };
  });
  const { client } = await connected(server, {}, newestLegacy);
  expect(namesOf(await client.listTools())).toEqual(["a", "b"]);
  expect(server.given("tools/list", "cursor")).toEqual([undefined, "of 1", undefined, "of 3"]);
  await client.close();
});

test("a signal ends a list, and its reason is the error", async () => {
  const stop = new AbortController();
  const server = new ScriptedServer();
  server.on("tools/list", () => void queueMicrotask(() => stop.abort(new Error("enough"))));
  const { client } = await connected(server);
  await expect(client.listTools({ signal: stop.signal })).rejects.toThrow("enough");
  await client.close();
});
