// How much memory the output schemas of one server make a client keep, and that results are still checked.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { connect, type McpClient, OutputMismatch } from "halyard/client";
import { expect, test } from "vitest";
import { newestModern } from "../../support/revisions.ts";
import { ScriptedServer } from "../../support/scripted-wire.ts";

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapMegabytes(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** A client of a server with these output schemas, whose tools `t0`, `t1`… return what they are sent. */
function clientOf(schemas: readonly object[]): Promise<McpClient> {
  const server = new ScriptedServer({ revision: newestModern });
  const tools = schemas.map((outputSchema, at) => ({
    name: `t${at}`,
    inputSchema: { type: "object" },
    outputSchema: { type: "object", ...outputSchema },
  }));
  server.on("tools/list", () => ({ tools }));
  server.on("tools/call", ({ params }) => ({ content: [], structuredContent: params?.["arguments"] }));
  return connect(server, { revision: newestModern });
}

/** What a client keeps after these results, one for each tool in turn. */
async function keptAfter(schemas: readonly object[], results: readonly object[]): Promise<number> {
  await using client = await clientOf(schemas);
  const isChecked = { strict: true };
  await client.callTool("t0", {}, isChecked).catch(() => {});
  const before = heapMegabytes();
  for (const [at, given] of results.entries())
    await client.callTool(`t${at % schemas.length}`, { ...given }, isChecked).catch(() => {});
  const after = heapMegabytes();
  expect(client.state.name).toBe("ready");
  return after - before;
}

/** Letters that repeat nowhere. */
function lettersOf(seed: number, length: number): string {
  let random = seed;
  return many(length, () => {
    random = (random * 1_103_515_245 + 12_345) & 0x7fffffff;
    return (random >> 16) & 1 ? "a" : "b";
  }).join("");
}

const character = (at: number): string => String.fromCharCode(0x4e00 + at);

test.each<[string, object, object[]]>([
  [
    "fill one pattern after the other with states",
    {
      properties: Object.fromEntries(
        many(80, (at) => [`p${at}`, { pattern: `^[ab]*a[ab]{${20 + (at % 7)}}c${at}` }]),
      ),
    },
    many(80, (at) => ({ [`p${at}`]: lettersOf(at, 8000) })),
  ],
  [
    "show many characters to states that exist",
    { properties: { s: { pattern: `^[^]{9000}(?:${many(2000, character).join("|")})` } } },
    [
      ...many(10, () => ({ s: "a".repeat(9000) })),
      ...many(40, (at) => ({ s: many(900, character).join("") + character(at + 900).repeat(8000) })),
    ],
  ],
])("results that %s make the client keep little", async (_, schema, results) => {
  expect(await keptAfter([schema], results)).toBeLessThan(40);
});

test("a schema that refers to constants in constants makes the client keep little", async () => {
  let schema: object = { const: many(15_000, (at) => at) };
  for (let level = 0; level < 150; level++) schema = { const: schema };
  const anyOf = many(150, (at) => ({ $ref: `#${"/const".repeat(at + 1)}` }));
  expect(await keptAfter([{}, { ...schema, anyOf }], [{}, {}])).toBeLessThan(40);
});

test("short schemas of large patterns make the client keep little, however many tools it calls", async () => {
  const schemas = many(120, (at) => ({ properties: { s: { pattern: `^[a-z]{${20_000 + at}}$` } } }));
  const results = many(240, () => ({ s: "abc".repeat(3000) }));
  expect(await keptAfter(schemas, results)).toBeLessThan(150);
});

test("however many schemas it has compiled, a client checks every result", async () => {
  const schemas = many(150, (at) => ({ properties: { s: { pattern: `^([a-z]{12000}|ok${at})$` } } }));
  await using client = await clientOf(schemas);
  for (const round of [0, 1]) {
    for (const at of schemas.keys()) {
      const isChecked = { strict: true };
      const fitting = client.callTool(`t${at}`, { s: `ok${at}` }, isChecked);
      await expect(fitting, `round ${round}, tool ${at}`).resolves.toMatchObject({ content: [] });
      await expect(client.callTool(`t${at}`, { s: `ok${at + 1}` }, isChecked)).rejects.toThrow(
        OutputMismatch,
      );
    }
  }
});
