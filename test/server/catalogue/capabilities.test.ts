// Capabilities: derived from what is registered, declared ahead where that comes later, cut to what a revision knows.
import { McpServer, type ServerOptions } from "halyard";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { type Cell, describeMatrix } from "../../support/matrix.ts";
import { newestLegacy, newestModern } from "../../support/raw.ts";
import { nextTurn } from "../../support/turns.ts";

const make = (options?: ServerOptions): McpServer =>
  new McpServer({ name: "test", version: "1.0.0" }, options);

/** The capabilities that a client of that cell receives. */
async function told(cell: Cell, server: McpServer): Promise<Record<string, unknown>> {
  const client = await cell.connect(server, { handshake: false });
  const { capabilities } =
    cell.era === "modern" ? await client.request("server/discover") : ((await client.open()) ?? {});
  await client.close();
  return capabilities as Record<string, unknown>;
}

const pushes = { listChanged: true };

describeMatrix("capabilities", {}, (cell) => {
  test("of an empty server are the log alone", async () => {
    expect(await told(cell, make())).toEqual({ logging: {} });
    expect(await told(cell, make({ capabilities: { logging: false } }))).toEqual({});
  });

  test.each([
    ["a tool", (server: McpServer) => server.tool("t", {}, () => "t"), { tools: pushes }],
    ["a prompt", (server: McpServer) => server.prompt("p", {}, () => "p"), { prompts: pushes }],
    [
      "a resource",
      (server: McpServer) => server.resource("test://a", {}, () => "a"),
      { resources: { subscribe: true, ...pushes } },
    ],
    [
      "a resource template",
      (server: McpServer) => server.resourceTemplate("test://{a}", {}, () => "a"),
      { resources: { subscribe: true, ...pushes } },
    ],
  ])(
    "follow from %s, also once it has been disabled or removed again [VER-CAP-SERVER-ADVERTISE]",
    async (_, register, expected) => {
      const server = make();
      const handle = register(server);
      expect(await told(cell, server)).toEqual({ ...expected, logging: {} });
      handle.disable();
      expect(await told(cell, server)).toEqual({ ...expected, logging: {} });
      handle.remove();
      expect(await told(cell, server)).toEqual({ ...expected, logging: {} });
    },
  );

  test("have completions from any completer, where the revision knows the word [INIT-CAPS-COMPLETIONS-SINCE, VER-CAP-SERVER-ADVERTISE]", async () => {
    const properties = { who: { type: "string" } };
    const withPrompt = make();
    const complete = { who: () => ["you"] };
    withPrompt.prompt("p", { arguments: { type: "object", properties }, complete }, () => "p");
    const withTemplate = make();
    withTemplate.resourceTemplate("test://{id}", { complete: { id: () => ["1"] } }, () => "a");
    const withHandler = make().completion(() => []);
    const declared = make({ capabilities: { completions: true } });
    for (const server of [withPrompt, withTemplate, withHandler, declared]) {
      const known = cell.revision >= "2025-03-26" ? {} : undefined;
      expect((await told(cell, server))["completions"]).toEqual(known);
    }
    expect(await told(cell, make())).not.toHaveProperty("completions");
  });

  test("can be declared ahead, and then the lists are there, and empty", async () => {
    const declared = { tools: true, prompts: true, resources: true, completions: true } as const;
    const server = make({ capabilities: declared });
    expect(await told(cell, server)).toMatchObject({
      tools: pushes,
      prompts: pushes,
      resources: { subscribe: true, ...pushes },
    });
    const client = await cell.connect(server);
    expect(await client.request("tools/list")).toMatchObject({ tools: [] });
    expect(await client.request("prompts/list")).toMatchObject({ prompts: [] });
    expect(await client.request("resources/list")).toMatchObject({ resources: [] });
    await expect(client.request("tools/call", { name: "x" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  test("can be declared as the official SDK writes them, and then are the same", async () => {
    const official = {
      tools: { listChanged: true },
      prompts: {},
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
      experimental: { holograms: {} },
      extensions: { "com.example/clock": { precision: 3 } },
    };
    const short = {
      tools: true,
      prompts: true,
      resources: true,
      completions: true,
      logging: true,
      experimental: { holograms: {} },
    } as const;
    const other = make({ capabilities: short });
    other.extension("com.example/clock", { settings: { precision: 3 } });
    const server = make({ capabilities: official });
    expect(await told(cell, server)).toEqual(await told(cell, other));
    const client = await cell.connect(server);
    expect(await client.request("tools/list")).toMatchObject({ tools: [] });
    await client.close();
  });

  test("carry what is experimental as it is [INIT-CAPS-OPEN-SET]", async () => {
    const experimental = { holograms: { depth: 3 } };
    expect(await told(cell, make({ capabilities: { experimental } }))).toMatchObject({ experimental });
  });

  test("name extensions to modern clients alone [INIT-CAPS-EXTENSIONS-NOT-LEGACY]", async () => {
    const server = make().extension("com.example/clock");
    expect((await told(cell, server))["extensions"]).toEqual(
      cell.era === "modern" ? { "com.example/clock": {} } : undefined,
    );
  });

  test("are what server.capabilities() says for that revision", async () => {
    const server = make()
      .completion(() => [])
      .extension("com.example/clock");
    server.tool("t", {}, () => "t");
    server.resource("test://a", {}, () => "a");
    expect(server.capabilities(cell.revision)).toEqual(await told(cell, server));
  });

  test("that are not there are methods that are not there [BASE-ERR-32601-CAP-GATED, INIT-RESPECT-CAPS]", async () => {
    const client = await cell.connect(make({ capabilities: { logging: false } }));
    for (const method of [
      "tools/list",
      "tools/call",
      "prompts/list",
      "prompts/get",
      "resources/list",
      "resources/templates/list",
      "resources/read",
    ]) {
      const kind = method.split("/")[0];
      await expect(client.request(method, { name: "x", uri: "test://a" }), method).rejects.toMatchObject({
        code: -32601,
        message: `This server has no ${kind}: ${method} is not available`,
      });
    }
    const [push, lacking] =
      cell.era === "modern"
        ? ["subscriptions/listen", "tools, prompts or resources"]
        : ["resources/subscribe", "resources"];
    await expect(client.request(push, { uri: "test://a", notifications: {} })).rejects.toMatchObject({
      code: -32601,
      message: `This server has no ${lacking}: ${push} is not available`,
    });
    await client.close();
  });
});

describe("a capability that cannot be declared", () => {
  test.each<[object, string]>([
    [{ tools: false }, "server: capabilities.tools must be true, an object, or left out, not false"],
    [
      { resources: { listChanged: false } },
      "server: capabilities.resources.listChanged must be true, or left out: the server announces changes itself, not false",
    ],
    [
      { tools: { listChange: true } },
      "server: capabilities.tools.listChange is not an option: did you mean listChanged?",
    ],
    [
      { tasks: { list: {} } },
      "server: capabilities.tasks must be left out: it follows from tools that have `task`",
    ],
    [{ sampling: {} }, "server: capabilities.sampling must be left out: clients declare it, not servers"],
    [
      { extensions: { "io.modelcontextprotocol/tasks": {} } },
      "server: capabilities.extensions must be an object with an object for each extension; leave out io.modelcontextprotocol/tasks: it follows from tools that have `task`",
    ],
    [{ extensions: { clock: {} } }, 'extension "clock": identifier must have the form vendor.prefix/name'],
    [{ logging: "info" }, 'server: capabilities.logging must be true, false or an object, not "info"'],
  ])("throws at the start: %j", (capabilities, message) => {
    expect(() => make({ capabilities })).toThrow(message);
  });
});

describe("server.capabilities()", () => {
  test("speaks of the newest revision by default", () => {
    const server = make().extension("com.example/clock");
    expect(server.capabilities()).toEqual(server.capabilities(newestModern));
    expect(server.capabilities()).not.toEqual(server.capabilities(newestLegacy));
  });

  test("knows every revision and no other", () => {
    for (const { date } of protocolRevisions) expect(make().capabilities(date)).toEqual({ logging: {} });
    expect(() => make().capabilities("1999-12-31")).toThrow(RangeError);
    expect(() => make().capabilities("__proto__")).toThrow(RangeError);
  });
});

describeMatrix("a capability that appears after a client has asked", {}, (cell) => {
  const properties = { who: { type: "string" } };
  const kinds: [what: string, remedy: string, add: (server: McpServer, n: number) => unknown][] = [
    ["tools", "tools: true", (server, n) => server.tool(`t${n}`, {}, () => "t")],
    ["prompts", "prompts: true", (server, n) => server.prompt(`p${n}`, {}, () => "p")],
    ["resources", "resources: true", (server, n) => server.resource(`test://${n}`, {}, () => "a")],
    [
      "resources",
      "resources: true",
      (server, n) => server.resourceTemplate(`test://${n}/{a}`, {}, () => "a"),
    ],
    ["completions", "completions: true", (server) => server.completion(() => [])],
  ];

  const warningsOf = async (server: McpServer, logger: ReturnType<typeof recordingLogger>) => {
    await nextTurn();
    return logger.entries.filter(({ level }) => level === "warn").map(({ message }) => message);
  };

  test.each(kinds)("is warned about once, with the remedy: %s", async (what, remedy, add) => {
    const logger = recordingLogger();
    const server = make({ logger });
    await told(cell, server);
    add(server, 1);
    add(server, 2);
    await nextTurn();
    add(server, 3);
    const expected = `Clients that asked before do not know that the server has ${what}: pass { capabilities: { ${remedy} } } to the McpServer constructor`;
    expect(await warningsOf(server, logger)).toEqual([expected]);
    await told(cell, server);
    add(server, 4);
    expect(await warningsOf(server, logger)).toEqual([expected]);
  });

  test.each(kinds)(
    "is expected where it was declared, or where one was there before: %s",
    async (what, _, add) => {
      const logger = recordingLogger();
      const declared = make({ logger, capabilities: { [what]: true } });
      const early = make({ logger });
      add(early, 0);
      for (const server of [declared, early]) {
        await told(cell, server);
        add(server, 1);
        expect(await warningsOf(server, logger)).toEqual([]);
      }
    },
  );

  test("may be a completer, an extension, or tasks", async () => {
    const logger = recordingLogger();
    const server = make({ logger, capabilities: { tools: true, prompts: true } });
    await told(cell, server);
    server.prompt("p", { arguments: { type: "object", properties }, complete: { who: () => [] } }, () => "p");
    server.extension("com.example/clock");
    server.tool("t", { task: "optional" }, () => "t");
    const before = "Clients that asked before do not know that the server has";
    expect(await warningsOf(server, logger)).toEqual([
      `${before} completions: pass { capabilities: { completions: true } } to the McpServer constructor`,
      `${before} the extension com.example/clock: add it before the first client connects`,
      `${before} the extension io.modelcontextprotocol/tasks: add it before the first client connects`,
    ]);
  });
});
