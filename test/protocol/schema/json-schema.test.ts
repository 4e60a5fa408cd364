// JSON Schema: which dialects are understood, how a schema is checked when it is registered, and what is never fetched.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError, type JsonSchema } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { call, makeServer, textOf } from "../../support/catalogue.ts";

const latest = { revision: "2026-07-28" };

/** Whether a tool with this input schema takes these arguments. */
async function accepts(input: JsonSchema, args: object): Promise<boolean> {
  const { server } = makeServer();
  server.tool("t", { input }, () => "ok");
  const client = await connect(server, latest);
  const { isError } = await call(client, "t", { ...args });
  await client.close();
  return isError !== true;
}

function register(input: unknown): void {
  makeServer().server.tool("bad", { input: input as JsonSchema }, () => "");
}

const mistake = expect.objectContaining({
  name: ConfigurationError.name,
  code: "INVALID_SCHEMA",
  subject: 'tool "bad"',
  field: "input",
});

describe("dialects", () => {
  // prefixItems is a keyword of 2020-12; draft-07 has it as a list under items, and ignores the new word.
  const tuple = { type: "object", properties: { t: { prefixItems: [{ type: "string" }] } } };
  const oldTuple = { type: "object", properties: { t: { items: [{ type: "string" }] } } };

  test("a schema that names none is read as 2020-12 [SCHEMA-DEFAULT-2020-12]", async () => {
    expect(await accepts(tuple, { t: ["a"] })).toBe(true);
    expect(await accepts(tuple, { t: [1] })).toBe(false);
    expect(await accepts({ type: "object", dependentRequired: { a: ["b"] } }, { a: 1 })).toBe(false);
    expect(
      await accepts(
        { type: "object", $defs: { s: { $anchor: "s", type: "string" } }, properties: { a: { $ref: "#s" } } },
        { a: 1 },
      ),
    ).toBe(false);
  });

  test.each([
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-04/schema#",
  ])("%s is understood [SCHEMA-EXPLICIT-DIALECT]", async ($schema) => {
    const schema = { $schema, type: "object", properties: { n: { type: "number" } } };
    expect(await accepts(schema, { n: 1 })).toBe(true);
    expect(await accepts(schema, { n: "1" })).toBe(false);
  });

  test("the dialect that is named decides what the keywords mean [SCHEMA-VALIDATE-DIALECT]", async () => {
    const draft07 = "http://json-schema.org/draft-07/schema#";
    expect(await accepts({ $schema: draft07, ...oldTuple }, { t: [1] })).toBe(false);
    // In draft 4 exclusiveMinimum is a flag beside minimum.
    const draft04 = {
      $schema: "http://json-schema.org/draft-04/schema#",
      type: "object",
      properties: { n: { minimum: 5, exclusiveMinimum: true } },
    };
    expect(await accepts(draft04, { n: 5 })).toBe(false);
    expect(await accepts(draft04, { n: 6 })).toBe(true);
  });

  test.each([
    "https://example.com/my-dialect",
    "http://json-schema.org/draft-03/schema#",
    "toString",
    "",
    5,
    null,
  ])("the dialect %j is refused with words that say so [SCHEMA-UNSUPPORTED-DIALECT]", ($schema) => {
    expect(() => register({ $schema, type: "object" })).toThrow(mistake);
    expect(() => register({ $schema, type: "object" })).toThrow(/dialect.*not supported/);
  });
});

describe("a schema that is none", () => {
  const broken: [string, object][] = [
    ["a type that is a number", { type: 12 }],
    ["a type that does not exist", { type: "strnig" }],
    ["properties that are a list", { properties: [] }],
    ["a property that is a number", { properties: { a: 5 } }],
    ["required that is a string", { required: "a" }],
    ["a pattern that is no pattern", { pattern: "(" }],
    ["a minimum that is a string", { minimum: "5" }],
    ["a minLength below zero", { minLength: -1 }],
    ["an enum that is a string", { enum: "a" }],
    ["anyOf that is an object", { anyOf: {} }],
    ["a $ref to nowhere", { $ref: "#/$defs/none" }],
    ["a $ref to an anchor that is not there", { $ref: "#none" }],
    ["a $ref that is a number", { $ref: 5 }],
  ];

  test.each(broken)(
    "%s in a property is refused when it is registered [SCHEMA-VALIDATE-DIALECT]",
    (_, property) => {
      expect(() => register({ type: "object", properties: { a: property } })).toThrow(mistake);
    },
  );

  test.each(broken.slice(2))(
    "%s at the root is refused when it is registered [SCHEMA-VALIDATE-DIALECT]",
    (_, keywords) => {
      expect(() => register({ type: "object", ...keywords })).toThrow(mistake);
    },
  );

  test("a schema that refers to itself without end is refused", () => {
    expect(() => register({ type: "object", $ref: "#" })).toThrow(mistake);
  });

  test.each([5, "object", true, [], null, () => true])("%j is refused", (input) => {
    expect(() => register(input)).toThrow(mistake);
  });

  test("a recursive schema is fine", async () => {
    const tree = {
      type: "object",
      properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#" } } },
      required: ["value"],
    };
    expect(await accepts(tree, { value: 1, children: [{ value: 2, children: [] }] })).toBe(true);
    expect(await accepts(tree, { value: 1, children: [{ children: [] }] })).toBe(false);
  });
});

describe("references", () => {
  test("a $ref that leads out is refused, and nothing is fetched [SCHEMA-REF-NO-NETWORK, SCHEMA-REF-OPTIN-OFF, SCHEMA-REF-UNRESOLVED-REJECT]", async () => {
    let fetched = 0;
    const http = createServer((_, response) => {
      fetched++;
      response.end('{"type":"string"}');
    });
    await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const $ref = `http://127.0.0.1:${(http.address() as AddressInfo).port}/s.json`;
    const places: object[] = [
      { $ref },
      { properties: { a: { $ref } } },
      { properties: { a: { items: { anyOf: [{ $ref }] } } } },
      { $defs: { a: { not: { $ref } } } },
      { properties: { a: { $dynamicRef: $ref } } },
    ];
    for (const place of places) {
      expect(() => register({ type: "object", ...place })).toThrow(mistake);
      expect(() => register({ type: "object", ...place })).toThrow(/never fetched/);
    }
    for (const other of ["other.json", "file:///etc/passwd", "urn:x:y", "//example.com/s"]) {
      expect(() => register({ type: "object", properties: { a: { $ref: other } } })).toThrow(mistake);
    }
    // Whatever was sent before this has arrived before it.
    await (await fetch($ref)).text();
    expect(fetched).toBe(1);
  });

  test("a $ref inside the schema works", async () => {
    const schema = {
      type: "object",
      $defs: { name: { type: "string", minLength: 2 } },
      properties: { name: { $ref: "#/$defs/name" } },
    };
    expect(await accepts(schema, { name: "ab" })).toBe(true);
    expect(await accepts(schema, { name: "a" })).toBe(false);
  });

  test("a property may be named $ref", async () => {
    const schema = { type: "object", properties: { $ref: { type: "string" } } };
    expect(await accepts(schema, { $ref: "https://example.com" })).toBe(true);
    expect(await accepts(schema, { $ref: 5 })).toBe(false);
  });
});

describe("the author's schema object", () => {
  test("may be frozen, shared, and is left as it was", async () => {
    const name = Object.freeze({ type: "string" });
    const input = Object.freeze({ type: "object", properties: Object.freeze({ name }) });
    const { server } = makeServer();
    server.tool("a", { input }, () => "a");
    server.tool("b", { input, output: input }, () => ({ name: "b" }));
    expect(Reflect.ownKeys(input)).toEqual(["type", "properties"]);
    const client = await connect(server, latest);
    expect(textOf(await call(client, "b", { name: "x" }))).toBe('{"name":"b"}');
    expect(await call(client, "a", { name: 5 })).toMatchObject({ isError: true });
    await client.close();
  });

  test("an undefined member of an output counts as absent, as JSON has it", async () => {
    const { server } = makeServer();
    const output = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      required: ["b"],
    };
    server.tool("ok", { output }, () => ({ a: undefined, b: "x" }));
    server.tool("missing", { output }, () => ({ a: "x", b: undefined }));
    const client = await connect(server, latest);
    expect(textOf(await call(client, "ok"))).toBe('{"b":"x"}');
    await expect(call(client, "missing")).rejects.toMatchObject({ code: -32603 });
    await client.close();
  });
});

describe("schemas that cannot be published", () => {
  test.each([
    ["z.date()", z.object({ when: z.date() })],
    ["z.bigint()", z.object({ n: z.bigint() })],
    ["z.map()", z.object({ m: z.map(z.string(), z.string()) })],
  ])("%s is refused for input or output when it is registered", (_, schema) => {
    expect(() => register(schema)).toThrow(mistake);
    const { server } = makeServer();
    expect(() => server.tool("bad", { output: schema }, (() => ({})) as never)).toThrow(
      expect.objectContaining({ code: "INVALID_SCHEMA", field: "output" }),
    );
  });

  test("a Standard Schema without JSON Schema is refused with the remedy", () => {
    const bare = {
      "~standard": { version: 1 as const, vendor: "valibot", validate: (value: unknown) => ({ value }) },
    };
    expect(() => register(bare)).toThrow(mistake);
    expect(() => register(bare)).toThrow(/toStandardJsonSchema/);
  });
});
