// Capabilities: derived from what is registered, declared ahead where that comes later, cut to what a revision knows.
import { McpServer, type ServerOptions } from "halyard";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { cells, describeMatrix, type Cell } from "../../support/matrix.ts";
import { initializeRequest, legacyDates, newestLegacy, newestModern, RawPeer } from "../../support/raw.ts";

const make = (options?: ServerOptions): McpServer =>
  new McpServer({ name: "test", version: "1.0.0" }, options);

/** The capabilities as a client of that cell is told of them. */
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
      "resources/read",
    ]) {
      await expect(client.request(method, { name: "x", uri: "test://a" }), method).rejects.toMatchObject({
        code: -32601,
      });
    }
    const push = cell.era === "modern" ? "subscriptions/listen" : "resources/subscribe";
    await expect(client.request(push, { uri: "test://a", notifications: {} })).rejects.toMatchObject({
      code: -32601,
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

describe.each(legacyDates)("a first registration after an initialize with %s", (date) => {
  const kinds = [
    ["tools", (server: McpServer, n: number) => server.tool(`t${n}`, {}, () => "t")],
    ["prompts", (server: McpServer, n: number) => server.prompt(`p${n}`, {}, () => "p")],
    ["resources", (server: McpServer, n: number) => server.resource(`test://${n}`, {}, () => "a")],
    [
      "resources",
      (server: McpServer, n: number) => server.resourceTemplate(`test://${n}/{a}`, {}, () => "a"),
    ],
  ] as const;

  test.each(kinds)("of %s warns once, and names the remedy", async (list, register) => {
    const logger = recordingLogger();
    const server = make({ logger });
    await new RawPeer(server, date).say(initializeRequest(1, date));
    register(server, 1);
    register(server, 2);
    const warnings = logger.entries.filter(({ level }) => level === "warn");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain(list);
    expect(warnings[0]?.message).toContain(`capabilities: { ${list}: true }`);
  });

  test.each(kinds)(
    "of %s is expected where it was declared, or where one was there before",
    async (list, register) => {
      const logger = recordingLogger();
      const declared = make({ logger, capabilities: { [list]: true } });
      const early = make({ logger });
      register(early, 0);
      for (const server of [declared, early]) {
        await new RawPeer(server, date).say(initializeRequest(1, date));
        register(server, 1);
      }
      expect(logger.entries.filter(({ level }) => level === "warn")).toEqual([]);
    },
  );
});

describe.each(cells({ eras: ["modern"] }))(
  "a first registration after a discover · $revision · $transport",
  (cell) => {
    test("warns of nothing: a modern client asks again", async () => {
      const logger = recordingLogger();
      const server = make({ logger });
      const client = await cell.connect(server);
      await client.request("server/discover");
      server.tool("t", {}, () => "t");
      expect(await client.request("server/discover")).toMatchObject({ capabilities: { tools: {} } });
      expect(logger.entries.filter(({ level }) => level === "warn")).toEqual([]);
      await client.close();
    });
  },
);
