// The keywords of plain JSON Schema: what each takes and refuses, and what is said of a value that does not fit.
import type { JsonObject, JsonSchema } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { call, makeServer, textOf } from "../../support/catalogue.ts";

/** Says "ok" of a value that fits, and else what is wrong with it. */
async function judge(
  schema: JsonSchema | boolean,
  $schema?: string,
): Promise<(value: unknown) => Promise<string>> {
  const { server } = makeServer();
  const input = { ...($schema && { $schema }), type: "object", properties: { v: schema } };
  server.tool("t", { input }, () => "ok");
  const client = await connect(server, { revision: "2026-07-28" });
  onTestFinished(() => client.close());
  const prefix = "Invalid arguments for tool t: ";
  return async (value) => textOf(await call(client, "t", { v: value })).replace(prefix, "");
}

type Case = readonly [schema: JsonSchema | boolean, fits: readonly unknown[], fails: readonly unknown[]];
const tree = { properties: { v: { $ref: "#/properties/v" } }, additionalProperties: false };

const cases: Record<string, readonly Case[]> = {
  type: [
    [{ type: "integer" }, [1, 1e20, -0], [1.5, "1", null]],
    [{ type: ["string", "null"] }, ["", null], [0, [], {}]],
    [true, [1], []],
    [false, [], [1]],
  ],
  numbers: [
    [{ minimum: 2, maximum: 3 }, [2, 3, "x"], [1, 4]],
    [{ exclusiveMinimum: 2, exclusiveMaximum: 3 }, [2.5], [2, 3]],
    [{ multipleOf: 0.01 }, [4.02, 0.07, 1e20, 0], [4.021, 0.075]],
    [{ multipleOf: 3 }, [9, -9], [10]],
  ],
  strings: [
    [{ minLength: 2, maxLength: 2 }, ["ab", "😀😀", 5], ["a", "abc", "😀", "😀😀😀"]],
    [{ pattern: "a.c" }, ["xabcx", "a😀c"], ["ac", "a\nc"]],
  ],
  arrays: [
    [{ minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3]]],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, [[], ["a", 1]], [[1], ["a", "b"]]],
    [
      { contains: { const: 1 }, minContains: 2, maxContains: 3 },
      [
        [1, 1],
        [1, 1, 1, 2],
      ],
      [[1], [1, 1, 1, 1]],
    ],
    [{ contains: { const: 1 }, minContains: 0 }, [[]], []],
    [{ prefixItems: [true], unevaluatedItems: false }, [[1]], [[1, 2]]],
    [{ contains: { type: "string" }, unevaluatedItems: { type: "number" } }, [["a", 1]], [["a", null]]],
  ],
  uniqueItems: [
    [
      { uniqueItems: true },
      [
        [1, "1", true, null],
        [[1], [[1]]],
        [{ a: 1 }, { a: "1" }],
        ["#1", 1],
        ['"', '""'],
        [["a", "b"], ["a,b"]],
      ],
      [
        [1, 2, 1],
        [-0, 0],
        ["a", "a"],
        [null, null],
        [
          { a: 1, b: [{ c: 2 }] },
          { b: [{ c: 2 }], a: 1 },
        ],
        [[], []],
      ],
    ],
  ],
  objects: [
    [
      { required: ["a"], minProperties: 1, maxProperties: 2 },
      [{ a: 1 }],
      [{}, { b: 1 }, { a: 1, b: 1, c: 1 }],
    ],
    [
      { properties: { a: { type: "number" } }, additionalProperties: false },
      [{}, { a: 1 }],
      [{ a: "" }, { b: 1 }],
    ],
    [
      { patternProperties: { "^n": { type: "number" } }, additionalProperties: { type: "null" } },
      [{ n1: 1, x: null }],
      [{ n: "" }, { x: 1 }],
    ],
    [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
    [{ dependentRequired: { a: ["b"] } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
    [{ dependentSchemas: { a: { maxProperties: 1 } } }, [{ a: 1 }, { b: 1, c: 1 }], [{ a: 1, b: 1 }]],
    [
      {
        properties: { a: true },
        anyOf: [{ properties: { b: true }, required: ["b"] }, true],
        unevaluatedProperties: false,
      },
      [{ a: 1, b: 1 }],
      [{ c: 1 }, { a: 1, c: 1 }],
    ],
    [
      {
        if: { properties: { a: { const: 1 } }, required: ["a"] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword
        then: { properties: { b: true } },
        unevaluatedProperties: false,
      },
      [{ a: 1, b: 1 }],
      [{ a: 2, b: 1 }],
    ],
  ],
  "names that objects inherit": [
    [{ required: ["constructor"] }, [{ constructor: 1 }], [{}]],
    [{ properties: { toString: { type: "number" } } }, [{}, { toString: 1 }], [{ toString: "" }]],
    [
      { properties: { a: true }, additionalProperties: false },
      [{ a: 1 }],
      [JSON.parse('{"__proto__":1}'), { hasOwnProperty: 1 }],
    ],
    [
      JSON.parse('{"properties":{"__proto__":{"type":"number"}},"required":["__proto__"]}'),
      [JSON.parse('{"__proto__":1}')],
      [{}, JSON.parse('{"__proto__":"x"}')],
    ],
    [{ dependentRequired: { valueOf: ["b"] } }, [{}], [{ valueOf: 1 }]],
  ],
  constants: [
    [{ const: { a: [1, { b: null }] } }, [{ a: [1, { b: null }] }], [{ a: [1, { b: 0 }] }, { a: [1] }, "@0"]],
    [{ enum: [1, "1", [1], "@0", "#2"] }, [1, "1", [1], "@0", "#2"], [2, "2", [[1]], [], null, "#1"]],
  ],
  combinations: [
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]],
    [{ anyOf: [{ type: "string" }, { minimum: 2 }] }, ["", 2], [1]],
    [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, [0, 3], [1.5]],
    [{ not: { type: "string" } }, [1], [""]],
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword
    [{ if: { type: "string" }, then: { minLength: 1 }, else: { minimum: 1 } }, ["a", 1], ["", 0]],
  ],
  references: [
    [tree, [{ v: { v: {} } }], [{ v: { w: 1 } }]],
    [{ $ref: "inner", $defs: { i: { $id: "inner", type: "string" } } }, ["a"], [1]],
    [{ $ref: "#here", $defs: { i: { $anchor: "here", type: "string" } } }, ["a"], [1]],
    [
      {
        $id: "out",
        $dynamicAnchor: "n",
        $ref: "in",
        required: ["x"],
        $defs: { i: { $id: "in", $dynamicAnchor: "n", properties: { c: { $dynamicRef: "#n" } } } },
      },
      [{ x: 1, c: { x: 1 } }],
      [{ x: 1, c: {} }],
    ],
  ],
};

describe.each(Object.entries(cases))("%s", (_, rows) => {
  test.each(rows.map((row) => [JSON.stringify(row[0]), ...row] as const))(
    "%s",
    async (_title, schema, fits, fails) => {
      const says = await judge(schema);
      for (const value of fits) expect(await says(value), JSON.stringify(value)).toBe("ok");
      for (const value of fails) expect(await says(value), JSON.stringify(value)).not.toBe("ok");
    },
  );
});

describe("formats", () => {
  test.each([
    ["date", ["2024-02-29"], ["2023-02-29", "2024-13-01", "24-01-01"]],
    ["time", ["23:59:60Z", "01:02:03.5+01:00"], ["24:00:00Z", "12:00:60Z", "12:00:00"]],
    ["date-time", ["2024-01-01T00:00:00Z"], ["2024-01-01", "2024-01-01X00:00:00Z"]],
    ["duration", ["P1Y2M3DT4H5M6S", "P1W", "PT1S"], ["P", "PT", "1Y", "P1D2H"]],
    ["email", ["a.b@example.com", '"a b"@x.de', "a@[127.0.0.1]"], ["a", "a@", ".a@b.de", "a..b@c.de"]],
    ["hostname", ["example.com", "a-b"], ["-a", "a..b", "a".repeat(64), ""]],
    ["ipv4", ["127.0.0.1"], ["256.0.0.1", "1.2.3", "01.2.3.4"]],
    [
      "ipv6",
      ["::1", "::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4"],
      ["1:2:3", "1::2::3", "12345::", ":::", "1:2:3:4:5:6:7:8::"],
    ],
    ["uuid", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380"]],
    [
      "uri",
      ["https://u:p@[::1]:80/a%20b?c#d", "urn:a:b"],
      ["/a", "http://a b", "http://[::1", "a:%zz", ":a"],
    ],
    ["uri-reference", ["/a", "", "a/b:c", "#x"], ["\\a", "a b", "%"]],
    ["uri-template", ["/{a}/{+b,c:3,d*}"], ["/{a", "/}", "/{a b}"]],
    [
      "url",
      ["http://localhost:3000/a", "https://münchen.example/ä", "ftp://1.2.3.4"],
      ["http://", "//a", "http://a b", "mailto:a@b.de", "http://-a"],
    ],
    ["json-pointer", ["", "/a~0~1"], ["a", "/~2"]],
    ["relative-json-pointer", ["0#", "1/a"], ["01", "/a"]],
    ["json-pointer-uri-fragment", ["#", "#/a%20b"], ["/a", "#a b", "#/%z"]],
    ["regex", ["^a(b|c)$"], ["(", "\\Z"]],
    ["unheard-of", ["anything"], []],
  ] as const)("%s", async (format, fits, fails) => {
    const says = await judge({ format });
    for (const text of fits) expect(await says(text), text).toBe("ok");
    for (const text of fails) expect(await says(text), text).toBe(`v: must be in the format "${format}"`);
    expect(await says(5)).toBe("ok");
  });
});

test.each([
  ["http://json-schema.org/draft-04/schema#", { minimum: 1, exclusiveMinimum: true }, 2, 1],
  ["http://json-schema.org/draft-07/schema#", { $ref: "#/definitions/s", maxLength: 1 }, "long", 5],
  ["http://json-schema.org/draft-07/schema#", { items: [true], additionalItems: false }, [1], [1, 2]],
  [
    "http://json-schema.org/draft-07/schema#",
    { dependencies: { a: ["b"], c: { maxProperties: 1 } } },
    { a: 1, b: 1 },
    { a: 1 },
  ],
  ["https://json-schema.org/draft/2019-09/schema", { items: [true], unevaluatedItems: false }, [1], [1, 2]],
])("%s reads %j in its own way", async ($schema, schema, fitting, failing) => {
  const { server } = makeServer();
  const definitions = { s: { type: "string" } };
  server.tool(
    "t",
    { input: { $schema, type: "object", definitions, properties: { v: schema } } },
    () => "ok",
  );
  const client = await connect(server, { revision: "2026-07-28" });
  onTestFinished(() => client.close());
  expect((await call(client, "t", { v: fitting })).isError).toBeUndefined();
  expect((await call(client, "t", { v: failing })).isError).toBe(true);
});

describe("what is said", () => {
  test.each([
    [
      { items: { properties: { a: { type: "number" } } } },
      [{}, { a: "x" }],
      "v.1.a: must be a number, not a string",
    ],
    [{ required: ["a"] }, {}, "v.a: is required"],
    [{ additionalProperties: false }, { x: 1 }, "v.x: is not allowed here"],
    [{ enum: ["a", 1] }, "b", 'v: must be one of "a", 1'],
    [{ pattern: "^a$" }, "b", "v: must match the pattern ^a$"],
    [{ uniqueItems: true }, [1, 1], "v: must not have two equal items"],
    [
      { anyOf: [{ type: "string" }, { properties: { a: { minimum: 5 } } }] },
      { a: 1 },
      "v.a: must be 5 or more",
    ],
    [
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      "v.ab: has a name that is not allowed: must have at most 1 character",
    ],
  ])("of %j", async (schema, value, words) => {
    expect(await (await judge(schema as JsonSchema))(value)).toBe(words);
  });

  test("is short, however long the value and the schema are", async () => {
    const says = await judge({
      properties: {},
      additionalProperties: { enum: Array.from({ length: 5000 }, String) },
    });
    expect((await says({ ["k".repeat(100_000)]: "x".repeat(100_000) })).length).toBeLessThan(600);
  });
});

describe("patterns", () => {
  const patterns: readonly [pattern: string, matching: readonly string[], others: readonly string[]][] = [
    ["^(?:[a-c]|x{2,3})+$", ["abc", "xxxa"], ["x", "abd", ""]],
    ["\\bcat\\b", ["a cat", "cat"], ["cats", "concat"]],
    ["^\\p{Lu}\\P{Lu}*$", ["Ärger", "Α"], ["ä", "AB"]],
    ["^[^\\s\\d]$", ["a", "😀"], ["1", " ", "ab"]],
    ["^\\u{1F600}[\\x41-\\u005A]?$", ["😀", "😀Z"], ["😀z", "😁"]],
    ["a$|^b", ["xa", "bx"], ["ab ", "xb"]],
    ["^$", [""], ["a"]],
    ["^.{3,5}$", ["abc", "😀😀😀"], ["ab", "abcdef"]],
    ["(?<year>\\d{4})-\\d\\d", ["on 2024-05"], ["24-05"]],
    ["^(a|ab)(c|bcd)?$", ["abcd", "abc"], ["abb"]],
  ];

  test.each(patterns)("%s", async (pattern, matching, others) => {
    const native = new RegExp(pattern, "u");
    const says = await judge({ pattern });
    const names = await judge({ patternProperties: { [pattern]: false } });
    for (const text of [...matching, ...others]) {
      const matches = matching.includes(text);
      expect(native.test(text), text).toBe(matches);
      expect(await says(text), text).toBe(matches ? "ok" : `v: must match the pattern ${pattern}`);
      expect((await names({ [text]: 1 })) === "ok", text).toBe(!matches);
    }
  });

  test("registering one that has to backtrack warns, and names tool, field and pattern", async () => {
    const { server, log } = makeServer();
    const properties = { v: { pattern: "^(?=.*\\d).{8,}$" }, w: { pattern: "^[a-z]+$" } };
    server.tool("t", { input: { type: "object", properties } }, () => "ok");
    server.prompt("p", { arguments: { type: "object", properties: { a: { pattern: "(a)\\1" } } } }, () => "");
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      [
        "warn",
        expect.stringMatching(
          /^tool "t": input has the pattern \^\(\?=\.\*\\d\)\.\{8,\}\$, which .* 256 characters/,
        ),
      ],
      ["warn", expect.stringMatching(/^prompt "p": arguments has the pattern \(a\)\\1, which/)],
    ]);
    const client = await connect(server, { revision: "2026-07-28" });
    onTestFinished(() => client.close());
    expect((await call(client, "t", { v: "passw0rd" })).isError).toBeUndefined();
    expect((await call(client, "t", { v: "password" })).isError).toBe(true);
    expect(textOf(await call(client, "t", { v: "0".repeat(257) }))).toContain("at most 256 characters");
  });
});

test("what a handler returns counts as JSON writes it", async () => {
  const { server } = makeServer();
  const output = {
    type: "object",
    properties: {
      when: { type: "string", format: "date-time" },
      list: { items: { type: ["number", "null"] } },
    },
    maxProperties: 2,
  };
  server.tool("t", { output }, () => ({ when: new Date(0), list: [1, undefined], none: undefined }));
  const client = await connect(server, { revision: "2026-07-28" });
  onTestFinished(() => client.close());
  expect(textOf(await call(client, "t"))).toBe('{"when":"1970-01-01T00:00:00.000Z","list":[1,null]}');
});

test("a result larger than any message is validated, with a budget as large", async () => {
  const { server } = makeServer();
  const list = { items: { type: "integer", minimum: 0, maximum: 1e9, not: { type: "string" } } };
  server.tool("t", { output: { type: "object", properties: { list } } }, () => ({
    list: Array.from({ length: 600_000 }, (_, index) => index),
  }));
  const client = await connect(server, { revision: "2026-07-28" });
  onTestFinished(() => client.close());
  expect((await call(client, "t")).isError).toBeUndefined();
});

test.each([
  [
    "nests without end",
    () => Array.from({ length: 300 }).reduce<JsonObject>((inner) => ({ not: inner }), {}),
    /deep/,
  ],
  [
    "repeats itself",
    () => Array.from({ length: 40 }).reduce<JsonObject>((inner) => ({ anyOf: [inner, inner] }), {}),
    /schemas inside/,
  ],
  ["gives two schemas one name", () => ({ $defs: { a: { $id: "x" }, b: { $id: "x" } } }), /identifier/],
])("a schema that %s is refused when it is registered", (_, make, words) => {
  const { server } = makeServer();
  const input = { ...make(), type: "object" } as JsonSchema;
  expect(() => server.tool("bad", { input }, () => "")).toThrow(words);
});
