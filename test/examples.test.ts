// The examples are what newcomers copy: each is started as its own process and does what it says.
import { execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JsonObject } from "halyard";
import { connect } from "halyard/client";
import { describe, expect, test } from "vitest";
import { startDemo } from "./support/demo.ts";
import { readDocument } from "./support/documents.ts";
import { eventually } from "./support/turns.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const examples = readdirSync(`${root}examples`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => `examples/${file}`);

/** Runs a TypeScript file with `input` on its standard input, which then ends. */
async function run(
  file: string,
  input: string,
  args: readonly string[] = [],
): Promise<{ stdout: string; stderr: string }> {
  const running = promisify(execFile)(process.execPath, ["--import", "tsx", file, ...args], {
    cwd: root,
    timeout: 15_000,
    env: { ...process.env, NO_COLOR: "1" },
  });
  running.child.stdin?.end(input);
  return running;
}

/** Starts a server over stdio, sends it requests of 2026-07-28, and returns the results in order. */
async function ask(file: string, ...requests: [method: string, params: JsonObject][]): Promise<JsonObject[]> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const lines = requests.map(([method, params], id) =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }),
  );
  const { stdout, stderr } = await run(file, `${lines.join("\n")}\n`);
  expect(stderr).toBe("");
  const responses = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: number; result: JsonObject });
  return responses.toSorted((one, other) => one.id - other.id).map(({ result }) => result);
}

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
  scripts: Record<string, string>;
};

/** The example that an npm script runs. */
function exampleOf(script: string): string {
  const file = scripts[script]?.replace(/^tsx /, "") ?? "";
  expect(examples).toContain(file);
  return file;
}

/** The curl commands of a text, each over several lines. */
function curlsOf(text: string): string[] {
  return [...text.matchAll(/^ *(curl (?:.*\\\n)*.*)$/gm)].map(([, command]) => command ?? "");
}

/** Runs a command until what it prints satisfies `isEnough`, and answers what it printed. */
async function runUntil(command: string, isEnough: (text: string) => boolean): Promise<string> {
  const child = spawn("sh", ["-c", `exec ${command}`], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await eventually(() => expect(printed).toSatisfy(isEnough));
  child.kill();
  return printed;
}

describe("npm start", () => {
  test("serves the demo; the curl lines of examples/README.md, which it prints too, call it and listen", async () => {
    const demo = await startDemo(exampleOf("start"));
    const commands = curlsOf(
      readDocument("examples/README.md")
        .split("\n## ")
        .find((section) => section.startsWith("Call the demo")) ?? "",
    );
    const shown = commands.map((command) => command.replace("http://127.0.0.1:3000/mcp", demo.url));
    expect(curlsOf(demo.greeting)).toEqual(shown);
    const [call = "", listen = ""] = shown;
    const called = await runUntil(call, (text) => text.endsWith("}"));
    expect(JSON.parse(called)).toMatchObject({
      result: { structuredContent: { matches: [{ uri: "note:///groceries" }] } },
    });
    const listening = runUntil(listen, (text) => text.includes("notifications/tools/list_changed"));
    // What is switched before the other has begun to listen is not told to it, so it is switched again.
    const toggles: Promise<string>[] = [];
    const toggling = setInterval(
      () => toggles.push(runUntil(toggled(call), (text) => text.endsWith("}"))),
      50,
    );
    const heard = await listening;
    clearInterval(toggling);
    await Promise.all(toggles);
    expect(heard).toMatch(/^data: .*"notifications\/subscriptions\/acknowledged"/m);
    expect(await demo.stop()).toBe(0);
  });

  test("says in one line that a port is taken", async () => {
    const demo = await startDemo(exampleOf("start"));
    const { port } = new URL(demo.url);
    const second = await run(exampleOf("start"), "", ["--port", port]).catch((error: unknown) => error);
    expect(second).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Port \d+ .* is in use.*\n$/),
    });
    await demo.stop();
  });

  /** The command that calls a tool, calling another one. */
  function toggled(call: string): string {
    return call.replaceAll("search_notes", "toggle_feature").replace('{"query":"lemon"}', "{}");
  }
});

describe("npm run transcript", () => {
  test("prints what goes over the pipe for both eras, and ends well", async () => {
    const { stdout, stderr } = await run(exampleOf("transcript"), "");
    expect(stderr).toBe("");
    const [, modern = "", legacy = ""] = stdout.split(/^A (?=modern|legacy)/m);

    for (const shown of [modern, legacy]) {
      expect(shown).toContain('"structuredContent":{"matches":');
      expect(shown).toContain("Use lower-case letters");
      expect(shown.match(/^<- .*"progressToken":"three"/gm)).toHaveLength(3);
      expect(shown).toMatch(/^<- .*Counting to 1000 was cancelled at \d/m);
      expect(shown).toMatch(/^<- \{"method":"notifications\/tools\/list_changed"/m);
      expect(shown).toMatch(/^<- \{"method":"notifications\/resources\/updated".*groceries/m);
      expect(shown).toMatch(/^<- .*"text":"Bread, olives, lemons, salt"/m);
      expect(shown).toMatch(/^<- .*"values":\["groceries","groundwork"\]/m);
      expect(shown).toContain("ended with exit code 0");
    }
    expect(modern).toMatch(/^-> .*"method":"server\/discover"/m);
    expect(modern).toMatch(/^<- .*"notifications\/subscriptions\/acknowledged"/m);
    expect(legacy).toMatch(/^-> .*"method":"initialize"/m);
    expect(legacy).toMatch(/^-> .*"method":"resources\/subscribe"/m);
  });
});

describe("examples", () => {
  test.each(examples)("%s begins with a comment and imports what a newcomer has", (file) => {
    const source = readFileSync(`${root}${file}`, "utf8");
    expect(source).toMatch(/^\/\/ [A-Z].*[.]\n/);
    const imported = [...source.matchAll(/^import .*?from "(.+)";$/gm)].map(([, name]) => name);
    const allowed =
      /^(?:halyard|halyard\/(?:auth|client|client\/oauth|cluster|dashboard|fetch|node|stdio|window)|esbuild|zod|node:.+|\.\.?\/.+)$/;
    expect(imported.filter((name) => !allowed.test(name ?? ""))).toEqual([]);
  });

  test("hello greets", async () => {
    const [greeted] = await ask("examples/hello/server.ts", [
      "tools/call",
      { name: "greet", arguments: { name: "Ada" } },
    ]);
    expect(greeted).toMatchObject({ content: [{ type: "text", text: "Hello, Ada!" }] });
  });

  test("plain-json-schema makes its tools from the table, and checks their arguments", async () => {
    const [list, converted, refused] = await ask(
      "examples/plain-json-schema/server.ts",
      ["tools/list", {}],
      ["tools/call", { name: "miles_to_kilometres", arguments: { amount: 26.2 } }],
      ["tools/call", { name: "pints_to_litres", arguments: { amount: "many" } }],
    );
    expect(list).toMatchObject({
      tools: [
        { name: "miles_to_kilometres", inputSchema: { required: ["amount"] } },
        { name: "pounds_to_kilograms" },
        { name: "pints_to_litres" },
      ],
    });
    expect(converted).toMatchObject({ content: [{ text: "26.2 miles = 42.16 kilometres" }] });
    expect(refused).toMatchObject({ isError: true });
  });
});

describe("examples/terminal-dashboard", () => {
  test("prints the clients and the last calls, and says why one failed", async () => {
    const command = `${process.execPath} --import tsx examples/terminal-dashboard/main.ts`;
    const child = spawn("sh", ["-c", `exec ${command}`], {
      cwd: root,
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const url = await eventually(() => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed) ?? [];
      expect(found).toBeDefined();
      return String(found);
    });
    const client = await connect(url, {
      revision: "2025-11-25",
      info: { name: "visitor", version: "2" },
    });
    await client.callTool("greet", { name: "Ada" });
    await client.callTool("greet", { name: "nobody" }).catch(() => {});
    await eventually(() => {
      const last = printed.slice(printed.lastIndexOf("greeter 1.0.0"));
      expect(last).toMatch(/^greeter 1\.0\.0: 1 sessions, /);
      expect(last).toMatch(/^visitor 2 +127\.0\.0\.1 +http +2025-11-25 +0 running/m);
      expect(last).toMatch(/^visitor 2 +tools\/call +greet +\d+\.\d ms +ok$/m);
      expect(last).toMatch(/^visitor 2 +tools\/call +greet +\d+\.\d ms +error +.*error id \w+/m);
    });
    await client.close();
    child.kill();
  });
});

describe("examples/client", () => {
  const hello = `${process.execPath} --import tsx examples/hello/server.ts`;

  /** Runs the command-line caller, which may fail. */
  async function call(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const file = "examples/client/call.ts";
    return run(file, "", args).then(
      (output) => ({ code: 0, ...output }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
  }

  test("agent.ts calls the tool that the model chose, and prints the answer", async () => {
    const { stdout, stderr } = await run("examples/client/agent.ts", "");
    expect(stdout).toBe("Hello, Ada!\n");
    expect(stderr).toBe('The model calls greet {"name":"Ada"}\n');
  });

  test("terminal-form.ts asks for each field of a form, and stops where the input ends", async () => {
    const { stdout } = await run("examples/client/terminal-form.ts", "Ada\n3\n\nbreakfast, parking\nyes\n");
    const asked = [
      "Your name *",
      "nights (1 to 14) [2]",
      "room (single, double) [single]",
      "extras (some of breakfast, parking) []",
      "Late arrival (yes, no) [false]",
    ];
    const answered = { name: "Ada", nights: 3, room: "single", extras: ["breakfast", "parking"], late: true };
    expect(stdout).toBe(`Book a room\n${asked.join(": ")}: ${JSON.stringify(answered)}\n`);
    const stopped = await run("examples/client/terminal-form.ts", "Ada\n");
    expect(stopped.stdout).toContain("The user dismissed the question");
  });

  test("several.ts calls the tools of all servers but the dead one", async () => {
    const { stdout } = await run("examples/client/several.ts", "");
    expect(stdout).toContain("hello: connected, 2026-07-28\n");
    expect(stdout).toMatch(
      /^gone: Could not reach http:\/\/127\.0\.0\.1:9\/mcp: .*nothing listens at 127\.0\.0\.1:9/m,
    );
    expect(stdout).toContain("Tools: clock_year, hello_greet\n");
    expect(stdout).toContain("text: 'Hello, Ada!'");
  });

  test("call.ts lists and calls the tools of a command, and says what is wrong with a call", async () => {
    expect(await call(hello)).toMatchObject({ code: 0, stdout: "greet: \n" });
    expect(await call(hello, "greet", '{"name":"Ada"}')).toMatchObject({ code: 0, stdout: "Hello, Ada!\n" });
    const failed = await call(hello, "greet", "{}");
    expect(failed).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("name: Invalid") });
    const unknown = await call(hello, "great");
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Unknown tool: great: did you mean greet\? \(-32602\)/),
    });
    const spoiled = await call(hello, "greet", "{name:Ada}");
    expect(spoiled).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not a JSON object.*\{name:Ada\}/),
    });
  });

  test("call.ts shows the progress of a call over HTTP", async () => {
    const demo = await startDemo();
    const counted = await call(demo.url, "count", '{"to":2}');
    expect(counted).toMatchObject({
      code: 0,
      stdout: "Counted to 2\n",
      stderr: "1/2 Counted 1\n2/2 Counted 2\n",
    });
    await demo.stop();
  });

  test("call.ts says in one line that a server cannot be reached or started", async () => {
    const dead = await call("http://127.0.0.1:9/mcp", "greet");
    expect(dead.code).toBe(1);
    expect(dead.stderr.trimEnd().split("\n").at(-1)).toMatch(/^Could not reach http.*ECONNREFUSED/);
    const missing = await call("no-such-command", "greet");
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot start no-such-command/),
    });
    expect(await call()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Usage: /) });
  });
});
