// Several servers at once: outcomes, tools under prefixes, and a dead server that breaks nothing.
import { McpServer } from "halyard";
import { ConnectionLost, connectAll, type McpClients } from "halyard/client";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { Refuse, said, ScriptedServer } from "../support/scripted-wire.ts";

function toolServer(name: string, ...tools: readonly string[]): McpServer {
  const server = new McpServer({ name, version: "1.0.0" });
  for (const tool of tools) server.tool(tool, {}, () => `${name} ran ${tool}`);
  return server;
}

/** A server whose tools have names that ours would refuse. */
function oddServer(...names: readonly string[]): ScriptedServer {
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
  return new ScriptedServer({ capabilities: { tools: {} } })
    .on("tools/list", () => ({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" }))
    .on("tools/call", ({ params }) => said(String(params?.["name"])));
}

async function opened(...given: Parameters<typeof connectAll>): Promise<McpClients> {
  const clients = await connectAll(...given);
  onTestFinished(() => clients.close());
  return clients;
}

async function textOf(clients: McpClients, name: string): Promise<unknown> {
  const { content } = await clients.callTool(name);
  return content[0]?.type === "text" ? content[0].text : undefined;
}

const namesOf = async (clients: McpClients): Promise<string[]> =>
  (await clients.tools()).tools.map(({ name }) => name);

/** An address where no server listens. */
const nowhere = "http://127.0.0.1:9/mcp";
const impatient = { backoff: { firstMs: 1, maxMs: 1, maxAttempts: 1 } };

describe("connectAll", () => {
  test("puts the tools of all servers under the configured names, not under those that servers claim [TOOL-NAME-AGGREGATE, TOOL-NAME-NO-SERVERINFO]", async () => {
    const http = await serveHttp(toolServer("same", "search", "list"), { port: 0 });
    onTestFinished(() => http.close());
    const clients = await opened({ notes: http.url, files: toolServer("same", "search") });
    const { tools, errors } = await clients.tools();
    expect(tools.map(({ name, server, toolName }) => [name, server, toolName])).toEqual([
      ["notes_search", "notes", "search"],
      ["notes_list", "notes", "list"],
      ["files_search", "files", "search"],
    ]);
    expect(errors.size).toBe(0);
    for (const { name, toolName } of tools) expect(await textOf(clients, name)).toBe(`same ran ${toolName}`);
    expect(clients.client("notes").server?.name).toBe("same");
  });

  test("works without the servers that are dead, and says why and how long each took", async () => {
    const targets = {
      dead: nowhere,
      absent: { command: "no-such-command-anywhere" },
      alive: toolServer("a", "run"),
    };
    const clients = await opened(targets, impatient);
    expect([...clients.outcomes].map(([name, { ok }]) => [name, ok])).toEqual([
      ["dead", false],
      ["absent", false],
      ["alive", true],
    ]);
    for (const { durationMs } of clients.outcomes.values()) expect(durationMs).toBeGreaterThanOrEqual(0);
    const { tools, errors } = await clients.tools();
    expect(tools.map(({ name }) => name)).toEqual(["alive_run"]);
    expect([...errors.keys()]).toEqual(["dead", "absent"]);
    expect(errors.get("dead")).toBeInstanceOf(ConnectionLost);
    expect(await textOf(clients, "alive_run")).toBe("a ran run");
    await expect(clients.callTool("dead_run")).rejects.toBeInstanceOf(ConnectionLost);
    await expect(clients.callTool("absent_run")).rejects.toMatchObject({ name: "CannotStart" });
  });

  test("lists the tools of the others if one cannot list its own", async () => {
    const broken = oddServer().on("tools/list", () => {
      throw new Refuse(-32603, "Out of order");
    });
    const clients = await opened({ broken, alive: toolServer("a", "run") });
    const { tools, errors } = await clients.tools();
    expect(tools.map(({ name }) => name)).toEqual(["alive_run"]);
    expect(errors.get("broken")).toMatchObject({ message: "Out of order" });
  });

  test("does not wait for a slow server longer than its options allow", async () => {
    const silent = { openWire: () => ({ send() {}, onMessage() {}, onClose() {}, close: async () => {} }) };
    const options = { servers: { silent: { connectTimeoutMs: 20 } } };
    const clients = await opened({ silent, alive: toolServer("a", "run") }, options);
    expect(clients.outcomes.get("silent")).toMatchObject({ ok: false, error: { limit: "connectTimeoutMs" } });
    expect(await namesOf(clients)).toEqual(["alive_run"]);
  });

  test("tries dead servers again when asked", async () => {
    const late = oddServer("run");
    const state = { isUp: false };
    const target = {
      openWire: () => {
        if (!state.isUp) throw new Error("Not started yet");
        return late.openWire();
      },
    };
    const clients = await opened({ late: target, alive: toolServer("a", "run") }, impatient);
    const alive = clients.client("alive");
    expect(clients.outcomes.get("late")?.ok).toBe(false);
    state.isUp = true;
    await clients.retry();
    expect(await namesOf(clients)).toEqual(["late_run", "alive_run"]);
    expect(clients.client("alive")).toBe(alive);
  });

  test("keeps names within what models accept, always the same, never two alike, and maps them back [TOOL-NAME-AGGREGATE]", async () => {
    const long = "a".repeat(128);
    const names = [
      long,
      `${long.slice(1)}b`,
      "with space",
      "with.space",
      "with-space",
      "päth/ü",
      "list-organizations",
    ];
    const clients = await opened({ odd: oddServer(...names), [`s${"x".repeat(31)}`]: oddServer(...names) });
    const { tools } = await clients.tools();
    expect(new Set(tools.map(({ name }) => name)).size).toBe(2 * names.length);
    for (const { name, toolName } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(await textOf(clients, name)).toBe(toolName);
    }
    expect(tools.map(({ name }) => name)).toContain("odd_list-organizations");
    const cold = await opened({ odd: oddServer(...names.toReversed()) });
    for (const { name, server, toolName } of tools) {
      if (server === "odd") expect(await textOf(cold, name)).toBe(toolName);
    }
  });

  test("renames a tool that pretends to be a shortened one", async () => {
    const long = "a".repeat(128);
    const [shortened] = await namesOf(await opened({ odd: oddServer(long) }));
    const pretender = shortened!.slice("odd_".length);
    const clients = await opened({ odd: oddServer(pretender, long) });
    const { tools } = await clients.tools();
    expect(tools.map(({ toolName }) => toolName)).toEqual([pretender, long]);
    expect(tools[1]?.name).toBe(shortened);
    expect(tools[0]?.name).not.toBe(shortened);
    expect(await textOf(clients, tools[0]!.name)).toBe(pretender);
    await expect(clients.callTool("odd_gone-0123456789abcdef")).rejects.toThrow("is not a tool of odd");
  });

  test("rewrites names of servers that cannot begin the name of a tool, and those that begin like others", async () => {
    const names = ["a", "a_b", "io.github.ada/notes", "my server", "my-server", "x".repeat(33), "", "ключ"];
    const targets = Object.fromEntries(names.map((name) => [name, toolServer(`<${name}>`, "b_c", "c")]));
    const clients = await opened(targets);
    const { tools } = await clients.tools();
    expect(tools.map(({ server }) => server)).toEqual(names.flatMap((name) => [name, name]));
    expect(new Set(tools.map(({ name }) => name)).size).toBe(2 * names.length);
    for (const { name, server, toolName } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(await textOf(clients, name)).toBe(`<${server}> ran ${toolName}`);
    }
    expect(tools.slice(0, 2).map(({ name }) => name)).toEqual(["a_b_c", "a_c"]);
    expect(tools[4]?.name).toMatch(/^io-github-ada-n-[0-9a-f]{16}_b_c$/);
    const again = await namesOf(await opened(targets));
    expect(again).toEqual(tools.map(({ name }) => name));
  });

  test("rewrites a name that pretends to be a rewritten one", async () => {
    const [shown] = await namesOf(await opened({ "my server": toolServer("x", "run") }));
    const pretender = shown!.slice(0, -"_run".length);
    const clients = await opened({
      "my server": toolServer("mine", "run"),
      [pretender]: toolServer("theirs", "run"),
      [`${pretender}_x`]: toolServer("others", "run"),
    });
    expect(await textOf(clients, shown!)).toBe("mine ran run");
    expect(new Set(await namesOf(clients)).size).toBe(3);
  });

  test("takes apart names with underscores", async () => {
    const clients = await opened({
      my_notes: toolServer("a", "full_text_search"),
      mine: toolServer("b", "x"),
    });
    expect(await textOf(clients, "my_notes_full_text_search")).toBe("a ran full_text_search");
    await expect(clients.callTool("my_x")).rejects.toThrow(
      'callTool: "my_x" is of no server: pass a name that tools() returns, which begins with one of my_notes_, mine_',
    );
    expect(() => clients.client("yours")).toThrow(/choose from my_notes, mine/);
  });

  test("throws for mistakes in options, whichever server they are for, and leaves nothing open", async () => {
    const server = new ScriptedServer();
    let open = 0;
    const alive = {
      openWire: () => {
        const wire = server.openWire();
        const close = wire.close.bind(wire);
        open++;
        return Object.assign(wire, { close: () => (open--, close()) });
      },
    };
    await expect(connectAll({ alive }, { servers: { alife: {} } })).rejects.toThrow(/did you mean alive/);
    await expect(connectAll({ alive }, { timeoutMS: 5 } as object)).rejects.toThrow(/did you mean timeoutMs/);
    expect(server.ends).toHaveLength(0);
    const capabilities = { extensions: { "no prefix": {} } };
    await expect(
      connectAll({ alive, other: alive }, { servers: { other: { capabilities } } }),
    ).rejects.toThrow(/^connect: capabilities\.extensions\["no prefix"\]/);
    expect(server.ends).toHaveLength(1);
    const headers = { "Mcp-Session-Id": "mine" };
    await expect(connectAll({ alive, other: { url: nowhere } }, { headers })).rejects.toThrow(
      "client: headers must not contain Mcp-Session-Id, which the transport sets: remove it",
    );
    expect(server.ends).toHaveLength(2);
    expect(open).toBe(0);
  });

  test("gives servers their own options, and closes all", async () => {
    const one = new ScriptedServer();
    const other = new ScriptedServer();
    const info = { name: "mine", version: "2.0.0" };
    const lines: string[] = [];
    const clients = await connectAll(
      { one, other },
      { info, servers: { other: { record: (line) => void lines.push(line) } } },
    );
    expect(lines.length).toBeGreaterThan(0);
    for (const server of [one, other]) expect(JSON.stringify(server.received)).toContain('"mine"');
    await clients[Symbol.asyncDispose]();
    for (const name of ["one", "other"]) expect(clients.client(name).state.name).toBe("closed");
  });
});
