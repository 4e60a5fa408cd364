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
  [{ info: { name: "", version: "1" } }, /info must have a name and a version/],
  [{ revision: "2025-01-01" }, /revision must be "auto" or one of .*2026-07-28/],
  [{ timeoutMs: 0 }, /timeoutMs must be a number of milliseconds from 1/],
  [{ timeoutMs: "5" }, /timeoutMs must be/],
  [{ maxTimeMs: 2 ** 31 }, /maxTimeMs must be .* to 2147483647/],
  [{ connectTimeoutMs: Number.NaN }, /connectTimeoutMs must be/],
  [{ reissue: "sometimes" }, /reissue must be "safe", "always" or "never"/],
  [{ strict: "yes" }, /strict must be true or false/],
  [{ logLevel: "loud" }, /logLevel must be one of debug, info/],
  [{ limits: { maxBytes: 0 } }, /limits\.maxBytes must be a positive integer/],
  [{ backoff: { maxAttempts: 1.5 } }, /backoff\.maxAttempts must be a positive integer/],
  [{ headers: { "X-A": 1 } }, /headers must be an object of names and texts/],
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
    ["ftp://example.com", /not an http\(s\) URL/],
    [{ command: "node", arg: [] }, /arg is not an option: did you mean args\?/],
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

describe("a call", () => {
  const methods: readonly (readonly [
    name: string,
    call: (client: Awaited<ReturnType<typeof connect>>, options: object) => Promise<unknown>,
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
    await expect(call(client, { timeoutMs: -1 })).rejects.toThrow(`${name}: timeoutMs must be`);
    await expect(call(client, { inputRequired: "no" })).rejects.toThrow(/must be "answer" or "return"/);
    expect(server.received).toHaveLength(before);
  });

  test("setLogLevel refuses a level that does not exist", async () => {
    const client = await connect(new ScriptedServer());
    onTestFinished(() => client.close());
    await expect(client.setLogLevel("loud" as "info")).rejects.toThrow(/logLevel must be one of/);
  });
});
