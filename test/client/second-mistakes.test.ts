// More mistakes with a client, and what the user reads: none shows a secret, and none passes in silence.
import { type Context, McpServer } from "halyard";
import { AuthRequired, connect, connectAll, type ConnectOptions, HttpFailure } from "halyard/client";
import { oauth } from "halyard/client/oauth";
import { connect as connectTest } from "halyard/testing";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { cannedFetch } from "../support/canned-fetch.ts";

const server = new McpServer({ name: "weather", version: "1.0.0" });
server.tool("forecast", {}, () => "Rain");
server.tool("greet", {}, async (_, ctx) => {
  const { name } = await ctx.elicit("Your name?", z.object({ name: z.string() }));
  return `Hello, ${name}`;
});

const url = "https://mcp.example.com/mcp";
const fails = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error("no error"),
    (reason: unknown) => reason as Error,
  );

describe("a 403 that is not about tokens", () => {
  const json = { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Invalid Host: localhost:3000" } };
  const basic = { "www-authenticate": 'Basic realm="staging"' };
  const bearer = { "www-authenticate": 'Bearer error="insufficient_scope"' };
  const auth = oauth();
  type Row = readonly [
    body: string,
    headers: Record<string, string>,
    options: ConnectOptions,
    says: string,
    kind?: unknown,
  ];

  const refusals: Readonly<Record<string, Row>> = {
    "a wrong host": [JSON.stringify(json), {}, {}, "Invalid Host: localhost:3000"],
    "a closed account": ["This account is closed", {}, {}, "This account is closed"],
    "no reason": ["", {}, {}, ""],
    "a wrong API key": ["Unknown key", {}, { headers: { "X-Api-Key": "k-1" } }, "Unknown key"],
    "a password for a proxy": ["Sign in to staging", basic, {}, "Sign in to staging"],
    "a closed account, with oauth()": [
      "This account is closed",
      {},
      { auth },
      "This account is closed: if it requires a token, let it answer 401",
    ],
    "a token after all": [
      "",
      bearer,
      {},
      "insufficient_scope: pass a token, or oauth() of halyard/client/oauth, as the option auth",
      AuthRequired,
    ],
  };

  test.each(Object.entries(refusals))(
    "because of %s",
    async (_, [body, headers, options, says, kind = HttpFailure]) => {
      const methods: unknown[] = [];
      const fetch: typeof globalThis.fetch = async (_input, init) => {
        methods.push((JSON.parse(init?.body as string) as { method: unknown }).method);
        return new Response(body, { status: 403, headers });
      };
      const error = await fails(connect(url, { fetch, ...options }));
      expect(error).toBeInstanceOf(kind);
      expect(error.message).toBe(`${url} answered 403${says && `: ${says}`}`);
      expect(methods).toEqual(["server/discover"]);
    },
  );
});

const secret = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
const file = JSON.stringify({
  mcpServers: { notes: { url, headers: { Authorization: `Bearer ${secret}` } } },
});
const all = (targets: unknown, options?: object) => () => connectAll(targets as never, options);
const over = (auth: unknown, options?: object) => () =>
  connect(url, {
    auth: auth as never,
    fetch: cannedFetch(() => Response.json({})),
    ...options,
  });
const heard = (method: string) => () => connect(server, { onNotification: { [method]: () => {} } });
const using = (use: (client: Awaited<ReturnType<typeof connect>>) => unknown) => async () => {
  const client = await connect(server);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
};
const byName = "connectAll: targets must be an object of servers by name, such as mcpServers of .mcp.json";
const isOne = "this is one server: use connect(), or connectAll({ name: … })";
const isHeard = "is a notification of the protocol:";

const mistakes: Readonly<Record<string, readonly [make: () => Promise<unknown>, says: string]>> = {
  "the text of a file for connectAll": [all(file), `${byName}: it is a text: pass JSON.parse(text)`],
  "the path of a file for connectAll": [
    all("./.mcp.json"),
    `${byName}: it is a text: read and parse the file first`,
  ],
  "the text of a file for connect": [
    () => connect(file),
    "connect: target is the text of JSON: pass connectAll(JSON.parse(text))",
  ],
  "the text of what was remembered": [
    () => connect(url, { remembered: JSON.stringify({ secret }) as never }),
    "connect: remembered must be what client.remember() returned: it is a text: pass JSON.parse(text)",
  ],
  "a function that returns undefined as auth.headers": [
    over({ headers: () => undefined }),
    "connect: auth.headers() returned undefined: return { Authorization: … }",
  ],
  "a function that returns a text as auth.headers": [
    over({ headers: async () => `Bearer ${secret}` }),
    "connect: auth.headers() returned a text: return { Authorization: … }",
  ],
  "a function that returns Headers as auth.headers": [
    over({ headers: () => new Headers({ Authorization: secret }) }),
    "connect: auth.headers() returned no plain object of names and texts: return { Authorization: … }",
  ],
  "a header without a value from auth.headers": [
    over({ headers: () => ({ Authorization: undefined }) }),
    "connect: auth.headers() returned no plain object of names and texts: return { Authorization: … }",
  ],
  'a function that returns a token with "Bearer"': [
    over(() => `Bearer ${secret}`),
    'connect: auth returned no token: return a text without "Bearer", or write auth: oauth()',
  ],
  'a promise of a token with "bearer"': [
    over(async () => `bearer ${secret}`),
    'connect: auth returned no token: return a text without "Bearer", or write auth: oauth()',
  ],
  "a function that returns an empty text": [
    over(() => ""),
    'connect: auth returned no token: return a text without "Bearer", or write auth: oauth()',
  ],
  "a header and auth at once": [
    over(secret, { headers: { authorization: "Bearer other" } }),
    'connect: headers["authorization"] is given, and so is auth: remove one',
  ],
  "a handler for changes of the tools": [
    heard("notifications/tools/list_changed"),
    `connect: onNotification["notifications/tools/list_changed"] ${isHeard} use client.listen({ tools: true })`,
  ],
  "a handler for changes of a resource": [
    heard("notifications/resources/updated"),
    `connect: onNotification["notifications/resources/updated"] ${isHeard} use client.listen({ resources: [uri] })`,
  ],
  "a handler for log messages": [
    heard("notifications/message"),
    `connect: onNotification["notifications/message"] ${isHeard} pass onLog`,
  ],
  "a handler for progress": [
    heard("notifications/progress"),
    `connect: onNotification["notifications/progress"] ${isHeard} pass onProgress to the call`,
  ],
  "a command for connectAll": [all({ command: "node", args: ["server.js"] }), `${byName}: ${isOne}`],
  "an entry for connectAll": [all({ type: "http", url }), `${byName}: ${isOne}`],
  "a server for connectAll": [all(server), `${byName}, not an instance of McpServer: ${isOne}`],
  "a wire for connectAll": [all({ openWire: () => {} }), `${byName}: ${isOne}`],
  "a URL for connectAll": [all(url), `${byName}: ${isOne}`],
  "a list as the params of a request": [
    using((client) => client.request("tools/list", [] as never)),
    "request: params must be an object, not an empty list",
  ],
  "a text as the params of a request": [
    using((client) => client.request("tools/list", secret as never)),
    "request: params must be an object",
  ],
  "null as the params of a notification": [
    using((client) => client.notify("acme/news", null as never)),
    "notify: params must be an object",
  ],
  "an object as middleware": [
    using((client) => client.use({} as never)),
    "use: middleware must be a function",
  ],
  "no middleware": [
    using((client) => client.use(undefined as never)),
    "use: middleware must be a function, not undefined",
  ],
  "tools of several servers after close": [
    async () => {
      const servers = await connectAll({ server });
      await servers.close();
      return servers.tools();
    },
    "The client is closed: connect again",
  ],
};

test.each(Object.entries(mistakes))("%s", async (_, [make, says]) => {
  expect((await fails(make())).message).toBe(says);
});

describe("credentials of one server and of all", () => {
  type Row = readonly [entry: object | undefined, options: object, sent: string];
  const Authorization = "own";
  const rows: Readonly<Record<string, Row>> = {
    "a header of one wins over auth of all": [
      undefined,
      { auth: "all", servers: { notes: { headers: { Authorization } } } },
      "own",
    ],
    "auth of one wins over a header of all": [
      undefined,
      { headers: { Authorization: "all" }, servers: { notes: { auth: "own" } } },
      "Bearer own",
    ],
    "the header of an entry wins over a header of all": [
      { url, headers: { Authorization } },
      { headers: { authorization: "all" } },
      "own",
    ],
  };
  test.each(Object.entries(rows))("%s", async (_, [entry, options, sent]) => {
    const seen = new Set<string | null>();
    const answer = cannedFetch(() => Response.json({}));
    const fetch: typeof globalThis.fetch = (input, init) => {
      seen.add(new Request(input, init).headers.get("authorization"));
      return answer(input, init);
    };
    const servers = await connectAll({ notes: (entry ?? url) as string }, { fetch, ...options });
    await servers.close();
    expect([...seen]).toEqual([sent]);
  });
});

describe("a handler that fails, on a revision where the server asks", () => {
  const revision = "2025-11-25";
  const handlers = {
    "throws, as a failed assertion does": [
      () => {
        throw new Error("expected Ada");
      },
      "expected Ada",
    ],
    "returns an answer of another shape": [
      () => "Ada",
      'onElicit returned an answer that cannot be sent: action must be "accept", "decline" or "cancel": return { action: "accept", content }',
    ],
  } as const;

  test.each(Object.entries(handlers))("and %s, rejects the call of a test", async (_, [onElicit, says]) => {
    const client = await connectTest(server, { revision, onElicit: onElicit as never });
    expect((await fails(client.callTool("greet"))).message).toBe(says);
    await client.close();
  });

  test.each(Object.entries(handlers))("and %s, is printed without observe", async (_, [onElicit, says]) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const client = await connect(server, { revision, onElicit: onElicit as never });
    const result = await client.callTool("greet");
    await client.close();
    const printed = warn.mock.calls.map((args) => args.join(" "));
    warn.mockRestore();
    expect(result).toMatchObject({ isError: true });
    expect(printed).toEqual([
      expect.stringMatching(/^The handler of elicitation\/create failed: \w*Error: /),
    ]);
    expect(printed[0]).toContain(says);
  });

  test("and one that declines is none that fails", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const client = await connect(server, { revision, onElicit: () => ({ action: "decline" }) as const });
    await client.callTool("greet");
    await client.close();
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

test.each(["2024-11-05", "2025-03-26"])("a test of a question that %s does not have", async (revision) => {
  const client = await connectTest(server, { revision, onElicit: () => ({ action: "decline" }) as const });
  const result = await client.callTool("greet").catch((error: Error) => error.message);
  await client.close();
  expect(result).toBe(
    `elicitation/create: protocol revision ${revision} has no such request: use 2025-06-18 or later`,
  );
});

test.each<readonly [what: string, revision: string, ask: (ctx: Context) => Promise<unknown>]>([
  ["elicitation.url", "2025-06-18", (ctx) => ctx.elicit("Pay", new URL("https://example.com/pay"))],
  [
    "sampling.tools",
    "2025-06-18",
    (ctx) => ctx.sample("Hi", { tools: [{ name: "x", inputSchema: { type: "object" } }] }),
  ],
])(
  "a question with %s, which %s does not have, names the revision that does",
  async (what, revision, ask) => {
    const asking = new McpServer({ name: "asking", version: "1.0.0" });
    asking.tool("ask", {}, async (_, ctx) => void (await ask(ctx)));
    const client = await connect(asking, { revision });
    const error = await fails(client.callTool("ask"));
    await client.close();
    expect(error.message).toMatch(
      new RegExp(`: protocol revision ${revision} has no ${what}: use 2025-11-25 or later$`),
    );
  },
);
