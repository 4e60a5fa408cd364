// Mistakes in a definition: thrown when it is made, naming the subject and the field, and harmless to the rest.
import { ConfigurationError, HalyardError, type McpServer, ProtocolError } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { call, list, makeServer, open, textOf, toolNames } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

type Mistake = [title: string, register: (server: McpServer) => unknown, subject: string, field: string];

const array = { type: "array", items: { type: "string" } };
const none = undefined as never;

const mistakes: Mistake[] = [
  ["no time for a tool", (server) => server.tool("x", { timeoutMs: 0 }, () => ""), 'tool "x"', "timeoutMs"],
  [
    "more time for a tool than a timer has",
    (server) => server.tool("x", { timeoutMs: 2 ** 31 }, () => ""),
    'tool "x"',
    "timeoutMs",
  ],
  [
    "no calls of a tool at once",
    (server) => server.tool("x", { maxConcurrent: 0 }, () => ""),
    'tool "x"',
    "maxConcurrent",
  ],
  [
    "half a call of a tool",
    (server) => server.tool("x", { maxConcurrent: 1.5 }, () => ""),
    'tool "x"',
    "maxConcurrent",
  ],
  ["a tool name with a space", (server) => server.tool("my tool", {}, () => ""), 'tool "my tool"', "name"],
  ["a prompt without a name", (server) => server.prompt("", {}, () => ""), 'prompt ""', "name"],
  [
    "a resource URI that is none",
    (server) => server.resource("nope", {}, () => ""),
    'resource "nope"',
    "uri",
  ],
  [
    "a template that is none",
    (server) => server.resourceTemplate("a:{", {}, () => ""),
    'resource template "a:{"',
    "uriTemplate",
  ],
  ["a tool without a handler", (server) => server.tool("x", {}, none), 'tool "x"', "handler"],
  ["a prompt without a handler", (server) => server.prompt("x", {}, none), 'prompt "x"', "handler"],
  ["a resource without a handler", (server) => server.resource("x:y", {}, none), 'resource "x:y"', "handler"],
  [
    "a template without a handler",
    (server) => server.resourceTemplate("x:{y}", {}, none),
    'resource template "x:{y}"',
    "handler",
  ],
  [
    "input that is a Zod string",
    (server) => server.tool("x", { input: z.string() }, () => ""),
    'tool "x"',
    "input",
  ],
  [
    "input that is a JSON Schema of a list",
    (server) => server.tool("x", { input: array }, () => ""),
    'tool "x"',
    "input",
  ],
  [
    "input with no type",
    (server) => server.tool("x", { input: { properties: {} } }, () => ""),
    'tool "x"',
    "input",
  ],
  [
    "input that is null",
    (server) => server.tool("x", { input: null as never }, () => ""),
    'tool "x"',
    "input",
  ],
  [
    "input with a date",
    (server) => server.tool("x", { input: z.object({ d: z.date() }) }, () => ""),
    'tool "x"',
    "input",
  ],
  [
    "output with a date",
    (server) => server.tool("x", { output: z.date() }, (() => "") as never),
    'tool "x"',
    "output",
  ],
  [
    "output of an unknown dialect",
    (server) => server.tool("x", { output: { $schema: "urn:x" } }, () => ({})),
    'tool "x"',
    "output",
  ],
  [
    "input with an outside $ref",
    (server) => server.tool("x", { input: { type: "object", $ref: "https://e.com/s" } }, () => ""),
    'tool "x"',
    "input",
  ],
  [
    "prompt arguments that are a list",
    (server) => server.prompt("x", { arguments: array }, () => ""),
    'prompt "x"',
    "arguments",
  ],
  [
    "a completer for no argument",
    (server) => server.prompt("x", { arguments: z.object({}), complete: { a: () => [] } as never }, () => ""),
    'prompt "x"',
    "complete",
  ],
  [
    "a reserved _meta key",
    (server) => server.tool("x", { _meta: { "dev.mcp/a": 1 } }, () => ""),
    'tool "x"',
    "_meta",
  ],
  ["a bad icon", (server) => server.tool("x", { icons: [{ src: "x" }] }, () => ""), 'tool "x"', "icons.src"],
  [
    "tool annotations that JSON cannot write",
    (server) => server.tool("x", { annotations: { title: 1n } as never }, () => ""),
    'tool "x"',
    "annotations.title",
  ],
  [
    "a bad priority",
    (server) => server.resource("x:y", { annotations: { priority: 2 } }, () => ""),
    'resource "x:y"',
    "annotations.priority",
  ],
];

const rawShapes: [title: string, register: (server: McpServer) => unknown, subject: string, field: string][] =
  [
    [
      "input",
      (server) => server.tool("x", { input: { city: z.string() } as never }, () => ""),
      'tool "x"',
      "input",
    ],
    [
      "output",
      (server) => server.tool("x", { output: { city: z.string() } as object }, () => ""),
      'tool "x"',
      "output",
    ],
    [
      "arguments",
      (server) => server.prompt("x", { arguments: { city: z.string() } as never }, () => ""),
      'prompt "x"',
      "arguments",
    ],
  ];

describe("a raw shape", () => {
  test.each(rawShapes)("as %s is refused, with the remedy", (_, register, subject, field) => {
    expect(() => register(makeServer().server)).toThrow(
      expect.objectContaining({
        code: "INVALID_SCHEMA",
        subject,
        field,
        message: `${subject}: ${field} is a raw shape: wrap it in z.object({ … })`,
      }),
    );
  });

  test.each<[string, object]>([
    ["a schema of a library", { type: "object", properties: { a: z.string() } }],
    ["a function", { type: "object", default: () => {} }],
    ["an instance", { type: "object", default: new Map() }],
    ["a bigint", { type: "object", minProperties: 1n }],
    ["a circle", circle()],
  ])("%s inside a JSON Schema is never published", (_, schema) => {
    const { server } = makeServer();
    for (const field of ["input", "output"] as const) {
      expect(() => server.tool("x", { [field]: schema }, () => "")).toThrow(
        expect.objectContaining({ code: "INVALID_SCHEMA", subject: 'tool "x"', field }),
      );
    }
  });
});

function circle(): object {
  const schema: Record<string, unknown> = { type: "object" };
  schema["not"] = schema;
  return schema;
}

type Register = (
  server: Record<"tool" | "prompt" | "resource" | "resourceTemplate", (...given: unknown[]) => unknown>,
) => unknown;

describe("what other packages take", () => {
  const run = (): string => "";
  const shape = z.object({});

  test.each<[message: string, register: Register]>([
    ['tool "x": inputSchema is called input here', (server) => server.tool("x", { inputSchema: shape }, run)],
    ['tool "x": parameters is called input here', (server) => server.tool("x", { parameters: shape }, run)],
    [
      'tool "x": outputSchema is called output here',
      (server) => server.tool("x", { outputSchema: shape }, run),
    ],
    [
      'prompt "x": argsSchema is called arguments here',
      (server) => server.prompt("x", { argsSchema: shape }, run),
    ],
    ['prompt "x": args is called arguments here', (server) => server.prompt("x", { args: shape }, run)],
    [
      'tool "x": args is called input here',
      (server) => server.tool("x", { args: { code: z.string() } }, run),
    ],
    ['tool "x": params is called input here', (server) => server.tool("x", { params: shape }, run)],
    ['tool "x": schema is called input here', (server) => server.tool("x", { schema: shape }, run)],
    ['tool "x": returns is called output here', (server) => server.tool("x", { returns: shape }, run)],
    ['prompt "x": input is called arguments here', (server) => server.prompt("x", { input: shape }, run)],
    ['tool "x": arguments is called input here', (server) => server.tool("x", { arguments: shape }, run)],
    [
      'tool "x": execute is not a field: pass the handler as the last argument',
      (server) => server.tool("x", { execute: run }),
    ],
    [
      'prompt "x": load is not a field: pass the handler as the last argument',
      (server) => server.prompt("x", { load: run }),
    ],
    [
      'tool "x": name is not a field: pass it as the first argument',
      (server) => server.tool("x", { name: "x" }, run),
    ],
    [
      'resource "x:y": uri is not a field: pass it as the first argument',
      (server) => server.resource("x:y", { uri: "x:y" }, run),
    ],
    [
      'tool "x": readOnlyHint belongs in annotations',
      (server) => server.tool("x", { readOnlyHint: true }, run),
    ],
    [
      'tool "x": definition is a string: call server.tool(name, { description, input }, handler)',
      (server) => server.tool("x", "What it does", { city: z.string() }, run),
    ],
    [
      'tool "x": definition is a function: call server.tool(name, { description, input }, handler)',
      (server) => server.tool("x", run),
    ],
    [
      'tool "x": city is a schema: pass { input: z.object({ city: … }) }',
      (server) => server.tool("x", { city: z.string() }, run),
    ],
    [
      'prompt "x": city is a schema: pass { arguments: z.object({ city: … }) }',
      (server) => server.prompt("x", { city: z.string() }, run),
    ],
    [
      "tool: the first argument is a definition: call server.tool(name, { description, input }, handler)",
      (server) => server.tool({ name: "x", parameters: shape, execute: run }),
    ],
    [
      'tool "x": input is a function: pass what it returns, as in z.object({ … })',
      (server) => server.tool("x", { input: z.object }, run),
    ],
    [
      'tool "x": output must be a Standard Schema, such as z.object({ … }), or a JSON Schema object, not a promise: await it',
      (server) => server.tool("x", { output: Promise.resolve(shape) }, run),
    ],
    [
      'prompt "x": arguments must be a Standard Schema, such as z.object({ … }), or a JSON Schema object, not "city"',
      (server) => server.prompt("x", { arguments: "city" }, run),
    ],
    [
      "tool: the first argument is a number: call server.tool(name, { description, input }, handler)",
      (server) => server.tool(5, {}, run),
    ],
    [
      "prompt: the first argument is undefined: call server.prompt(name, { description, arguments }, handler)",
      (server) => server.prompt(undefined, {}, run),
    ],
    [
      "resource: the first argument is a URL: pass its text, url.href",
      (server) => server.resource(new URL("note:///a"), {}, run),
    ],
    [
      'resource "note:///{name}": uri has the variable {name}: register it with server.resourceTemplate()',
      (server) => server.resource("note:///{name}", {}, run),
    ],
    [
      'resource template "note:///a": uriTemplate has no variable, such as {name}: register it with server.resource()',
      (server) => server.resourceTemplate("note:///a", {}, run),
    ],
    [
      'resource "/notes": uri must be an absolute URI (RFC 3986), such as "note:///groceries"',
      (server) => server.resource("/notes", {}, run),
    ],
    [
      'resource "note:///my list": uri has a character that a URI must escape (RFC 3986): pass it through encodeURI()',
      (server) => server.resource("note:///my list", {}, run),
    ],
    [
      'resource "notes": definition is a string: call server.resource(uri, { name, description }, handler)',
      (server) => server.resource("notes", "note:///a", {}, run),
    ],
    [
      'resource template "notes": definition is a string: call server.resourceTemplate(uriTemplate, { name, description }, handler)',
      (server) => server.resourceTemplate("notes", "note:///{a}", {}, run),
    ],
  ])("%s", (message, register) => {
    const { server } = makeServer();
    expect(() => register(server as never)).toThrow(
      expect.objectContaining({ name: "ConfigurationError", message }),
    );
    expect(message.split("\n")).toHaveLength(1);
  });

  test.each(["constructor", "toString", "__proto__x"])("a field %s is merely unknown", (field) => {
    expect(() => makeServer().server.tool("x", { [field]: 1 }, run)).toThrow(/is not an option/);
  });
});

describeMatrix("a mistake", {}, (cell) => {
  const check = async (register: Mistake[1], subject: string, field: string): Promise<void> => {
    const { server } = makeServer();
    server.tool("before", {}, () => "before");
    expect(() => register(server)).toThrow(
      expect.objectContaining({
        name: "ConfigurationError",
        subject,
        field,
        message: expect.stringMatching(new RegExp(`: ${field} `)),
      }),
    );
    server.tool("after", {}, () => "after");
    const client = await open(cell, server);
    expect(await toolNames(client)).toEqual(["before", "after"]);
    expect(textOf(await call(client, "after"))).toBe("after");
  };

  test.each(mistakes.filter(([, , , field]) => field !== "input"))(
    "%s is thrown at once and leaves the rest alone",
    (_, register, subject, field) => check(register, subject, field),
  );

  test.each(mistakes.filter(([, , , field]) => field === "input"))(
    "%s is thrown at once and leaves the rest alone [TOOL-INPUTSCHEMA-OBJECT]",
    (_, register, subject, field) => check(register, subject, field),
  );

  test("a mistake in an update is thrown, and the tool stays as it was", async () => {
    const { server } = makeServer();
    const handle = server.tool("t", { description: "old", input: z.object({ a: z.string() }) }, ({ a }) => a);
    const client = await open(cell, server);
    expect(() => handle.update({ description: "new", icons: [{ src: "nope" }] })).toThrow(ConfigurationError);
    expect(() => handle.update({ handler: none })).toThrow(ConfigurationError);
    expect((await list(client, "tools/list"))[0]).toMatchObject({ name: "t", description: "old" });
    expect(textOf(await call(client, "t", { a: "still" }))).toBe("still");
  });
});

describe("duplicates", () => {
  test.each<Mistake>([
    ["tool", (server) => server.tool("x", {}, () => ""), 'tool "x"', "name"],
    ["prompt", (server) => server.prompt("x", {}, () => ""), 'prompt "x"', "name"],
    ["resource", (server) => server.resource("x:y", {}, () => ""), 'resource "x:y"', "uri"],
    [
      "resource template",
      (server) => server.resourceTemplate("x:{y}", {}, () => ""),
      'resource template "x:{y}"',
      "uriTemplate",
    ],
    ["extension", (server) => server.extension("com.example/x"), 'extension "com.example/x"', "identifier"],
  ])("a second %s of the same key is refused", (_, register, subject, field) => {
    const { server } = makeServer();
    register(server);
    expect(() => register(server)).toThrow(
      expect.objectContaining({ name: "ConfigurationError", code: "DUPLICATE_NAME", subject, field }),
    );
  });

  test("a tool and a prompt may share a name", () => {
    const { server } = makeServer();
    server.tool("x", {}, () => "");
    expect(() => server.prompt("x", {}, () => "")).not.toThrow();
  });
});

describe("server options", () => {
  test.each<[object, string]>([
    [{ mode: "sometimes" }, "mode"],
    [{ errors: "shown" }, "errors"],
    [{ pageSize: 0 }, "pageSize"],
    [{ pageSize: -1 }, "pageSize"],
    [{ pageSize: 1.5 }, "pageSize"],
    [{ pageSize: Number.POSITIVE_INFINITY }, "pageSize"],
    [{ limits: { maxBytes: 0 } }, "limits.maxBytes"],
    [{ limits: { maxByte: 5 } }, "limits.maxByte"],
    [{ mode: "stateless", requireInitialized: true }, "requireInitialized"],
  ])("%j is refused", (options, field) => {
    expect(() => makeServer(options)).toThrow(
      expect.objectContaining({
        name: "ConfigurationError",
        code: "INVALID_OPTION",
        subject: "server",
        field,
      }),
    );
  });

  test("middleware that is no function is refused", () => {
    const { server } = makeServer();
    expect(() => server.use(none)).toThrow(ConfigurationError);
    expect(() => server.use("tools/call", none)).toThrow(ConfigurationError);
  });

  test.each(["clock", "com example/x", "/x", "com.example/-x"])(
    "the extension identifier %s is refused",
    (identifier) => {
      expect(() => makeServer().server.extension(identifier)).toThrow(
        expect.objectContaining({ code: "INVALID_NAME", field: "identifier" }),
      );
    },
  );
});

describe("errors", () => {
  test("every mistake is a HalyardError with a code to switch on", () => {
    const thrown = ((): unknown => {
      try {
        return makeServer().server.tool("my tool", {}, () => "");
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(HalyardError);
    expect(thrown).toMatchObject({ code: "INVALID_NAME" });
  });

  test.each([-32000, -32001, -32002, -32768, -32099, 1.5, Number.NaN])(
    "ProtocolError refuses the reserved code %d",
    (code) => {
      expect(() => new ProtocolError(code, "x")).toThrow(RangeError);
    },
  );

  const reserved =
    "pass one of errorCodes, or an integer of your own outside -32768 to -32000, which are reserved";
  test.each([
    [-32002, "throw new ResourceNotFoundError(uri), which has the code of each revision"],
    [-32042, "throw new UrlElicitationRequired([{ message, url }]), which has the code of each revision"],
    [-32000, reserved],
    [-32001, reserved],
  ])("ProtocolError says what to throw or pass instead of %d", (code, remedy) => {
    const message = `new ProtocolError(code, message): ${code} cannot be sent: ${remedy}`;
    expect(() => new ProtocolError(code, "x")).toThrow(new RangeError(message));
  });

  test.each([-32602, -32603, 1, -31999, -32769, 0])("ProtocolError takes the code %d", (code) => {
    expect(new ProtocolError(code, "x", { y: 1 })).toMatchObject({ rpcCode: code, data: { y: 1 } });
  });
});
