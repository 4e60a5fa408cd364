// connectAll with the entries of configuration files as they stand: variables, headers, wrong entries, and which server it was.
import { McpServer } from "halyard";
import {
  type Change,
  connect,
  type ConnectAllOptions,
  connectAll,
  type FromServer,
  type McpClients,
  type ServerTargets,
} from "halyard/client";
import { serveHttp } from "halyard/node";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { until } from "../support/turns.ts";

/** A stdio server that tells what it was started with. */
const script = `
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
const server = new McpServer({ name: "started", version: "1.0.0" });
const { TOKEN, PLAIN } = process.env;
server.tool("told", {}, () => JSON.stringify({ args: process.argv.slice(1), TOKEN, PLAIN, cwd: process.cwd() }));
server.tool("die", {}, () => process.exit(3));
await serveStdio(server);
`;
const node = { command: process.execPath, args: ["--input-type=module", "-e", script] };

async function opened(
  targets: Parameters<typeof connectAll>[0],
  options?: ConnectAllOptions,
): Promise<McpClients> {
  const clients = await connectAll(targets, options);
  onTestFinished(() => clients.close());
  return clients;
}

/** The headers of each request to a server in place of the network. */
function network(): { readonly fetch: typeof fetch; readonly seen: [url: string, headers: Headers][] } {
  const seen: [string, Headers][] = [];
  const answer: typeof fetch = async (url, init) => {
    seen.push([String(url), new Headers(init?.headers)]);
    const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
    const { id } = JSON.parse(init?.body as string) as { id: unknown };
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  return { fetch: answer, seen };
}

async function toldBy(clients: McpClients, name: string): Promise<unknown> {
  const { content } = await clients.callTool(name);
  return JSON.parse(content[0]?.type === "text" ? content[0].text : "");
}

/** The message of the error of a server. */
function problemOf(clients: McpClients, name: string): string {
  const outcome = clients.outcomes.get(name);
  return outcome?.ok === false ? (outcome.error as Error).message : `${name} has no error`;
}

/** Everything that an error shows, its causes too. */
function allOf(error: unknown): string {
  const { message, stack, cause, ...fields } = error as Error;
  return [message, stack, JSON.stringify(fields), cause ? allOf(cause) : ""].join("\n");
}

const secret = "sk-4f9a81c2e77b05d3";

afterEach(() => vi.unstubAllEnvs());

describe("an entry of mcpServers", () => {
  test("starts a command with its arguments, variables and folder", async () => {
    vi.stubEnv("ENTRY_TOKEN", secret);
    vi.stubEnv("ENTRY_EMPTY", "");
    const clients = await opened({
      started: {
        type: "stdio",
        ...node,
        args: [
          ...node.args,
          "${ENTRY_PORT:-8080}",
          "${ENTRY_EMPTY:-full}",
          "${env:ENTRY_TOKEN}",
          "${#x} $HOME",
        ],
        env: { TOKEN: "Bearer ${ENTRY_TOKEN}", PLAIN: "as it is" },
        cwd: "${ENTRY_FOLDER:-.}",
      },
    });
    expect(await toldBy(clients, "started_told")).toEqual({
      args: ["8080", "", secret, "${#x} $HOME"],
      TOKEN: `Bearer ${secret}`,
      PLAIN: "as it is",
      cwd: process.cwd(),
    });
  });

  test("connects to a URL with its headers, whichever type says HTTP", async () => {
    vi.stubEnv("ENTRY_TOKEN", secret);
    vi.stubEnv("ENTRY_HOST", "mcp.example.com");
    const { fetch, seen } = network();
    const url = "https://${ENTRY_HOST}/mcp";
    const headers = { Authorization: "Bearer ${ENTRY_TOKEN}", "X-Tenant": "${ENTRY_TENANT:-none}" };
    const targets: ServerTargets = {
      bare: { url },
      http: { type: "http", url, headers },
      streamable: { type: "streamable-http", url, headers },
      sse: { type: "sse", url, headers },
    };
    const clients = await opened(targets, {
      fetch,
      headers: { "x-tenant": "shared", "X-All": "yes" },
      servers: { sse: { headers: { authorization: "Bearer own" } } },
    });
    expect([...clients.outcomes.values()].every(({ ok }) => ok)).toBe(true);
    expect(
      seen.map(([to, sent]) => [to, sent.get("authorization"), sent.get("x-tenant"), sent.get("x-all")]),
    ).toEqual([
      ["https://mcp.example.com/mcp", null, "shared", "yes"],
      ["https://mcp.example.com/mcp", `Bearer ${secret}`, "none", "yes"],
      ["https://mcp.example.com/mcp", `Bearer ${secret}`, "none", "yes"],
      ["https://mcp.example.com/mcp", "Bearer own", "none", "yes"],
    ]);
  });

  test("has its own token: that for all servers is for the others", async () => {
    const { fetch, seen } = network();
    const url = "https://mcp.example.com/mcp";
    const own = { url, headers: { authorization: "Bearer of-entry" } };
    const clients = await opened(
      { own, chosen: own, other: { url } },
      { fetch, auth: "for-all", servers: { chosen: { auth: "chosen" } } },
    );
    expect([...clients.outcomes.values()].every(({ ok }) => ok)).toBe(true);
    expect(seen.map(([, sent]) => sent.get("authorization"))).toEqual([
      "Bearer of-entry",
      "Bearer chosen",
      "Bearer for-all",
    ]);
  });

  test("is found in a whole file, whose other fields do not matter", async () => {
    const { fetch } = network();
    const notes = { url: "https://mcp.example.com/mcp" };
    const desktop = await opened({ $schema: "x", mcpServers: { notes } }, { fetch });
    const code = await opened({ inputs: [], servers: { notes } }, { fetch });
    for (const clients of [desktop, code]) expect([...clients.outcomes.keys()]).toEqual(["notes"]);
  });

  test("may be of a server that is named like the field of a file", async () => {
    const { fetch } = network();
    const clients = await opened({ servers: { url: "https://mcp.example.com/mcp" } }, { fetch });
    expect([...clients.outcomes.keys()]).toEqual(["servers"]);
    const own = new McpServer({ name: "own", version: "1.0.0" });
    expect([...(await opened({ mcpServers: own })).outcomes.keys()]).toEqual(["mcpServers"]);
  });

  test("that is disabled is left out", async () => {
    const { fetch } = network();
    const url = "https://mcp.example.com/mcp";
    const clients = await opened({ on: { url, disabled: false }, off: { url, disabled: true } }, { fetch });
    expect([...clients.outcomes.keys()]).toEqual(["on"]);
    expect(() => clients.client("off")).toThrow(/^client: "off" is disabled in its entry$/);
  });
});

describe("unknown fields of an entry", () => {
  const entry = {
    url: "https://mcp.example.com/mcp",
    autoApprove: ["a"],
    timeout: 60,
    env: { A: "b" },
    alwaysAllow: [],
  };
  const warnings = [
    'connectAll: "notes".autoApprove is not a field: ignored',
    'connectAll: "notes".timeout is not a field: ignored',
    'connectAll: "notes".env has no meaning for a server with url: ignored',
    'connectAll: "notes".alwaysAllow is not a field: ignored',
  ];

  test("are ignored, and observe is told", async () => {
    const { fetch } = network();
    const told: unknown[] = [];
    const clients = await opened(
      { notes: entry },
      {
        fetch,
        observe: (event) => void (event.type === "ignored" && told.push([event.server, event.reason])),
      },
    );
    expect(clients.outcomes.get("notes")?.ok).toBe(true);
    expect(told).toEqual(warnings.map((warning) => ["notes", warning]));
  });

  test("are ignored, and the console is told if there is no observer", async () => {
    const spy = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => spy.mockRestore());
    const clients = await opened({ notes: entry }, { fetch: network().fetch });
    expect(spy.mock.calls.map(([text]) => text as unknown)).toEqual(warnings);
    await clients.retry();
    expect(spy).toHaveBeenCalledTimes(warnings.length);
  });
});

describe("a wrong entry fails alone, and names entry, field and remedy", () => {
  const url = "https://mcp.example.com/mcp";
  test.each<[string, unknown, string]>([
    ["null", null, '"bad" must be a URL, an McpServer, or an entry with url or command, not null'],
    ["a list", ["npx"], '"bad" must be a URL, an McpServer, or an entry with url or command, not ["npx"]'],
    [
      "a promise",
      Promise.resolve(url),
      '"bad" must be a URL, an McpServer, or an entry with url or command, not a promise: await it',
    ],
    [
      "the class",
      McpServer,
      '"bad" must be a URL, an McpServer, or an entry with url or command, not the class McpServer: pass an instance',
    ],
    [
      "a function",
      () => url,
      '"bad" must be a URL, an McpServer, or an entry with url or command, not a function',
    ],
    [
      "a map",
      new Map([["url", url]]),
      '"bad" must be a URL, an McpServer, or an entry with url or command, not an instance of Map',
    ],
    [
      "a text that is no URL",
      "npx server",
      '"bad".url is "npx server", which is not an http(s) URL: to start a command, pass { command: "node", args: ["server.js"] }',
    ],
    ["nothing in it", {}, '"bad" has neither url nor command: add one of them'],
    [
      "a misspelt field",
      { kommand: "x" },
      '"bad" has neither url nor command: add one of them; kommand is not a field: did you mean command?',
    ],
    ["both", { url, command: "x" }, '"bad" has url and command: remove one of them'],
    [
      "an unknown type",
      { type: "ws", url },
      '"bad".type must be "http", "streamable-http", "sse" or "stdio", not "ws"',
    ],
    ["stdio without a command", { type: "stdio", url }, '"bad".command is required, since type is "stdio"'],
    ["http without a URL", { type: "http", command: "x" }, '"bad".url is required, since type is "http"'],
    [
      "another scheme",
      { url: "ftp://example.com/x" },
      '"bad".url is "ftp://example.com/x", and ftp is not a transport of MCP: use http(s)',
    ],
    [
      "a text for args",
      { command: "x", args: "y" },
      '"bad".args must be a list of texts, such as ["server.js"], not "y": put it into a list',
    ],
    [
      "a number in env",
      { command: "x", env: { PORT: 80 } },
      '"bad".env must be a plain object of names and texts: PORT is of the type number: write a text',
    ],
    ["disabled as a text", { url, disabled: "yes" }, '"bad".disabled must be true or false, not "yes"'],
    [
      "a header of the protocol",
      { url, headers: { "MCP-Session-Id": "x" } },
      '"bad".headers must not contain MCP-Session-Id, which the transport sets: remove it',
    ],
    [
      "a header with a line break",
      { url, headers: { "X-Key": "a\nb" } },
      '"bad".headers gives X-Key a value with characters that HTTP does not allow',
    ],
    [
      "a missing variable",
      { url, headers: { Authorization: "Bearer ${ENTRY_MISSING}" } },
      '"bad".headers.Authorization needs the environment variable ENTRY_MISSING, which is not set: set it, or write ${ENTRY_MISSING:-default}',
    ],
    [
      "a missing variable of VS Code",
      { command: "x", args: ["${env:ENTRY_MISSING}"] },
      '"bad".args needs the environment variable ENTRY_MISSING, which is not set: set it, or write ${ENTRY_MISSING:-default}',
    ],
    [
      "an input",
      { command: "x", env: { KEY: "${input:api-key}" } },
      '"bad".env.KEY has ${input:api-key}, which only an editor can fill in: write the value, or ${VAR}',
    ],
    [
      "the folder of an editor",
      { command: "x", args: ["${workspaceFolder}/a"] },
      '"bad".args needs the environment variable workspaceFolder, which is not set: only an editor knows it: write the value',
    ],
  ])("%s", async (_, entry, problem) => {
    const good = new McpServer({ name: "good", version: "1.0.0" });
    const clients = await opened({ bad: entry as never, good });
    expect(problemOf(clients, "bad")).toBe(`connectAll: ${problem}`);
    expect(clients.outcomes.get("bad")).toMatchObject({ error: { name: "ConfigurationError" } });
    expect(clients.outcomes.get("good")?.ok).toBe(true);
    expect([...(await clients.tools()).errors.keys()]).toContain("bad");
  });

  test("and connects when what it needs is there", async () => {
    const { fetch } = network();
    const clients = await opened({ late: { url: "https://${ENTRY_LATE}/mcp" } }, { fetch });
    expect(problemOf(clients, "late")).toContain("ENTRY_LATE, which is not set");
    vi.stubEnv("ENTRY_LATE", "mcp.example.com");
    await clients.retry();
    expect(clients.outcomes.get("late")?.ok).toBe(true);
  });

  test.each([undefined, null, [], "https://mcp.example.com/mcp", 5])(
    "unlike targets that are %j",
    async (targets) => {
      await expect(connectAll(targets as never)).rejects.toThrow(
        /^connectAll: targets must be an object of servers by name, such as mcpServers of \.mcp\.json/,
      );
    },
  );
});

describe("the value of a variable", () => {
  test("appears in no error and no event of a server that cannot be reached", async () => {
    vi.stubEnv("ENTRY_TOKEN", secret);
    vi.stubEnv("ENTRY_SPACED", `${secret} and more`);
    const events: string[] = [];
    const backoff = { firstMs: 1, maxMs: 1, maxAttempts: 1 };
    const clients = await opened(
      {
        path: { url: "http://127.0.0.1:9/${ENTRY_TOKEN}/${ENTRY_SPACED}/mcp?key=${ENTRY_TOKEN}" },
        scheme: { url: "ftp://127.0.0.1/${ENTRY_TOKEN}" },
        header: { url: "http://127.0.0.1:9/mcp", headers: { "X-Key": "${ENTRY_TOKEN}\n" } },
        absent: { command: "no-such-command-${ENTRY_SHORT:-anywhere}", args: ["${ENTRY_TOKEN}"] },
        loud: {
          command: process.execPath,
          args: [
            "-e",
            "console.error(process.argv[1], process.env.TOKEN); process.exit(1)",
            "${ENTRY_TOKEN}",
          ],
          env: { TOKEN: "${ENTRY_TOKEN}" },
        },
      },
      { backoff, observe: (event) => void events.push(JSON.stringify(event, replaceErrors)) },
    );
    expect([...clients.outcomes.values()].some(({ ok }) => ok)).toBe(false);
    for (const [name, outcome] of clients.outcomes)
      if (!outcome.ok) expect(allOf(outcome.error), name).not.toContain(secret);
    expect(problemOf(clients, "path")).toContain("http://127.0.0.1:9/${ENTRY_TOKEN}/${ENTRY_SPACED}/mcp?…");
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter((event) => event.includes(secret))).toEqual([]);
  });

  test("appears in no error of a call, and not where a question names the server", async () => {
    vi.stubEnv("ENTRY_TOKEN", secret);
    const server = new McpServer({ name: "asks", version: "1.0.0" });
    server.tool("ask", {}, async (_, ctx) => {
      await ctx.elicit("Sure?", z.object({}));
      return "asked";
    });
    const http = await serveHttp(server, { port: 0, path: `/${secret}` });
    onTestFinished(() => http.close());
    const contexts: unknown[] = [];
    const clients = await opened(
      { asking: { url: `http://127.0.0.1:${http.port}/\${ENTRY_TOKEN}` } },
      {
        backoff: { firstMs: 1, maxMs: 1, maxAttempts: 1 },
        onElicit: (_, { server: address, name }) => {
          contexts.push([name, address]);
          return { action: "accept", content: {} };
        },
      },
    );
    await clients.callTool("asking_ask");
    expect(contexts).toEqual([["asking", `http://127.0.0.1:${http.port}/\${ENTRY_TOKEN}`]]);
    expect(JSON.stringify(clients.client("asking").state)).not.toContain(secret);
    await http.close();
    const error: unknown = await clients.callTool("asking_ask").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(allOf(error)).not.toContain(secret);
  });
});

test("a variable of one server does not appear in the addresses of others", async () => {
  vi.stubEnv("ENTRY_HOST", "localhost");
  vi.stubEnv("ENTRY_LONG", "an-account-of-1900");
  const backoff = { firstMs: 1, maxMs: 1, maxAttempts: 1 };
  const targets = {
    path: { url: "http://${ENTRY_HOST}:9/${ENTRY_LONG}/mcp" },
    command: { command: "no-such-command", args: ["${ENTRY_HOST}", "${ENTRY_LONG}"] },
  };
  const clients = await opened(targets, { backoff });
  expect(problemOf(clients, "path")).toContain("http://${ENTRY_HOST}:9/${ENTRY_LONG}/mcp");
  const others = ["http://localhost:1/mcp", "http://127.0.0.1:9/an-account-of-1900"];
  for (const url of others) {
    const error: unknown = await connect(url, { backoff }).catch((reason: unknown) => reason);
    expect((error as Error).message).toContain(url);
  }
  const args = ["-e", 'console.log("an-account-of-1900"); process.exit(1)', "localhost"];
  const error: unknown = await connect({ command: process.execPath, args }).catch(
    (reason: unknown) => reason,
  );
  expect((error as Error).message).toMatch(/an-account-of-1900$/);
});

function replaceErrors(_: string, value: unknown): unknown {
  return value instanceof Error ? allOf(value) : value;
}

describe("what connectAll hands on", () => {
  function talkative(name: string): McpServer {
    const server = new McpServer({ name, version: "1.0.0" }, { capabilities: { logging: true } });
    server.tool("work", {}, (_, ctx) => {
      ctx.log("warning", `from ${name}`);
      ctx.progress(1, 2);
      return "worked";
    });
    return server;
  }

  test("names the server: events, log messages, progress, recorded lines", async () => {
    const events = new Set<string>();
    const logs: unknown[] = [];
    const recorded = new Set<string>();
    const progress: unknown[] = [];
    const clients = await opened(
      { one: talkative("first"), two: talkative("second") },
      {
        observe: ({ type, server }) => void events.add(`${server} ${type}`),
        onLog: ({ server, data }) => void logs.push([server, data]),
        record: (_, server) => void recorded.add(server),
      },
    );
    for (const name of ["one_work", "two_work"])
      await clients.callTool(
        name,
        {},
        { onProgress: (step) => void progress.push([step.server, step.progress]) },
      );
    for (const name of ["one", "two"]) expect([...events]).toContain(`${name} request`);
    expect(logs).toEqual([
      ["one", "from first"],
      ["two", "from second"],
    ]);
    expect(progress).toEqual([
      ["one", 1],
      ["two", 1],
    ]);
    expect([...recorded]).toEqual(["one", "two"]);
  });

  test("names the server of a change, and follows a server that died and came back", async () => {
    const http = talkative("first");
    const changes: FromServer<Change>[] = [];
    const clients = await opened({ one: http, two: node, gone: { command: "no-such-command" } });
    const listening = await clients.listen({ tools: true }, (change) => void changes.push(change));
    expect([...listening.errors.keys()]).toEqual(["gone"]);
    http.tool("late", {}, () => "late");
    await until(() => changes.length === 1);
    expect(changes).toEqual([{ kind: "tools", cause: "changed", server: "one" }]);

    const before = clients.client("two");
    await expect(clients.callTool("two_die")).rejects.toMatchObject({ name: "ConnectionLost" });
    await until(() => before.state.name === "closed");
    await until(() => listening.errors.has("two"));
    const { tools, errors } = await clients.tools();
    expect(new Set(tools.map(({ server }) => server))).toEqual(new Set(["one"]));
    expect([...errors.keys()].toSorted()).toEqual(["gone", "two"]);

    await Promise.all([clients.retry(), clients.retry()]);
    expect(clients.client("two")).not.toBe(before);
    expect(await toldBy(clients, "two_told")).toMatchObject({ args: [] });
    expect(changes.at(-1)).toEqual({ kind: "tools", cause: "gap", server: "two" });
    expect([...listening.errors.keys()]).toEqual(["gone"]);

    await listening.close();
    const seen = changes.length;
    http.tool("later", {}, () => "later");
    await clients.tools({ fresh: true });
    expect(changes).toHaveLength(seen);
  });

  test("is not changed for a server with a function of its own", async () => {
    const own: unknown[] = [];
    const shared: unknown[] = [];
    const clients = await opened(
      { one: talkative("first"), two: talkative("second") },
      {
        onLog: ({ server }) => void shared.push(server),
        servers: { two: { onLog: (entry) => void own.push(entry) } },
      },
    );
    for (const name of ["one_work", "two_work"]) await clients.callTool(name);
    expect(shared).toEqual(["one"]);
    expect(own).toEqual([{ level: "warning", logger: undefined, data: "from second" }]);
  });

  test("stops with close: retry connects to nothing any more", async () => {
    const clients = await connectAll({ one: talkative("first") });
    await clients.close();
    await clients.retry();
    expect(clients.client("one").state.name).toBe("closed");
  });
});
