// The MCP Inspector's command line drives the demo. It is installed first.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Demo, startDemo } from "../support/demo.ts";
import { type Inspector, installInspector, type Outcome } from "./inspector.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const eras = ["legacy", "modern"] as const;

interface Step {
  readonly args: readonly string[];
  /** The whole outcome, apart from what a result has besides. */
  readonly expected: Outcome;
}

const toolsListed = succeeds({
  tools: [
    { name: "write_note", inputSchema: { required: ["id", "text"] }, annotations: { idempotentHint: true } },
    { name: "search_notes", outputSchema: { required: ["matches"] } },
    { name: "count", inputSchema: { properties: { pauseMs: { default: 100 } } } },
    { name: "toggle_feature" },
  ],
});

/** What the Inspector does, by the end of the test's title. */
const steps: Readonly<Record<string, Step>> = {
  // With --strict it complains about schemas that some clients would not understand.
  "lists the tools, and finds their schemas portable": {
    args: ["--method", "tools/list", "--strict"],
    expected: toolsListed,
  },
  "calls a tool, and gets structured content that fits its schema": {
    args: call("search_notes", "--tool-arg", "query=lemon"),
    expected: succeeds({
      content: [{ type: "text" }],
      structuredContent: { matches: [{ uri: "note:///groceries", text: "Bread, olives, lemons" }] },
    }),
  },
  "calls a tool that reports progress, with numbers": {
    args: call("count", "--tool-args-json", '{"to":3,"pauseMs":1}'),
    expected: succeeds({ content: [{ type: "text", text: "Counted to 3" }] }),
  },
  "is told about arguments that do not fit": {
    args: call("write_note", "--tool-args-json", '{"id":"No!","text":"x"}'),
    expected: {
      code: 5,
      result: { isError: true, content: [{ text: expect.stringContaining("Use lower-case letters") }] },
      error: { code: "tool_is_error" },
    },
  },
  // It looks the tool up in the list, and does not call it.
  "does not find an unknown tool": {
    args: call("missing"),
    expected: { code: 5, result: undefined, error: { code: "tool_not_found" } },
  },
  "lists the resources": {
    args: ["--method", "resources/list"],
    expected: succeeds({ resources: [{ uri: "note:///welcome", name: "welcome", mimeType: "text/plain" }] }),
  },
  "lists the resource templates": {
    args: ["--method", "resources/templates/list"],
    expected: succeeds({ resourceTemplates: [{ uriTemplate: "note:///{id}", name: "note" }] }),
  },
  "reads a resource": {
    args: ["--method", "resources/read", "--uri", "note:///groceries"],
    expected: succeeds({ contents: [{ uri: "note:///groceries", text: "Bread, olives, lemons" }] }),
  },
  "is refused an unknown resource": {
    args: ["--method", "resources/read", "--uri", "note:///missing"],
    expected: fails("Resource not found: note:///missing"),
  },
  "lists the prompts": {
    args: ["--method", "prompts/list"],
    expected: succeeds({
      prompts: [{ name: "summarise", arguments: [{ name: "id", required: true }, { name: "style" }] }],
    }),
  },
  "gets a prompt": {
    args: [
      "--method",
      "prompts/get",
      "--prompt-name",
      "summarise",
      "--prompt-args",
      "id=groceries",
      "style=haiku",
    ],
    expected: succeeds({
      messages: [
        { role: "user", content: { text: "Summarise this note as haiku:\n\nBread, olives, lemons" } },
      ],
    }),
  },
  "is refused an unknown prompt": {
    args: ["--method", "prompts/get", "--prompt-name", "missing"],
    expected: fails("Unknown prompt: missing"),
  },
};

function call(tool: string, ...args: readonly string[]): string[] {
  return ["--method", "tools/call", "--tool-name", tool, ...args];
}

function succeeds(result: object): Outcome {
  return { code: 0, result, error: undefined };
}

function fails(message: string): Outcome {
  return { code: 1, result: undefined, error: { message } };
}

describe("the Inspector", () => {
  let inspector: Inspector;
  let demo: Demo;
  /** What has begun is ended, even where the rest has not. */
  const endings: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    inspector = await installInspector();
    endings.push(() => inspector.remove());
    demo = await startDemo();
    endings.push(async () => expect(await demo.stop()).toBe(0));
  }, 300_000);

  afterAll(async () => {
    await Promise.all(endings.map((end) => end()));
  }, 30_000);

  describe.each(eras)("as a %s client over HTTP", (era) => {
    const inspect = (args: readonly string[]): Promise<Outcome> =>
      inspector.run(demo.url, "--transport", "http", "--protocol-era", era, ...args);

    test.each(Object.entries(steps))("%s", async (_, { args, expected }) => {
      expect(await inspect(args)).toMatchObject(expected);
    });

    test("speaks that era: only modern results say which server they come from", async () => {
      const { result } = await inspect(call("search_notes", "--tool-arg", "query=a"));
      const server = { "io.modelcontextprotocol/serverInfo": { name: "notebook" } };
      if (era === "modern") expect(result).toMatchObject({ _meta: server });
      else expect(result).not.toHaveProperty("_meta");
    });
  });

  test.each(eras)("as a %s client over stdio lists the tools", async (era) => {
    const options = ["--cwd", root, "--protocol-era", era, "--method", "tools/list", "--strict"];
    const command = [process.execPath, "--import", "tsx", "examples/demo/stdio.ts"];
    expect(await inspector.run(...options, "--", ...command)).toMatchObject(toolsListed);
  });
});
