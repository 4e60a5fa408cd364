// "Copy as code" of the dashboard's page: what it shows does what the page did. It imports the files of the page, since nothing of the
// package exports them.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { type HttpServer, serveHttp } from "halyard/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Action, commandOf, programOf, type Target } from "../../src/dashboard/page/try/code.ts";
import { type Entry, readEntries } from "../../src/dashboard/page/try/entries.ts";

const run = promisify(execFile);
/** A text that shells, quotes and headers would change. */
const awkward = `it's "$HOME" \\n é`;

let http: HttpServer;
let entries: readonly Entry[];

beforeAll(async () => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const region = { type: "string", "x-mcp-header": "Region" };
  server.tool(
    "echo",
    { input: { type: "object", properties: { region, text: { type: "string" } } } },
    (args) => `Got ${JSON.stringify(args)}`,
  );
  server.prompt(
    "greet",
    { arguments: { type: "object", properties: { name: { type: "string" } } } },
    (args) => JSON.stringify(args),
  );
  server.resourceTemplate("note:///{id}", {}, ({ params }) => `Note ${params.id}`);
  http = await serveHttp(server, { port: 0 });
  await using client = await connect(http.url);
  entries = (await readEntries(client)).entries;
});
afterAll(() => http.close());

function actionOf(kind: Entry["kind"], values: unknown, uri?: string): Action {
  return { entry: entries.find((entry) => entry.kind === kind)!, values, uri };
}

const target = (revision: string): Target => ({ endpoint: http.url, revision, hasToken: false });

const calls: [string, () => Action, string][] = [
  [
    "a tool",
    () => actionOf("tool", { region: "Zürich", text: awkward }),
    JSON.stringify({ region: "Zürich", text: awkward }),
  ],
  ["a prompt", () => actionOf("prompt", { name: awkward }), JSON.stringify({ name: awkward })],
  ["a resource", () => actionOf("template", {}, "note:///a%20b"), "Note a b"],
];

/** All texts of a result, however it is built. */
function textsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "text" && typeof inner === "string" ? [inner] : textsIn(inner),
  );
}

describe("programOf", () => {
  test.each(calls)("programOf writes a program that does the same with %s", async (_, action, text) => {
    const printing = programOf(action(), target("2025-11-25")).replace(
      "(result)",
      "(JSON.stringify(result))",
    );
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", printing]);
    expect(textsIn(JSON.parse(stdout)).join("")).toContain(text);
  });

  test("programOf names a variable instead of the token", () => {
    const program = programOf(actionOf("tool", {}), { ...target("2026-07-28"), hasToken: true });
    expect(program).toContain("auth: process.env.MCP_TOKEN");
  });
});

describe("commandOf", () => {
  test.each(calls)("commandOf writes a command that does the same with %s", async (_, action, text) => {
    const { stdout } = await run("sh", ["-c", commandOf(action(), target("2026-07-28"))]);
    expect(textsIn(JSON.parse(stdout)).join("")).toContain(text);
  });

  test("commandOf names a variable instead of the token", () => {
    const command = commandOf(actionOf("tool", {}), { ...target("2026-07-28"), hasToken: true });
    expect(command).toContain('-H "Authorization: Bearer $MCP_TOKEN"');
  });
});
