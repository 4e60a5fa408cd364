// Options of `connect` and of calls: what does not exist or cannot work is refused at once, with the remedy.
import { readFileSync } from "node:fs";
import { connect, type ConnectOptions, type Target } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestLegacy } from "../support/revisions.ts";
import { said, ScriptedServer } from "../support/scripted-wire.ts";

const refused: readonly (readonly [options: object, problem: RegExp])[] = [
  [{ timeoutMS: 5 }, /timeoutMS is not an option: did you mean timeoutMs\?/],
  [{ limits: { maxByte: 5 } }, /limits\.maxByte is not an option: did you mean maxBytes\?/],
  [{ backoff: { first: 5 } }, /backoff\.first .*firstMs/],
  [{ info: { name: "x", version: "1", titel: "X" } }, /info\.titel .*title/],
  [{ onElicit: { forms: () => {} } }, /onElicit\.forms .*form/],
  [{ inputRequired: "return" }, /connect: inputRequired is not an option: pass it to the call$/],
  [{ meta: {} }, /connect: meta is not an option: pass it to the call$/],
  [{ fresh: true }, /connect: fresh is not an option: pass it to the call$/],
  [{ onProgress: () => {} }, /connect: onProgress is not an option: pass it to the call$/],
  [{ info: { name: "", version: "1" } }, /info\.name must be a text that is not empty/],
  [{ revision: "2025-01-01" }, /revision must be "auto", .*"2026-07-28"/],
  [{ timeoutMs: 0 }, /timeoutMs must be a whole number of milliseconds from 1/],
  [{ timeoutMs: "5" }, /timeoutMs must be .*, not "5": convert it with Number\(\)$/],
  [{ maxTimeMs: 2 ** 31 }, /maxTimeMs must be .* to 2147483647/],
  [{ connectTimeoutMs: Number.NaN }, /connectTimeoutMs must be/],
  [{ reissue: "sometimes" }, /reissue must be "safe", "always" or "never"/],
  [{ strict: "yes" }, /strict must be true or false/],
  [{ logLevel: "loud" }, /logLevel must be "debug", "info"/],
  [{ limits: { maxBytes: 0 } }, /limits\.maxBytes must be a positive integer/],
  [{ backoff: { maxAttempts: 1.5 } }, /backoff\.maxAttempts must be a positive integer/],
  [{ headers: { "X-A": 1 } }, /headers must be a plain object of names and texts/],
  [{ headers: new Map([["X-A", "1"]]) }, /headers must be a plain object/],
  [{ headers: new Headers({ "X-A": "1" }) }, /headers must be a plain object/],
  [{ headers: "Authorization: secret" }, /headers must be a plain object of names and texts$/],
  [
    { auth: 5 },
    /auth must be a token without "Bearer", a function that returns one, or an object with headers\(\)/,
  ],
  [{ auth: "" }, /auth must be a token/],
  [{ auth: { token: "secret" } }, /auth must be a token/],
  [{ onElicit: {} }, /onElicit must be a function, or an object with a function form, url or both/],
  [{ onElicit: { form: () => {}, url: true } }, /onElicit.url must be a function, not true/],
  [{ onElicit: true }, /onElicit must be a function/],
  [{ onSample: { tools: true } }, /onSample.answer is required: it must be a function/],
  [{ onLog: "info" }, /onLog must be a function/],
  [{ roots: "file:///x" }, /roots must be a list such as \[\{ uri: "file:/],
  [{ remembered: "2026-07-28" }, /remembered must be what client\.remember\(\) returned/],
  [{ remembered: { revision: "2026-07-28" } }, /remembered must be what/],
  [{ revision: "2025-13-01" }, /revision must be "auto", "/],
  [{ revision: 20250618 }, /revision must be "auto", "/],
  [{ info: "my client" }, /info must be an object/],
  [{ limits: 5 }, /limits must be an object/],
  [{ limits: { maxBytes: -1 } }, /limits\.maxBytes must be a positive integer/],
  [{ limits: { maxBytes: "1 MB" } }, /limits\.maxBytes must be a positive integer/],
  [{ backoff: "slow" }, /backoff must be an object/],
  [{ backoff: { firstMs: -1 } }, /backoff\.firstMs must be a whole number of milliseconds/],
  [{ capabilities: [] }, /capabilities must be an object/],
  [{ cache: "no" }, /cache must be true or false/],
  [{ fetch: "node-fetch" }, /fetch must be a function/],
  [{ record: [] }, /record must be a function/],
  [{ throwOnError: 1 }, /throwOnError must be true or false/],
  [{ observe: {} }, /observe must be a function/],
  [{ signal: {} }, /signal must be an AbortSignal/],
  [{ roots: [{ uri: "https://example.com" }] }, /file:\/\//],
];

describe("connect", () => {
  test.each(refused)("refuses %o", async (options, problem) => {
    const server = new ScriptedServer();
    await expect(connect(server, options)).rejects.toThrow(problem);
    expect(server.ends).toEqual([]);
  });

  test.each<[unknown, RegExp]>([
    [undefined, /target must be a URL, \{ command, args \}, an McpServer, or an object with openWire\(\)/],
    [{}, /target must be a URL/],
    [{ comand: "node" }, /target must be a URL/],
    [
      "node server.js",
      /"node server\.js".* not an http\(s\) URL: .*\{ command: "node", args: \["server\.js"\] \}/,
    ],
    ["ftp://example.com", /"ftp:\/\/example\.com\/", and ftp is not a transport of MCP: use http\(s\)/],
    [{ command: "node", arg: [] }, /arg is not an option: did you mean args\?/],
    [{ command: ["node", "server.js"] }, /command must be the program to start/],
    [{ command: "node", args: "server.js" }, /args must be a list of texts, such as \["server\.js"\]/],
    [{ command: "node", args: ["server.js", 3000] }, /args must be a list of texts/],
    [{ command: "node", cwd: 5 }, /cwd must be the path of a folder/],
    [{ command: "node", env: { PORT: 3000 } }, /env must be a plain object of names and texts/],
    [{ command: "node", restart: "always" }, /restart must be true or false/],
  ])("refuses the target %o", async (target, problem) => {
    await expect(connect(target as Target)).rejects.toThrow(problem);
  });

  test("keeps the defaults of options that are undefined", async () => {
    const given = { info: undefined, limits: { maxBytes: undefined }, timeoutMs: undefined };
    const server = new ScriptedServer({ revision: newestLegacy });
    const client = await connect(server, given as unknown as ConnectOptions);
    onTestFinished(() => client.close());
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(server.of("initialize")[0]?.params?.["clientInfo"]).toEqual({ name: "halyard-client", version });
    server.on("tools/call", () => said("done"));
    await expect(client.callTool("a")).resolves.toBeDefined();
  });

  test("is not disturbed by an observer that throws", async () => {
    const observe = (): never => {
      throw new Error("The metrics are down");
    };
    const server = new ScriptedServer();
    server.on("tools/call", () => said("done"));
    const client = await connect(server, { observe });
    onTestFinished(() => client.close());
    await expect(client.callTool("a")).resolves.toBeDefined();
  });
});

type Client = Awaited<ReturnType<typeof connect>>;

describe("a call", () => {
  const methods: readonly (readonly [
    name: string,
    call: (client: Client, options: object) => Promise<unknown>,
  ])[] = [
    ["callTool", (client, options) => client.callTool("a", {}, options)],
    ["getPrompt", (client, options) => client.getPrompt("a", {}, options)],
    ["readResource", (client, options) => client.readResource("note:///a", options)],
    [
      "complete",
      (client, options) =>
        client.complete({ type: "ref/prompt", name: "a" }, { name: "b", value: "" }, options),
    ],
    ["ping", (client, options) => client.ping(options)],
    ["setLogLevel", (client, options) => client.setLogLevel("info", options)],
    ["request", (client, options) => client.request("a", {}, options)],
  ];

  test.each(methods)("%s refuses options that do not exist or cannot work", async (name, call) => {
    const server = new ScriptedServer();
    const client = await connect(server);
    onTestFinished(() => client.close());
    const before = server.received.length;
    const unknown = call(client, { timeout: 5 });
    await expect(unknown).rejects.toThrow(`${name}: timeout is not an option: did you mean timeoutMs?`);
    for (const option of ["auth", "tasks", "onElicit", "fetch", "limits"])
      await expect(call(client, { [option]: true })).rejects.toThrow(
        `${name}: ${option} is not an option: pass it to connect`,
      );
    await expect(call(client, { timeoutMs: -1 })).rejects.toThrow(`${name}: timeoutMs must be`);
    await expect(call(client, { inputRequired: "no" })).rejects.toThrow(/must be "answer" or "return"/);
    expect(server.received).toHaveLength(before);
  });

  test.each<[string, (client: Client) => Promise<unknown>, RegExp]>([
    [
      "callTool, arguments as a text",
      (client) => client.callTool("a", '{"b":1}' as never),
      /callTool\("a"\): the arguments must be an object/,
    ],
    [
      "startTask, arguments as a list",
      (client) => client.startTask("a", [1] as never),
      /startTask\("a"\): the arguments must be an object/,
    ],
    [
      "complete, a number as context",
      (client) =>
        client.complete({ type: "ref/prompt", name: "a" }, { name: "b", value: "" }, {
          context: { c: 1 },
        } as never),
      /context must be a plain object of names and texts/,
    ],
    [
      "listen, a callback that is none",
      (client) => client.listen({ tools: true }, {} as never),
      /listen: onChange must be a function/,
    ],
    [
      "listen, a signal that is none",
      (client) => client.listen({ tools: true }, () => {}, { signal: {} as never }),
      /listen: signal must be an AbortSignal/,
    ],
    [
      "on, another event",
      async (client) => client.on("close" as "state", () => {}),
      /there is no event close: use "state"/,
    ],
  ])("%s, is refused", async (_, call, problem) => {
    const client = await connect(new ScriptedServer());
    onTestFinished(() => client.close());
    await expect(call(client)).rejects.toThrow(problem);
  });

  test("setLogLevel refuses a level that does not exist", async () => {
    const client = await connect(new ScriptedServer());
    onTestFinished(() => client.close());
    await expect(client.setLogLevel("loud" as "info")).rejects.toThrow(/logLevel must be "debug"/);
  });
});
