// The forms of the dashboard's page. It imports the files of the page: nothing of the package exports them, and a browser would test
// the same functions only through what it draws.
import { McpServer, UriTemplate } from "halyard";
import { connect } from "halyard/client";
import { describe, expect, test } from "vitest";
import { createDemoServer } from "../../examples/demo/server.ts";
import { defaultsSchema, enumsSchema } from "../../examples/everything/forms.ts";
import { createEverythingServer } from "../../examples/everything/server.ts";
import {
  absent,
  addedDraft,
  type Draft,
  draftOf,
  draftOfValue,
  jsonDraft,
  readDraft,
} from "../../src/dashboard/page/try/drafts.ts";
import { type Entry, readEntries, uriOf } from "../../src/dashboard/page/try/entries.ts";
import { type Field, formOf, maxMembers, type Shape, textForm } from "../../src/dashboard/page/try/fields.ts";
import { limitsOf } from "../../src/dashboard/page/try/rules.ts";

/** The fields of a form by name, with the kind of each. */
function kindsOf(form: Field): Record<string, string> {
  return Object.fromEntries(membersOf(form).map(({ name, shape }) => [name, shape.kind]));
}

function membersOf({ shape }: Field): readonly Field[] {
  if (shape.kind !== "group") throw new Error(`The form is of kind ${shape.kind}`);
  return shape.members();
}

/** The draft of a form in which some fields are filled in. */
function filled(form: Field, drafts: Readonly<Record<string, Draft>>): Draft {
  const begun = draftOf(form);
  if (begun.kind !== "group") throw new Error(`The draft is of kind ${begun.kind}`);
  const members = membersOf(form).map(({ name }, index) =>
    Object.hasOwn(drafts, name) ? drafts[name]! : begun.members[index]!,
  );
  return { kind: "group", members };
}

const text = (value: string): Draft => ({ kind: "text", text: value });

function read(form: Field, draft: Draft): { value: unknown; problems: Record<string, string> } {
  const { value, problems } = readDraft(form, draft);
  return { value, problems: Object.fromEntries(problems) };
}

/** A form with one field, named `it`. */
function one(schema: object, isRequired = true): Field {
  return formOf({ type: "object", properties: { it: schema }, required: isRequired ? ["it"] : [] });
}

async function toolForms(server: ReturnType<typeof createDemoServer>): Promise<ReadonlyMap<string, Field>> {
  await using client = await connect(server);
  const tools = await client.listTools();
  return new Map(tools.map(({ name, inputSchema }) => [name, formOf(inputSchema)]));
}

describe("formOf", () => {
  test("formOf makes a form of every tool of the fixture and of the demo", async () => {
    const forms = [...(await toolForms(createEverythingServer())), ...(await toolForms(createDemoServer()))];
    expect(forms.length).toBeGreaterThan(30);
    for (const [name, form] of forms) expect([name, form.shape.kind]).toEqual([name, "group"]);
  });

  test("formOf resolves references and merges allOf, and leaves conditions to the server", async () => {
    const form = (await toolForms(createEverythingServer())).get("json_schema_2020_12_tool")!;
    expect(kindsOf(form)).toEqual({
      name: "text",
      address: "group",
      contactMethod: "choice",
      phone: "text",
      email: "text",
    });
    const [, address] = membersOf(form);
    expect(kindsOf(address!)).toEqual({ street: "text", city: "text" });
    const merged = formOf({
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { $ref: "#/$defs/b" },
      ],
      $defs: { b: { properties: { b: { type: "number" } } } },
    });
    expect(membersOf(merged).map(({ name, isRequired }) => [name, isRequired])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("formOf knows limits, formats and long texts", () => {
    const count = membersOf(one({ type: "integer", minimum: 1, maximum: 1000 }))[0]!;
    expect(limitsOf(count.shape)).toBe("1 to 1000");
    const isLong = (schema: object): unknown =>
      (membersOf(one({ type: "string", ...schema }))[0]!.shape as Shape & { kind: "text" }).isLong;
    expect([isLong({}), isLong({ maxLength: 50 }), isLong({ format: "email" })]).toEqual([
      true,
      false,
      false,
    ]);
    // Libraries write the range of exact integers as limits, which only clutters the form.
    const exact = { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    expect(limitsOf(membersOf(one(exact))[0]!.shape)).toBe("");
  });

  test("formOf names alternatives by title, by constant or by kind", () => {
    const form = one({
      oneOf: [
        { title: "A circle", type: "object", properties: { radius: { type: "number" } } },
        { type: "object", properties: { kind: { const: "square" }, side: { type: "number" } } },
        { type: "string" },
        { type: "null" },
      ],
    });
    const { shape } = membersOf(form)[0]!;
    const labels = shape.kind === "variants" && shape.variants().map(({ label }) => label);
    expect(labels).toEqual(["A circle", "square", "Text", "null"]);
  });

  test("textForm makes texts of the arguments of a prompt", () => {
    const form = textForm([
      { name: "id", required: true },
      { name: "style", title: "Style" },
    ]);
    expect(membersOf(form).map(({ label, isRequired }) => [label, isRequired])).toEqual([
      ["id", true],
      ["Style", false],
    ]);
    expect(read(form, filled(form, { id: text("welcome") }))).toEqual({
      value: { id: "welcome" },
      problems: {},
    });
  });
});

describe("readDraft", () => {
  test("readDraft returns the defaults of a form that is untouched", () => {
    const form = formOf(defaultsSchema);
    const value = { name: "John Doe", age: 30, score: 95.5, status: "active", verified: true };
    expect(read(form, draftOf(form))).toEqual({ value, problems: {} });
  });

  test("readDraft leaves out what is empty, and reads each kind of choice", () => {
    const form = formOf(enumsSchema);
    expect(read(form, draftOf(form))).toEqual({ value: {}, problems: {} });
    const draft = filled(form, {
      untitledSingle: { kind: "choice", index: 1 },
      titledSingle: { kind: "choice", index: 0 },
      legacyEnum: { kind: "choice", index: 2 },
      titledMulti: { kind: "choices", indexes: [0, 2] },
    });
    expect(read(form, draft).value).toEqual({
      untitledSingle: "option2",
      titledSingle: "value1",
      legacyEnum: "opt3",
      titledMulti: ["value1", "value3"],
    });
  });

  test("readDraft sends constants of what is required and of what was added", () => {
    const circle = {
      type: "object",
      properties: { kind: { const: "circle" }, r: { type: "number" } },
      required: ["kind"],
    };
    const form = one(circle, false);
    expect(read(form, draftOf(form)).value).toEqual({});
    const [field] = membersOf(form);
    expect(read(form, filled(form, { it: addedDraft(field!) })).value).toEqual({ it: { kind: "circle" } });
  });

  test.each([
    [{ type: "string" }, text(""), "Fill this in; to send an empty text, use JSON"],
    [{ type: "string", minLength: 3 }, text("ab"), "Write at least 3 characters"],
    [{ type: "string", maxLength: 2 }, text("abc"), "Write at most 2 characters: these are 3"],
    [{ type: "string", format: "email" }, text("ada"), "Write it as in ada@example.com"],
    [{ type: "string", pattern: "^[a-z]+$" }, text("A"), "It must match ^[a-z]+$"],
    [{ type: "integer" }, text("1.5"), "Write a whole number"],
    [{ type: "number" }, text("many"), "Write a number"],
    [{ type: "number", minimum: 1 }, text("0"), "Write a number of at least 1"],
    [{ type: "number", exclusiveMaximum: 1 }, text("1"), "Write a number below 1"],
    [{ type: "number", multipleOf: 0.1 }, text("0.25"), "Write a multiple of 0.1"],
    [{ type: "integer" }, text("9007199254740993"), "The number is too large to be exact"],
    [{ enum: ["a", "b"] }, absent, "Choose one"],
    [
      { type: "array", items: { type: "string" }, minItems: 2 },
      { kind: "list", items: [] },
      "Add at least 2: there are 0",
    ],
    [{}, jsonDraft(undefined), "Write a JSON value"],
  ] as [object, Draft, string][])("readDraft finds what is wrong with %j", (schema, draft, problem) => {
    const form = one(schema);
    expect(read(form, filled(form, { it: draft })).problems).toEqual({ "/it": problem });
  });

  test("readDraft finds what is wrong in the items of lists and in alternatives", () => {
    const form = one({ type: "array", items: { anyOf: [{ type: "integer" }, { type: "null" }] } });
    const items: Draft[] = [
      { kind: "variant", index: 0, draft: text("1") },
      { kind: "variant", index: 0, draft: text("x") },
      { kind: "variant", index: 1, draft: { kind: "choice", index: 0 } },
    ];
    const { value, problems } = read(form, filled(form, { it: { kind: "list", items } }));
    expect(value).toEqual({ it: [1, "x", null] });
    expect(problems).toEqual({ "/it/1/0": "Write a whole number" });
  });

  test("readDraft says why a text is not JSON", () => {
    const form = one({});
    const { problems } = read(form, filled(form, { it: { kind: "json", text: "{ a: 1 }" } }));
    expect(problems["/it"]).toMatch(/^This is not JSON: /);
  });
});

describe("draftOfValue", () => {
  test.each([
    [defaultsSchema, { name: "Ada", age: 36, verified: false }],
    [enumsSchema, { untitledSingle: "option1", untitledMulti: ["option3", "option1"] }],
    [{ type: "object", properties: { a: { type: ["string", "null"] } } }, { a: null }],
    [
      {
        type: "object",
        properties: { tree: { $ref: "#/$defs/t" } },
        $defs: { t: { type: "array", items: { $ref: "#/$defs/t" } } },
      },
      { tree: [[], [[]]] },
    ],
    [{ type: "object", properties: { any: {} } }, { any: { deep: [1, "two"] } }],
  ])("draftOfValue holds a value, so that a form can show JSON: %#", (schema, value) => {
    const form = formOf(schema);
    const draft = draftOfValue(form, value);
    expect(draft.kind).toBe("group");
    expect(read(form, draft)).toEqual({ value, problems: {} });
  });

  test("draftOfValue keeps as JSON what a form cannot show", () => {
    const form = formOf(defaultsSchema);
    expect(draftOfValue(form, { unknown: 1 })).toEqual(jsonDraft({ unknown: 1 }));
    const draft = draftOfValue(form, { age: "old" });
    expect(read(form, draft).problems).toEqual({ "/age": "Write a whole number" });
  });
});

describe("hostile schemas", () => {
  const tree = {
    type: "object",
    properties: { left: { $ref: "#" }, right: { $ref: "#" }, value: { type: "integer" } },
  };

  test.each([
    ["a reference to itself", { $ref: "#" }],
    [
      "references in a circle",
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    ],
    ["an alternative that is the whole", { anyOf: [{ $ref: "#" }] }],
    ["alternatives that are the whole", { oneOf: [{ $ref: "#" }, { $ref: "#" }, { type: "string" }] }],
    ["many alternatives that are the whole", { oneOf: Array.from({ length: 40 }, () => ({ $ref: "#" })) }],
    ["allOf of itself, many times", { allOf: Array.from({ length: 50 }, () => ({ $ref: "#" })) }],
    ["a reference to another document", { $ref: "https://example.com/schema.json" }],
    ["a reference that is not a text", { $ref: { a: 1 } }],
    ["a list", []],
    ["keywords of wrong types", { type: 7, properties: [], required: "a", enum: {}, oneOf: null, title: {} }],
    ["alternatives of wrong types", { anyOf: [null, 1, "a", []] }],
    ["members of wrong types", { type: "object", properties: { a: null, b: 1, c: [], d: true, e: "x" } }],
    ["a type of an object", { type: "constructor" }],
    ["a type with the name of a prototype", { type: "__proto__" }],
    ["nothing", undefined],
    ["false", false],
  ])("formOf and draftOf end with %s", (_, schema) => {
    const form = formOf(schema);
    const draft = draftOf(form);
    expect(() => readDraft(form, draft)).not.toThrow();
    expect(() => draftOfValue(form, { a: [1] })).not.toThrow();
  });

  test("draftOf makes few drafts of a schema that requires itself many times over", () => {
    const names = ["a", "b", "c", "d", "e"];
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]));
    const form = formOf({ type: "object", properties, required: names });
    expect(JSON.stringify(draftOf(form)).length).toBeLessThan(100_000);
  });

  test("formOf shows recursive schemas level by level", () => {
    let field = formOf(tree);
    for (let level = 0; level < 50; level++) field = membersOf(field)[0]!;
    expect(kindsOf(field)).toEqual({ left: "group", right: "group", value: "number" });
    expect(read(formOf(tree), draftOf(formOf(tree)))).toEqual({ value: {}, problems: {} });
  });

  test("formOf takes JSON instead of thousands of fields, options and alternatives", () => {
    const many = Array.from({ length: 5000 }, (_, index) => index);
    const properties = Object.fromEntries(many.map((index) => [`p${index}`, { type: "string" }]));
    expect(formOf({ type: "object", properties }).shape).toEqual({
      kind: "json",
      reason: "It has too many properties for a form",
    });
    expect(formOf({ enum: many }).shape.kind).toBe("json");
    expect(formOf({ anyOf: many.map((minimum) => ({ type: "integer", minimum })) }).shape.kind).toBe("json");
    expect(many.length).toBeGreaterThan(maxMembers);
  });

  test("a schema that is nested deeply is JSON from some level on", () => {
    let schema: object = { type: "string" };
    for (let level = 0; level < 2000; level++)
      schema = { type: "object", properties: { in: schema }, required: ["in"] };
    const form = formOf(schema);
    expect(Object.keys(read(form, draftOf(form)).problems)[0]).toMatch(/^(\/in){7,8}$/);
  });

  test("names such as __proto__ are names like others", () => {
    const names = ["__proto__", "constructor", "toString", "a/b c"];
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const form = formOf({ type: "object", properties, required: ["toString"] });
    expect(membersOf(form).map(({ name, isRequired }) => [name, isRequired])).toEqual(
      names.map((name) => [name, name === "toString"]),
    );
    const draft: Draft = { kind: "group", members: names.map((name) => text(`of ${name}`)) };
    const { value } = readDraft(form, draft);
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":"of __proto__","constructor":"of constructor","toString":"of toString","a/b c":"of a/b c"}',
    );
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(readDraft(form, draftOfValue(form, value)).value).toEqual(value);
    expect([...readDraft(form, draftOf(form)).problems.keys()]).toEqual(["/toString"]);
  });

  test.each(["(a+)+$", "^(a|a)*$", "a*a*a*a*b", "(?=a)a", String.raw`(a)\1`, "["])(
    "a pattern that may take long, or is none, is left to the server: %s",
    (pattern) => {
      const form = one({ type: "string", pattern });
      expect(read(form, filled(form, { it: text(`${"a".repeat(900)}!`) })).problems).toEqual({});
    },
  );
});

describe("resource templates", () => {
  /** The entry of a server's only template. */
  async function entryOf(uriTemplate: string): Promise<Entry> {
    const server = new McpServer({ name: "templates", version: "1.0.0" });
    server.resourceTemplate("note:///{id}", {}, () => "");
    server.use("resources/templates/list", () => ({
      resourceTemplates: [{ name: "it", uriTemplate }],
    }));
    await using client = await connect(server);
    const { entries } = await readEntries(client);
    return entries.find(({ kind }) => kind === "template")!;
  }

  test("readEntries makes a field of each variable of a template, once", async () => {
    const { form } = await entryOf("note:///{id}/{+path}{?q,lang}{&q}{list*}{short:3}");
    expect(Object.keys(kindsOf(form))).toEqual(["id", "path", "q", "lang", "list", "short"]);
  });

  test.each([
    ["note:///{id}", { id: "a b/c" }, "note:///a%20b%2Fc"],
    ["file:///{+path}", { path: "a b/c%2Fd" }, "file:///a%20b/c%2Fd"],
    ["x://a{?q,lang}", { q: "1&2" }, "x://a?q=1%262"],
    ["x://a{/b,c}{.d}{#e}", { b: "1", c: "2", d: "3", e: "4/5" }, "x://a/1/2.3#4/5"],
    ["x://a{;m}{&n}", { m: "1", n: "2" }, "x://a;m=1&n=2"],
    ["x://{short:3}", { short: "abcdef" }, "x://abc"],
    ["x://{missing}", {}, "x://"],
  ])("uriOf makes a URI of %s, as UriTemplate does", async (template, values, uri) => {
    expect(uriOf(await entryOf(template), values)).toBe(uri);
    expect(new UriTemplate(template).expand(values)).toBe(uri);
  });

  test("readEntries marks a template that is none, and reads it as it is", async () => {
    const entry = await entryOf("x://{broken");
    expect([entry.marks, uriOf(entry, {})]).toEqual([["invalid template"], "x://{broken"]);
  });
});
