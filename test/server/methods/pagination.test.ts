// The four lists in pages: whatever the size, and whatever comes and goes between two pages.
import fc from "fast-check";
import type { JsonObject, McpServer } from "halyard";
import { connect, type TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { itemsOf, type ListMethod, makeServer, open, refusal } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

type Register = (server: McpServer, index: number) => { remove(): boolean; disable(): void; enable(): void };

const lists: [ListMethod, string, Register][] = [
  ["tools/list", "name", (server, index) => server.tool(`k${index}`, {}, () => "")],
  ["prompts/list", "name", (server, index) => server.prompt(`k${index}`, {}, () => "")],
  [
    "resources/list",
    "name",
    (server, index) => server.resource(`r:${index}`, { name: `k${index}` }, () => ""),
  ],
  [
    "resources/templates/list",
    "name",
    (server, index) => server.resourceTemplate(`t${index}:{id}`, { name: `k${index}` }, () => ""),
  ],
];

/** Every page of a list, from its start or from a cursor. */
async function pages(client: TestClient, method: ListMethod, from?: unknown): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor = from;
  do {
    const page = await client.request(method, cursor === undefined ? {} : { cursor });
    all.push(page);
    cursor = page["nextCursor"];
  } while (cursor !== undefined && all.length < 1000);
  return all;
}

const namesOf = (found: JsonObject[], method: ListMethod): unknown[] =>
  found.flatMap((page) => itemsOf(page, method).map((item) => item["name"]));

const keys = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `k${from + index}`);

describeMatrix("pagination", {}, (cell) => {
  test.each(lists)(
    "%s is in pages of the size that was asked for [PAGE-OPS]",
    async (method, _, register) => {
      for (const pageSize of [1, 3, 7, 8, 100]) {
        const { server } = makeServer({ pageSize });
        for (let index = 0; index < 7; index++) register(server, index);
        const found = await pages(await open(cell, server), method);
        expect(found.map((page) => itemsOf(page, method).length)).toEqual(
          Array.from({ length: Math.ceil(7 / pageSize) }, (__, page) =>
            Math.min(pageSize, 7 - page * pageSize),
          ),
        );
        expect(namesOf(found, method)).toEqual(keys(0, 7));
        expect(found.at(-1)).not.toHaveProperty("nextCursor");
        for (const page of found.slice(0, -1)) expect(page["nextCursor"]).toMatch(/^\S+$/);
      }
    },
  );

  test.each(lists)(
    "%s loses and repeats nothing when definitions come and go between pages [PAGE-SERVER-SHOULD]",
    async (method, _, register) => {
      const { server } = makeServer({ pageSize: 3 });
      const handles = Array.from({ length: 9 }, (__, index) => register(server, index));
      const client = await open(cell, server);
      const first = await client.request(method);
      // Removed and disabled: some of those that were sent, the one the cursor stands on, and some yet to come.
      handles[0]?.remove();
      handles[2]?.remove();
      handles[1]?.disable();
      handles[4]?.disable();
      handles[6]?.remove();
      register(server, 9);
      const rest = await pages(client, method, first["nextCursor"]);
      expect(namesOf([first], method)).toEqual(["k0", "k1", "k2"]);
      expect(namesOf(rest, method)).toEqual(["k3", "k5", "k7", "k8", "k9"]);
    },
  );

  test.each(lists)(
    "%s continues on another server with the same definitions [PAGE-SERVER-SHOULD]",
    async (method, _, register) => {
      const [one, two] = [makeServer({ pageSize: 2 }).server, makeServer({ pageSize: 3 }).server];
      for (const server of [one, two]) for (let index = 0; index < 6; index++) register(server, index);
      const first = await (await open(cell, one)).request(method);
      expect(namesOf(await pages(await open(cell, two), method, first["nextCursor"]), method)).toEqual(
        keys(2, 6),
      );
    },
  );

  test("a cursor whose rest has gone gives an empty page, not an error [PAGE-SERVER-SHOULD]", async () => {
    const { server } = makeServer({ pageSize: 1 });
    server.tool("a", {}, () => "");
    const second = server.tool("b", {}, () => "");
    const client = await open(cell, server);
    const { nextCursor } = await client.request("tools/list");
    second.remove();
    const page = await client.request("tools/list", { cursor: nextCursor });
    expect(page["tools"]).toEqual([]);
    expect(page).not.toHaveProperty("nextCursor");
  });

  const encode = (value: string): string => Buffer.from(value).toString("base64url");
  const bad: [string, (good: string) => unknown][] = [
    ["empty", () => ""],
    ["no text", () => 5],
    ["null", () => null],
    ["a list", () => []],
    ["an object", () => ({ toString: "x" })],
    ["no base64", () => "%%%"],
    ["random text", () => "aGVsbG8"],
    ["padded", (good) => `${good}==`],
    ["with a blank", (good) => ` ${good}`],
    ["cut", (good) => good.slice(0, -1)],
    ["longer", (good) => `${good}A`],
    ["an index", () => "2"],
    ["very long", () => "A".repeat(100_000)],
    ["forged: a place that was never handed out", () => encode('["tools",999999]')],
    ["forged: a negative place", () => encode('["tools",-1]')],
    ["forged: a place that is no integer", () => encode('["tools",1.5]')],
    ["forged: an object", () => encode('{"list":"tools"}')],
  ];

  test.each(bad)(
    "a cursor that is %s is -32602 [PAGE-INVALID-32602, PAGE-SERVER-SHOULD]",
    async (_, forge) => {
      const { server, log } = makeServer({ pageSize: 1 });
      for (const [, , register] of lists) for (let index = 0; index < 3; index++) register(server, index);
      const client = await open(cell, server);
      for (const [method] of lists) {
        const { nextCursor } = await client.request(method);
        const error = await refusal(client.request(method, { cursor: forge(nextCursor as string) }));
        expect(error.code).toBe(-32602);
      }
      expect(log).toEqual([]);
    },
  );

  test("the cursor of one list is refused by the others [PAGE-INVALID-32602]", async () => {
    const { server } = makeServer({ pageSize: 1 });
    for (const [, , register] of lists) for (let index = 0; index < 3; index++) register(server, index);
    const client = await open(cell, server);
    for (const [from] of lists) {
      const { nextCursor } = await client.request(from);
      for (const [to] of lists) {
        if (from === to) continue;
        expect((await refusal(client.request(to, { cursor: nextCursor }))).code).toBe(-32602);
      }
    }
  });
});

describe("any sequence of changes", () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constant("add" as const) }),
    fc.record({ kind: fc.constantFrom("remove", "disable", "enable", "update"), at: fc.nat(40) }),
  );

  test("a listing holds what was there throughout, once each and in order [PAGE-SERVER-SHOULD, TOOL-ORDER]", async () => {
    const scenario = fc.record({
      pageSize: fc.integer({ min: 1, max: 6 }),
      initial: fc.nat(20),
      rounds: fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 25 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ pageSize, initial, rounds }) => {
        const { server } = makeServer({ pageSize });
        const tools: { name: string; handle: ReturnType<Register> & { update(changes: object): void } }[] =
          [];
        const add = (): void => {
          const name = `t${tools.length}`;
          tools.push({ name, handle: server.tool(name, {}, () => "") });
        };
        for (let index = 0; index < initial; index++) add();
        const visible = (): Set<string> => new Set(server.tools.keys());
        if (initial === 0) add();
        const client = await connect(server, { revision: "2026-07-28" });
        const throughout = visible();
        const ever = visible();
        const seen: string[] = [];
        let cursor: unknown;
        let round = 0;
        do {
          const page = await client.request("tools/list", cursor === undefined ? {} : { cursor });
          seen.push(...itemsOf(page, "tools/list").map((tool) => tool["name"] as string));
          cursor = page["nextCursor"];
          if (cursor === undefined) break;
          for (const step of rounds[round++] ?? []) {
            if (step.kind === "add") add();
            else {
              const { handle } = tools[step.at % tools.length]!;
              if (step.kind === "update") handle.update({ description: `${round}` });
              else handle[step.kind as "remove"]();
            }
            const now = visible();
            for (const name of throughout) if (!now.has(name)) throughout.delete(name);
            for (const name of now) ever.add(name);
          }
        } while (round < 1000);
        await client.close();
        const order = new Map(tools.map(({ name }, index) => [name, index]));
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(seen.toSorted((a, b) => order.get(a)! - order.get(b)!));
        for (const name of throughout) expect(seen).toContain(name);
        for (const name of seen) expect(ever.has(name)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test("no cursor but our own is ever accepted [PAGE-INVALID-32602]", async () => {
    const { server } = makeServer({ pageSize: 1 });
    for (let index = 0; index < 3; index++) server.tool(`t${index}`, {}, () => "");
    const client = await connect(server, { revision: "2026-07-28" });
    const known = new Set((await pages(client, "tools/list")).map((page) => page["nextCursor"]));
    await fc.assert(
      fc.asyncProperty(
        fc
          .oneof(fc.string(), fc.base64String(), fc.jsonValue())
          .filter((cursor) => !known.has(cursor as never)),
        async (cursor) => {
          expect((await refusal(client.request("tools/list", { cursor }))).code).toBe(-32602);
        },
      ),
      { numRuns: 200 },
    );
    await client.close();
  });
});
