// Mcp-Param-*: how a schema names the arguments that travel in headers too, and how the headers must repeat the body.
import { ConfigurationError, type JsonObject, type JsonSchema } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { makeServer } from "../../support/catalogue.ts";
import { describeEdges, type HttpEdge, modernPost } from "../../support/http.ts";
import { httpServer, modernCall } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";

const input = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    dry: { type: "boolean", "x-mcp-header": "Dry" },
    where: { type: "object", properties: { zone: { type: "string", "x-mcp-header": "Zone" } } },
    plain: { type: "string" },
  },
} as const;

const withTool = (): ReturnType<typeof httpServer> => {
  const made = httpServer();
  made.server.tool("deploy", { input }, () => "done");
  return made;
};

type Headers = Record<string, string | undefined>;

async function outcome(edge: HttpEdge, args: JsonObject, headers: Headers): Promise<unknown> {
  const reply = await edge.send(modernPost(modernCall("p", "deploy", args), headers));
  const { id, error } = await reply.answer();
  expect(id).toBe("p");
  return error === undefined ? reply.status : [reply.status, error.code];
}

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const max = Number.MAX_SAFE_INTEGER;

const right: readonly [JsonObject, Headers][] = [
  [{}, {}],
  [{ region: null, count: null, where: null }, {}],
  [{ where: {} }, {}],
  [{ plain: "x" }, {}],
  [{ region: "eu" }, { "mcp-param-region": "eu" }],
  [{ region: "eu" }, { "MCP-PARAM-REGION": "  eu " }],
  [{ region: "eu" }, { "mcp-param-region": base64("eu") }],
  [{ region: "Zürich 🌍" }, { "mcp-param-region": base64("Zürich 🌍") }],
  [{ region: " eu " }, { "mcp-param-region": base64(" eu ") }],
  [{ region: "" }, { "mcp-param-region": "" }],
  [{ region: "" }, { "mcp-param-region": "=?base64??=" }],
  [{ region: "=?base64?ZXU=" }, { "mcp-param-region": "=?base64?ZXU=" }],
  [{ region: "=?base64?=" }, { "mcp-param-region": "=?base64?=" }],
  [{ region: "=?Base64?ZXU=?=" }, { "mcp-param-region": "=?Base64?ZXU=?=" }],
  [{ region: "=?base64?ZXU=?=" }, { "mcp-param-region": base64("=?base64?ZXU=?=") }],
  [{ count: 42 }, { "mcp-param-count": "42" }],
  [{ count: 42 }, { "mcp-param-count": "42.0" }],
  [{ count: 42 }, { "mcp-param-count": base64("42") }],
  [{ count: -7 }, { "mcp-param-count": "-7" }],
  [{ count: 0 }, { "mcp-param-count": "0" }],
  [{ count: max }, { "mcp-param-count": String(max) }],
  [{ count: -max }, { "mcp-param-count": String(-max) }],
  [{ dry: true }, { "mcp-param-dry": "true" }],
  [{ dry: false }, { "mcp-param-dry": "false" }],
  [{ where: { zone: "a" } }, { "mcp-param-zone": "a" }],
  [{}, { "mcp-param-unknown": "x" }],
];

const wrong: readonly [JsonObject, Headers][] = [
  [{ region: "eu" }, {}],
  [{ region: "" }, {}],
  [{ count: 0 }, {}],
  [{ dry: false }, {}],
  [{ where: { zone: "a" } }, {}],
  [{ region: "eu" }, { "mcp-param-region": "us" }],
  [{ region: "eu" }, { "mcp-param-region": "EU" }],
  [{ region: "eu" }, { "mcp-param-region": base64("us") }],
  [{ region: "eu" }, { "mcp-param-region": "=?base64?ZXU?=" }],
  [{ region: "eu" }, { "mcp-param-region": "=?base64?ZXU==?=" }],
  [{ region: "eu" }, { "mcp-param-region": "=?base64?Z XU=?=" }],
  [{ region: "?" }, { "mcp-param-region": "=?base64?Pw_-?=" }],
  [{ region: "eu" }, { "mcp-param-region": "=?base64?/w==?=" }],
  [{ region: "eu" }, { "mcp-param-region": "=?BASE64?ZXU=?=" }],
  [{ region: "eu" }, { "mcp-param-region": "=?base64?ZXU=" }],
  [{ count: 42 }, { "mcp-param-count": "43" }],
  [{ count: 42 }, { "mcp-param-count": "0x2a" }],
  [{ count: 0 }, { "mcp-param-count": "" }],
  [{ count: 42 }, { "mcp-param-count": "42 x" }],
  [{ count: max + 1 }, { "mcp-param-count": String(max + 1) }],
  [{ count: max + 1 }, { "mcp-param-count": "9007199254740993" }],
  [{ dry: true }, { "mcp-param-dry": "True" }],
  [{ dry: true }, { "mcp-param-dry": "1" }],
  [{ where: { zone: "a" } }, { "mcp-param-zone": "b" }],
];

describeEdges("Mcp-Param", (open) => {
  test.each(right)(
    "%j with %j says the same [XMH-VALUE-PRESENT, XMH-NULL-NOT-EXPECT, XMH-DECODE-COMPARE, XMH-INT-NUMERIC-COMPARE, XMH-INT-SAFE, XMH-SENTINEL-EXACT]",
    async (args, headers) => {
      const edge = await open(withTool().server);
      const found = await outcome(edge, args, headers);
      // An argument that is null may still be refused by its schema, but not for want of a header.
      expect(found).not.toEqual([400, -32020]);
      if (!Object.values(args).includes(null)) expect(found).toBe(200);
    },
  );

  test.each(wrong)(
    "%j with %j is 400 with -32020 [XMH-VALUE-PRESENT, XMH-MISSING-REJECT, XMH-DECODE-COMPARE, XMH-INVALID-CHARS, XMH-INT-SAFE, XMH-SENTINEL-EXACT, HTTP26-VALIDATE-400-32020]",
    async (args, headers) => {
      const edge = await open(withTool().server);
      expect(await outcome(edge, args, headers)).toEqual([400, -32020]);
    },
  );
});

describeEdges(
  "Mcp-Param off the wire",
  (open) => {
    test("with characters that no header may have is refused, even if the body has them too [XMH-INVALID-CHARS]", async () => {
      const edge = await open(withTool().server);
      const body = JSON.stringify(modernCall(1, "deploy", { region: "Zürich" }));
      const lines = [
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: deploy",
        "Mcp-Param-Region: Zürich",
        `Content-Length: ${Buffer.byteLength(body)}`,
        "Connection: close",
      ];
      const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
      const reply = await openRaw(edge.port).request(head, Buffer.from(body));
      expect(reply).toMatch(/^HTTP\/1.1 400/);
      expect(reply).toContain("-32020");
    });
  },
  ["serveHttp", "nodeHandler"],
);

describe("x-mcp-header in an input schema", () => {
  const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });

  function register(schema: JsonSchema): void {
    makeServer().server.tool("t", { input: schema }, () => "");
  }

  function property(schema: object): void {
    register({ type: "object", properties: { a: schema } });
  }

  const mistake = expect.objectContaining({
    name: ConfigurationError.name,
    code: "INVALID_SCHEMA",
    subject: 'tool "t"',
    field: "input",
    message: expect.stringContaining("x-mcp-header"),
  });

  test("properties of type string, integer and boolean may be annotated, nested ones too [XMH-SERVER-MAY, XMH-STATIC-PATH, XMH-PRIMITIVE]", () => {
    const { server } = makeServer();
    const annotatedInput = {
      type: "object",
      properties: {
        region: header("Region"),
        count: header("count", "integer"),
        dry: header("Dry-Run", "boolean"),
        deep: { type: "object", properties: { er: { type: "object", properties: { id: header("Id") } } } },
      },
    };
    server.tool("t", { input: annotatedInput }, () => "");
    expect(server.toolInputSchema("t")).toEqual(annotatedInput);
  });

  test("a Zod schema may carry the annotation [XMH-SERVER-MAY]", () => {
    const { server } = makeServer();
    server.tool(
      "t",
      { input: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }) },
      () => "",
    );
    expect(server.toolInputSchema("t")).toMatchObject({
      properties: { region: { "x-mcp-header": "Region" } },
    });
    expect(() =>
      server.tool("bad", { input: z.object({ n: z.number().meta({ "x-mcp-header": "N" }) }) }, () => ""),
    ).toThrow(ConfigurationError);
  });

  test("an empty value is refused [XMH-NOT-EMPTY]", () => {
    expect(() => property(header(""))).toThrow(mistake);
  });

  test.each(["my header", "a:b", "a/b", "(a)", "a,b", "ä", '"a"', "a@b", "[a]", "{a}", "a=b", "a?b"])(
    "%s is refused, being no HTTP token [XMH-TOKEN]",
    (name) => {
      expect(() => property(header(name))).toThrow(mistake);
    },
  );

  test.each(["A", "!#$%&'*+-.^_`|~09azAZ"])("%s is a token [XMH-TOKEN]", (name) => {
    expect(() => property(header(name))).not.toThrow();
  });

  test.each(["a\rb", "a\nb", "a\r\nInjected: 1", "a\u0000", "a\u0007b", "a\tb", "a\u007f", "a\n"])(
    "%j is refused for its control character [XMH-NO-CONTROL]",
    (name) => {
      expect(() => property(header(name))).toThrow(mistake);
    },
  );

  test.each([5, null, true, ["A"], {}])("%j is refused, being no string [XMH-TOKEN]", (name) => {
    expect(() => property(header(name))).toThrow(mistake);
  });

  test("a value that is used twice is refused, whatever its case [XMH-UNIQUE-CI]", () => {
    const twice = (one: string, two: string) => (): void =>
      register({
        type: "object",
        properties: { a: header(one), deep: { type: "object", properties: { b: header(two) } } },
      });
    expect(twice("Region", "Region")).toThrow(mistake);
    expect(twice("Region", "rEGION")).toThrow(mistake);
    expect(twice("Region", "Regions")).not.toThrow();
  });

  test.each(["number", "object", "array", "null", undefined, ["string", "null"]])(
    "a property of type %j cannot be annotated [XMH-PRIMITIVE]",
    (type) => {
      expect(() => property({ type, "x-mcp-header": "A" })).toThrow(mistake);
    },
  );

  const annotated = { type: "object", properties: { b: header("B") } };

  test.each<[string, object]>([
    ["items", { items: annotated }],
    ["prefixItems", { prefixItems: [annotated] }],
    ["contains", { contains: annotated }],
    ["additionalItems", { additionalItems: annotated }],
    ["oneOf", { oneOf: [annotated] }],
    ["anyOf", { anyOf: [annotated] }],
    ["allOf", { allOf: [annotated] }],
    ["not", { not: annotated }],
    ["if", { if: annotated }],
    // A schema keyword, not a promise.
    // oxlint-disable-next-line unicorn/no-thenable
    ["then", { then: annotated }],
    ["else", { else: annotated }],
    ["$defs", { $defs: { x: annotated } }],
    ["additionalProperties", { additionalProperties: annotated }],
    ["patternProperties", { patternProperties: { "^x": annotated } }],
    ["dependentSchemas", { dependentSchemas: { x: annotated } }],
  ])(
    "an annotation below %s makes the tool invalid [XMH-STATIC-PATH-FORBIDDEN, XMH-STATIC-PATH]",
    (_, keywords) => {
      expect(() => register({ type: "object", ...keywords })).toThrow(mistake);
      expect(() => property({ type: "object", ...keywords })).toThrow(mistake);
    },
  );

  test("an annotation that is reached through a $ref makes the tool invalid [XMH-STATIC-PATH-FORBIDDEN]", () => {
    expect(() =>
      register({ type: "object", $defs: { r: header("R") }, properties: { a: { $ref: "#/$defs/r" } } }),
    ).toThrow(mistake);
  });

  test("the root cannot be annotated [XMH-STATIC-PATH]", () => {
    expect(() => register({ type: "object", "x-mcp-header": "Root" })).toThrow(mistake);
  });

  test("a property may be named x-mcp-header, and data that looks like an annotation is none", () => {
    expect(() =>
      register({ type: "object", properties: { "x-mcp-header": { type: "string" } } }),
    ).not.toThrow();
    expect(() => property({ type: "object", default: { "x-mcp-header": "not a schema" } })).not.toThrow();
    expect(() => property({ enum: [{ "x-mcp-header": "not a schema" }] })).not.toThrow();
    expect(() =>
      register({ type: "object", $defs: { x: { properties: { "x-mcp-header": { type: "string" } } } } }),
    ).not.toThrow();
  });

  test("one bad tool does not take the others with it [XMH-STATIC-PATH-FORBIDDEN]", () => {
    const { server } = makeServer();
    server.tool("good", {}, () => "");
    expect(() => server.tool("bad", { input: { type: "object", "x-mcp-header": "R" } }, () => "")).toThrow();
    expect(server.tools.keys()).toEqual(["good"]);
  });
});
