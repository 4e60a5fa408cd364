// The names that other packages give to what a server does: each throws and says what to write here, and none is seen otherwise.
import { inspect } from "node:util";
import { McpServer as SecondMcpServer, Server as SecondServer } from "@modelcontextprotocol/server";
import { Server as FirstServer } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer as FirstMcpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { FastMCP } from "fastmcp";
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { describe, expect, test } from "vitest";

type Untyped = Record<string, (...given: unknown[]) => unknown>;

const makeServer = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });

/** Methods that are not meant for authors, or have nothing to do with serving. */
const internal =
  /^(constructor|_.*|assert.*|create(Tool)Error|validateTool.*|execute.*|handle.*|set(Tool|Completion|Resource|Prompt)Request.*|buildContext|projectCallToolResult|toolInputSchemaJson|transport|serverState|requestStream|requestTaskStore|(get|list|cancel)Task.*)$/;

function publicNames({ prototype }: { readonly prototype: object }): string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => !internal.test(name));
}

const others = { FirstMcpServer, FirstServer, SecondMcpServer, SecondServer, FastMCP };

describe("a name of another package", () => {
  test.each(Object.entries(others).flatMap(([of, type]) => publicNames(type).map((name) => [of, name])))(
    "%s.%s is a method here, or throws and names what replaces it",
    (_, name) => {
      const server = makeServer() as unknown as Untyped;
      if (["tool", "resource", "prompt"].includes(name as string)) return;
      expect(() => server[name as string]?.()).toThrow(
        new RegExp(`^McpServer has no ${name}(?:\\(\\))?: use `),
      );
      expect(() => server[name as string]?.()).toThrow(TypeError);
    },
  );

  test.each<[written: string, message: string, use: (server: Untyped) => unknown]>([
    [
      "server.registerTool(…)",
      "McpServer has no registerTool(): use server.tool(name, { description, input }, handler)",
      (server) => server["registerTool"]?.("x", {}, () => ""),
    ],
    [
      "server.connect(transport)",
      "McpServer has no connect(): use serveStdio(server) of halyard/stdio, or serveHttp(server, { port }) of halyard/node",
      (server) => server["connect"]?.({}),
    ],
    [
      "server.listen(3000)",
      "McpServer has no listen(): use serveStdio(server) of halyard/stdio, or serveHttp(server, { port }) of halyard/node",
      (server) => server["listen"]?.(3000),
    ],
    [
      "server.server.elicitInput(…)",
      "McpServer has no elicitInput(): use ctx.elicit(message, schema) in a handler",
      (server) => (server["server"] as unknown as Untyped)["elicitInput"]?.({}),
    ],
    [
      "server.server.oninitialized = …",
      "McpServer has no oninitialized: use server.onInitialized(handler)",
      (server) => ((server["server"] as unknown as Untyped)["oninitialized"] = () => {}),
    ],
    [
      "server.sessions.length",
      "McpServer has no sessions: use server.push.sessions(), or ctx.session in a handler",
      (server) => server["sessions"]?.length,
    ],
    [
      "server.sendResourceListChanged()",
      "McpServer has no sendResourceListChanged(): use nothing: clients are notified of every change, except for the list of a template: server.resources.listChanged()",
      (server) => server["sendResourceListChanged"]?.(),
    ],
  ])("%s", (_, message, use) => {
    expect(() => use(makeServer() as unknown as Untyped)).toThrow(new TypeError(message));
  });

  test("is not seen by who looks at a server", async () => {
    const server = makeServer();
    const own = ["info", "tools", "prompts", "resources", "resourceTemplates", "push", "cluster"];
    expect(Object.keys(server)).toEqual(own);
    const enumerable: string[] = [];
    for (const name in server) enumerable.push(name);
    expect(enumerable).toEqual(own);
    expect({ ...server }).not.toHaveProperty("server");
    expect(inspect(server)).toMatch(/^McpServer \{/);
    expect(inspect(server, { showHidden: true, getters: true })).toContain("McpServer {");
    expect(Object.getOwnPropertyNames(McpServer.prototype)).not.toContain("server");
    expect(await server).toBe(server);
    expect(server).toEqual(server);
    expect(server).not.toEqual(new McpServer({ name: "other", version: "1.0.0" }));
    expect(JSON.parse(JSON.stringify(server))).toMatchObject({ info: { name: "test" } });
    expect(() => structuredClone(server)).toThrow(/could not be cloned/);
    server.tool("x", {}, () => "found");
    const client = await connect(server);
    expect((await client.callTool("x")).content).toEqual([{ type: "text", text: "found" }]);
    await client.close();
  });

  test("is free for a subclass, by a method or by an assignment", () => {
    class Own extends McpServer {
      declare readonly sessions: Map<string, string>;
      declare readonly server: string;
      declare readonly start: () => string;

      constructor() {
        super({ name: "own", version: "1.0.0" });
        Object.assign(this, { sessions: new Map(), server: "mine", start: () => "started" });
      }

      close(): string {
        return "closed";
      }
    }
    const own = new Own();
    expect([own.close(), own.start(), own.server, own.sessions.size]).toEqual([
      "closed",
      "started",
      "mine",
      0,
    ]);
    expect(() => (makeServer() as unknown as Untyped)["close"]?.()).toThrow(TypeError);
  });
});
