// The examples are what newcomers copy: each is started as its own process and does what it says.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JsonObject } from "halyard";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const examples = readdirSync(`${root}examples`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => `examples/${file}`);

/** Runs a TypeScript file with `input` on its standard input, which then ends. */
async function run(file: string, input: string): Promise<{ stdout: string; stderr: string }> {
  const running = promisify(execFile)(process.execPath, ["--import", "tsx", file], {
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

describe("npm start", () => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    scripts: { start: string };
  };

  test("prints what goes over the pipe for both eras, and ends well", async () => {
    const file = scripts.start.replace(/^tsx /, "");
    expect(examples).toContain(file);
    const { stdout, stderr } = await run(file, "");
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
    const allowed = /^(?:halyard|halyard\/(?:node|stdio)|zod|node:.+|\.\/.+)$/;
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
