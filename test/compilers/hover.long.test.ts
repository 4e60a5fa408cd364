// What an editor shows on hover, from the declarations of the built package.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "hovered.ts");
const source = `import { McpServer } from "halyard";
const server = new McpServer({ name: "a", version: "1" }, { limits: {}, logger: console });
server.push; server.tools; server.resources; server.prompts;
server.tool("t", { description: "d", annotations: {} }, () => "x");
`;

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  types: ["node"],
};
const host: ts.LanguageServiceHost = {
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => {
    const text = name === file ? source : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host);

function hover(name: string): ts.QuickInfo | undefined {
  return service.getQuickInfoAtPosition(file, source.search(new RegExp(`\\b${name}\\b[;(:]`)));
}

test.each([
  "push",
  "tools",
  "resources",
  "prompts",
  "tool",
  "limits",
  "logger",
  "description",
  "annotations",
])("%s has a sentence", (name) => {
  expect(ts.displayPartsToString(hover(name)?.documentation)).toMatch(/^[A-Z].{10,}\./s);
});

test("server.tool has an example", () => {
  const example = hover("tool")?.tags?.find((tag) => tag.name === "example");
  expect(ts.displayPartsToString(example?.text)).toContain("server.tool(");
});
