// Mistakes of newcomers to a server, third round: each row has the code and the whole error message.
import { McpServer, result } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { call, makeServer, open } from "../support/catalogue.ts";
import type { LogEntry } from "../support/log.ts";
import { type Cell, cells } from "../support/matrix.ts";

/** As JavaScript sees it: nothing has a type. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const [newest] = cells({ transports: ["memory"] }) as [Cell];
const run = (): string => "ok";
const city = z.string();

/** The message of the last exception in the log. */
function lastOf(log: readonly LogEntry[]): unknown {
  return (log.at(-1)?.details?.["error"] as Error | undefined)?.message;
}

const template = (uri: string) => (server: Untyped) => server.resourceTemplate(uri, {}, run);
const resource = (uri: string) => (server: Untyped) => server.resource(uri, {}, run);
const update =
  (...given: unknown[]) =>
  (server: Untyped) =>
    server.tool("x", {}, run).update(...given);
const router = "which is a pattern of a router: write";
const rule = "the name of a variable has only letters, digits, _ and .";

describe("a mistake in a definition", () => {
  test.each<[message: string, write: (server: Untyped) => unknown]>([
    [`resource template "note:///:name": uriTemplate has :name, ${router} {name}`, template("note:///:name")],
    [
      `resource template "note:///[name]": uriTemplate has [name], ${router} {name}`,
      template("note:///[name]"),
    ],
    [
      `resource template "note:///[...path]": uriTemplate has [...path], ${router} {+path}`,
      template("note:///[...path]"),
    ],
    [`resource template "note:///*": uriTemplate has *, ${router} {+path}`, template("note:///*")],
    [
      'resource template "file:///{path*}": uriTemplate has {path*}, which does not match "/": write {+path}',
      template("file:///{path*}"),
    ],
    [
      'resource template "repo:///{name}/{filePath*}": uriTemplate has {filePath*}, which does not match "/": write {+filePath}',
      template("repo:///{name}/{filePath*}"),
    ],
    [
      `resource template "note:///{user-id}": uriTemplate is not a URI template (RFC 6570): unexpected "-" at position 13: ${rule}`,
      template("note:///{user-id}"),
    ],
    [
      'resource template "note:///<name>": uriTemplate is not a URI template (RFC 6570): unexpected "<" at position 8',
      template("note:///<name>"),
    ],
    [
      String.raw`resource "C:\notes\a.txt": uri is a path of Windows: pass pathToFileURL(path).href`,
      resource(String.raw`C:\notes\a.txt`),
    ],
    [
      'resource "C:/notes/a.txt": uri is a path of Windows: pass pathToFileURL(path).href',
      resource("C:/notes/a.txt"),
    ],
    [
      'resource "file://C:/notes/a.txt": uri has the host "C": write file:///C:/…',
      resource("file://C:/notes/a.txt"),
    ],
    [
      'tool "x": name cannot change: remove() the tool, and register it under the new name',
      update({ name: "y" }),
    ],
    ['tool "x": update() takes changes such as { handler }, not a function', update(run)],
    ['tool "x": update() takes changes such as { handler }, not undefined', update()],
    [
      'tool "x": handler is the last argument: put an object with timeoutMs into the definition, as in server.tool(name, { description, input }, handler)',
      (server) => server.tool("x", {}, run, { timeoutMs: 5 }),
    ],
    [
      'tool "x": handler is the last argument: put an object with city into the definition, as in server.tool(name, { description, input }, handler)',
      (server) => server.tool("x", { description: "d" }, { city }, run),
    ],
    [
      'prompt "x": handler is the last argument: put an instance of ZodObject into the definition, as in server.prompt(name, { description, arguments }, handler)',
      (server) => server.prompt("x", {}, z.object({ city }), run),
    ],
    [
      'resource "note:///a": handler is the last argument: put an object with mimeType into the definition, as in server.resource(uri, { name, description }, handler)',
      (server) => server.resource("note:///a", {}, run, { mimeType: "text/plain" }),
    ],
    [
      'resource template "note:///{a}": handler is the last argument: put an object with mimeType into the definition, as in server.resourceTemplate(uriTemplate, { name, description }, handler)',
      (server) => server.resourceTemplate("note:///{a}", {}, run, { mimeType: "text/plain" }),
    ],
    [
      'method "acme/x": handler is the last argument: put an object with scopes into the definition, as in server.method(name, { params, result }, handler)',
      (server) => server.method("acme/x", {}, run, { scopes: ["a"] }),
    ],
    [
      'server.completion: handler must be a function, not "city": for one argument, set complete in the definition of its prompt',
      (server) => server.completion("city", run),
    ],
    [
      'tool "x": requires must be an object such as { sampling: {} }, not ["sampling"]',
      (server) => server.tool("x", { requires: ["sampling"] }, run),
    ],
    [
      'result(): options must be an object such as { content: "Done" }, not "ok"',
      () => result("ok" as Untyped),
    ],
  ])("%s", (message, write) => {
    expect(() => write(makeServer().server)).toThrow(expect.objectContaining({ message }));
  });

  test("an update keeps the title that resources call name", () => {
    const { server } = makeServer();
    expect(() => server.resource("note:///a", {}, run).update({ name: "A" })).not.toThrow();
  });

  test("a scheme may have one letter", () => {
    expect(() => resource("n:///a")(makeServer().server)).not.toThrow();
  });

  test("a list with commas and an exploded query are templates", () => {
    for (const uri of ["note:///{tags*}", "file:///a{?path*}", "note:///{/path*}"])
      expect(() => template(uri)(makeServer().server)).not.toThrow();
  });
});

describe("a mistake in a result", () => {
  const invalid = "Tool t returned an invalid result:";
  const types = "one of text, image, audio, resource_link, resource";
  const send = "which JSON has not: send null or a string";
  const mismatch = "Tool t returned a value that does not match its output schema:";
  test.each<[message: string, definition: object, returned: unknown]>([
    [`${invalid} content[0].type must be ${types}, not "img"`, {}, [{ type: "img", url: "a" }]],
    [
      `${invalid} content[0].data is missing: write data and mimeType instead of source`,
      {},
      [{ type: "image", source: { type: "base64", media_type: "image/png", data: "" } }],
    ],
    [
      `${invalid} it is an object with isError, message: throw new ToolError(message), or return a string, content blocks, { content } or result({ … }), or set output`,
      {},
      { isError: true, message: "No such city" },
    ],
    [
      `${invalid} structuredContent.n is Infinity, ${send}`,
      { output: { type: "object" }, validateOutput: false },
      { n: Infinity },
    ],
    [`${invalid} structuredContent.list[1] is NaN, ${send}`, {}, { structuredContent: { list: [1, NaN] } }],
    [
      `${mismatch} must be an object, not a string; return the value that output describes, or result({ content, structured }) to add a text`,
      { output: { type: "object", properties: { celsius: { type: "number" } } } },
      "21 degrees",
    ],
    [
      `${mismatch} must be an object, not a string; it is a JSON text: return the value itself`,
      { output: { type: "object" } },
      '{"n":1}',
    ],
  ])("%s", async (message, definition, returned) => {
    const { server, log } = makeServer();
    server.tool("t", definition as Untyped, () => returned as Untyped);
    await call(await open(newest, server), "t").catch(() => {});
    expect(lastOf(log)).toBe(message);
  });

  test("a list of a template that has texts", async () => {
    const { server, log } = makeServer();
    server.resourceTemplate("note:///{name}", { list: (): Untyped => ["note:///a"] }, run);
    await (await open(newest, server)).request("resources/list").catch(() => {});
    expect(lastOf(log)).toBe(
      'list of resource template "note:///{name}" must return a list of resources such as { uri, name }',
    );
  });
});

class Weather {
  readonly #cities = ["Oslo"];
  cities = ["Oslo"];
  list(): string {
    return this.cities.join();
  }
  async listLater(): Promise<string> {
    return this.cities.join();
  }
  listPrivate(): string {
    return this.#cities.join();
  }
}

describe("a mistake in a handler", () => {
  const method = "if the handler is a method, pass (args, ctx) => object.method(args, ctx)";
  const { list, listLater, listPrivate } = Weather.prototype;

  test.each<[name: string, register: (server: McpServer, handler: Untyped) => void]>([
    ["tool", (server, handler) => server.tool("t", {}, handler)],
    ["prompt", (server, handler) => server.prompt("t", {}, handler)],
    ["resource", (server, handler) => server.resource("note:///t", {}, handler)],
  ])("a method as the handler of a %s has no receiver, and the log says so", async (kind, register) => {
    const requests: Record<string, [string, object]> = {
      tool: ["tools/call", { name: "t" }],
      prompt: ["prompts/get", { name: "t" }],
      resource: ["resources/read", { uri: "note:///t" }],
    };
    for (const handler of [list, listLater, listPrivate]) {
      const { server, log } = makeServer();
      register(server, handler);
      const [request, params] = requests[kind] as [string, Untyped];
      await (await open(newest, server)).request(request, params).catch(() => {});
      expect(log.at(-1)?.message).toMatch(/^[a-z/]+ failed \(error id \w+\): /);
      expect(log.at(-1)?.message.endsWith(`: ${method}`)).toBe(true);
    }
  });

  test.each<[name: string, handler: Untyped]>([
    ["input", ({ input }: Untyped) => input.city],
    ["ctx", async ({ ctx }: Untyped) => ctx.log("info", "a")],
    ["input", ({ input, ctx }: Untyped) => `${input.city} ${ctx.id}`],
  ])("a handler that takes one object with %s", async (member, handler) => {
    const { server, log } = makeServer();
    server.tool("t", { input: z.object({ city }) }, handler);
    await call(await open(newest, server), "t", { city: "Oslo" });
    expect(log.at(-1)?.message).toMatch(/ failed \(error id \w+\): /);
    expect(log.at(-1)?.message.endsWith(`: a handler gets (args, ctx), and not { ${member} }`)).toBe(true);
  });

  test("the log adds nothing to another TypeError", async () => {
    class Server {
      missing: Untyped = undefined;
      list = (): string => this.missing.join();
    }
    const handlers: Untyped[] = [
      new Server().list,
      (args: Untyped) => args.a.b.c,
      ({ input }: Untyped) => input.a.b,
      new Weather().list.bind(undefined as Untyped),
      function (this: Untyped, _: Untyped, ctx: Untyped) {
        return [this, ctx.notify()];
      },
    ];
    for (const handler of handlers) {
      const { server, log } = makeServer();
      server.tool("t", { input: { type: "object" } }, handler);
      await call(await open(newest, server), "t", { a: {}, input: {} });
      expect(log.at(-1)?.message).toMatch(/ failed \(error id \w+\)$/);
    }
  });

  test("next(request)", async () => {
    const { server, log } = makeServer();
    server.tool("t", {}, run);
    server.use("tools/call", (request, _, next) => next(request as Untyped));
    await call(await open(newest, server), "t").catch(() => {});
    expect(lastOf(log)).toBe("next() takes members to add to ctx, not the request: call next()");
  });
});
