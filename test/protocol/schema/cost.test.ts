// What a schema may cost: nothing that a remote server sends blocks the client for long, or makes another schema slower.
import { type JsonSchema, McpServer } from "halyard";
import { type ClientEvent, connect } from "halyard/client";
import { describe, expect, test } from "vitest";
import { cpuTime } from "../../support/cpu-time.ts";
import { judging } from "../../support/judging.ts";
import { newestModern } from "../../support/revisions.ts";
import { ScriptedServer } from "../../support/scripted-wire.ts";

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));
const entries = <T>(count: number, name: (index: number) => string, item: (index: number) => T) =>
  Object.fromEntries(many(count, (index) => [name(index), item(index)]));
const nested = (levels: number, around: (inner: object) => object): object =>
  many(levels, () => around).reduce((inner, make) => make(inner), {});

/** Properties of Unicode, all different: two ways to write each of 26. */
const properties = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk"
  .split(" ")
  .flatMap((name) => [`\\p{${name}}`, `\\P{gc=${name}}`]);

/** Scripts and categories without characters for private use. */
const scripts =
  `Adlm Ahom Arab Armi Armn Avst Bali Bamu Bass Beng Bhks Bopo Brah Brai Bugi Buhd Cakm Cans Cari Cham Cher Copt Cprt Cyrl
  Deva Dsrt Dupl Egyp Elba Ethi Geor Glag Goth Gran Grek Gujr Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng Hung Ital Java Kali Kana
  Khar Khmr Khoj Knda Kthi Lana Laoo Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Mand Mani Marc Mend Merc Mero Mlym Modi Mong`
    .split(/\s+/)
    .map((name) => `\\p{sc=${name}}`)
    .join("");

const everyCharacter = many(60_000, (at) => String.fromCharCode(at < 0xd7e0 ? at + 32 : at + 0x820)).join("");
const text = (pattern: string): JsonSchema => ({ properties: { s: { pattern } } });

/** Calls a tool with this output schema, as a client of a remote server does: what it costs, and what the client says. */
async function receive(outputSchema: unknown, structuredContent: unknown): Promise<[number, string]> {
  const server = new ScriptedServer({ revision: newestModern });
  const tool = { name: "t", inputSchema: { type: "object" }, outputSchema };
  server.on("tools/list", () => ({ tools: [tool] }));
  server.on("tools/call", () => ({ content: [], structuredContent }));
  const events: ClientEvent[] = [];
  const observe = (event: ClientEvent): void => void events.push(event);
  await using client = await connect(server, { revision: newestModern, observe });
  // The validator and its code are loaded once, whatever the schema is.
  await judging({ pattern: "a" }, (judge) => judge("a"));
  const cost = await cpuTime(async () => {
    await client.callTool("t", {}, { strict: true }).catch(() => {});
  });
  const said = events.flatMap((event) =>
    event.type === "ignored" ? [event.reason] : event.type === "mismatch" ? [event.problem] : [],
  );
  return [cost, said.join()];
}

describe("a schema of a remote server", () => {
  const attacks: [string, object, unknown][] = [
    [
      "counts repetitions of properties",
      text(
        properties
          .slice(0, 25)
          .map((one) => `${one}{999}`)
          .join("|"),
      ),
      { s: everyCharacter },
    ],
    ["repeats a property in 64 KB", text("\\p{L}".repeat(12_000)), { s: everyCharacter }],
    ["chooses between properties", text(`^(${properties.join("|")})*$`), { s: everyCharacter }],
    ["counts in counts", text("((((a{9}){9}){9}){9}){9}"), { s: "a".repeat(100_000) }],
    ["has an automaton of many states", text("(a|b)*a(a|b){900}$"), { s: "aabab".repeat(20_000) }],
    ["nests groups", text(`${"(".repeat(5000)}a${")*".repeat(5000)}`), { s: "a".repeat(30) }],
    [
      "has thousands of patterns",
      {
        patternProperties: entries(
          2000,
          (at) => `a${at}.*b$`,
          () => true,
        ),
      },
      entries(
        2000,
        (at) => `a${at}xxxxxxxx`,
        () => 1,
      ),
    ],
    [
      "has rules for members that are absent",
      {
        properties: {
          l: {
            items: {
              dependentRequired: entries(
                2500,
                (at) => `k${at}`,
                () => [],
              ),
            },
          },
        },
      },
      { l: many(100_000, () => ({})) },
    ],
    [
      "has schemas for members that are absent",
      {
        properties: {
          l: {
            items: {
              dependentSchemas: entries(
                2500,
                (at) => `k${at}`,
                () => true,
              ),
            },
          },
        },
      },
      { l: many(100_000, () => ({})) },
    ],
    [
      "asks for texts that are expressions",
      { properties: { l: { items: { format: "regex" } } } },
      { l: many(50, (at) => "\\p{L}".repeat(1990) + at) },
    ],
    [
      "has one long identifier and many references",
      {
        $id: `http://x/${"a".repeat(30_000)}`,
        $defs: { b: { $id: "b" } },
        allOf: many(2000, () => ({ $ref: "b#" })),
      },
      {},
    ],
    [
      "enters many resources before each dynamic reference",
      {
        $defs: {
          ...entries(
            300,
            (at) => `d${at}`,
            (at) => ({ $id: `d${at}`, allOf: [{ $ref: `d${at + 1}` }] }),
          ),
          end: { $id: "d300", properties: { l: { items: { $dynamicRef: "z#n" } } } },
          z: { $id: "z", $dynamicAnchor: "n" },
        },
        $ref: "d0",
      },
      { l: many(50_000, () => 1) },
    ],
    ["has many schemas", { allOf: many(19_000, () => ({})) }, {}],
    [
      "tracks members in many alternatives",
      nested(150, (inner) => ({ allOf: [inner], unevaluatedProperties: true })),
      {},
    ],
    [
      "compares items again and again",
      { properties: { l: { allOf: many(3000, () => ({ uniqueItems: true })) } } },
      { l: many(50, (at) => `1${"a".repeat(20_000)}${at}`) },
    ],
    [
      "chooses between classes of many properties",
      text(`^(${many(60, (at) => `[${scripts}\\u{${(0x4e00 + at).toString(16)}}]`).join("|")}|[^])*$`),
      { s: many(6000, (at) => String.fromCharCode(0xe000 + at)).join("") },
    ],
    [
      "divides by tiny numbers",
      { properties: { l: { items: { multipleOf: 1e-300 } } } },
      { l: many(50_000, () => 1e300) },
    ],
  ];

  test.each(attacks)("that %s costs the client a moment [SCHEMA-BOUNDS]", async (_, schema, value) => {
    const [cost] = await receive(schema, value);
    // About 50 ms on a machine of its own, parsing included. Without budgets, some of these take seconds.
    expect(cost).toBeLessThan(400);
  });

  test("that fills the memory with states gives it back, and the next value is judged right", async () => {
    const pattern = "^(a|b|c)*a(a|b|c){12}$";
    const letters = many(3000, (at) => "abc"[(at * at * 31 + at) % 3]).join("");
    await judging({ pattern }, async (judge) => {
      for (let at = 0; at < 40; at++) {
        const given = letters.slice(at * 70);
        expect([at, await judge(given)]).toEqual([at, given.at(-13) === "a"]);
      }
    });
  });

  test("does not change what patterns of others cost, and causes no warning for them", async () => {
    await receive({ allOf: properties.map((one) => ({ pattern: `^${one}*$` })) }, {});
    // Backtracking would try all ways to divide the letters, twice as many for each further one.
    const pattern = "^(\\p{Script=Cyrillic}+)+$";
    await judging({ pattern }, async (judge, warnings) => {
      expect(warnings).toEqual([]);
      const cost = await cpuTime(async () => {
        expect(await judge("я".repeat(20_000))).toBe(true);
        expect(await judge(`${"я".repeat(20_000)}!`)).toBe(false);
      });
      expect(cost).toBeLessThan(400);
    });
  });

  test("with a pattern that needs backtracking is not used, and the reason is told", async () => {
    const reasons: [string, RegExp][] = [
      ["^(?=a)(a+)+$", /could block this process: it has a pattern that needs look-around/],
      ["(a)\\1", /that needs back-references/],
      ["(a{999}){999}", /that has more than 25000 steps when its repetitions are written out/],
      [`${"(".repeat(501)}a${")".repeat(501)}`, /that nests more than 500 groups/],
    ];
    for (const [pattern, reason] of reasons) {
      const [, said] = await receive(text(pattern), { s: "a".repeat(100) });
      expect(said).toMatch(reason);
    }
  });
});

describe("a schema of the author", () => {
  test.each([
    ["look-around", "(?!b)a", "needs look-around"],
    ["a back-reference", "(a)\\1", "needs back-references"],
    ["large counts", "(a{999}){999}", "has more than 25000 steps when its repetitions are written out"],
    ["many nested groups", `${"(".repeat(501)}a${")".repeat(501)}`, "nests more than 500 groups"],
    [
      "many classes",
      many(1001, (at) => `[${String.fromCharCode(0x3000 + 2 * at)}x]`).join(""),
      "has more than 1000 different classes",
    ],
  ])("with %s in a pattern causes a warning with the reason", async (_, pattern, reason) => {
    await judging({ pattern }, async (__, warnings) => {
      expect(warnings).toEqual([expect.stringContaining(`, which ${reason}`)]);
      expect(warnings[0]).toContain("matches texts of at most 256 characters");
    });
  });

  test("may use any number of properties, characters and nested groups", async () => {
    const hundreds = many(900, (at) => String.fromCharCode(0x4e00 + at));
    const patterns: [string, string, string][] = [
      [`^(${properties.join("|")})+$`, "aß€", ""],
      [`^(${hundreds.join("|")})+$`, hundreds.join(""), `${hundreds.join("")}a`],
      [`^${"(".repeat(400)}a${")".repeat(400)}$`, "a", "b"],
    ];
    for (const [pattern, good, bad] of patterns) {
      await judging({ pattern }, async (judge, warnings) => {
        expect(warnings).toEqual([]);
        expect(await judge(good)).toBe(true);
        expect(await judge(bad)).toBe(false);
      });
    }
  });

  test("has a limit for all of its patterns together", async () => {
    const tooLong = many(60, (at) => ({ pattern: `(a{99}){50}${at}` }));
    expect(() =>
      new McpServer({ name: "s", version: "1.0.0" }).tool("t", { output: { anyOf: tooLong } }, () => ""),
    ).toThrow(/patterns are too long in total/);
    await judging({ anyOf: tooLong.slice(0, 40) }, async (judge) => expect(await judge("a")).toBe(false));
  });
});
