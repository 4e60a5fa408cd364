// Mistakes in the options of the HTTP transport: each is found at start, in one line that names the remedy.
import { McpServer } from "halyard";
import { type HttpOptions, nodeHandler } from "halyard/node";
import { describe, expect, test } from "vitest";

const server = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });

const mistakes: readonly [field: string, options: unknown][] = [
  ["allowedHosts", { allowedHosts: "mcp.example.com" }],
  ["allowedHosts", { allowedHosts: ["https://mcp.example.com"] }],
  ["allowedHosts", { allowedHosts: [undefined] }],
  ["allowedOrigins", { allowedOrigins: "https://app.example.com" }],
  ["allowedOrigins", { allowedOrigins: ["app.example.com"] }],
  ["cors.origins", { cors: { origins: "*" } }],
  ["cors.origins", { cors: { origins: ["https://app.example.com/path"] } }],
];

describe("names of hosts and origins", () => {
  test.each(mistakes)("%s is a list of them: %j", (field, options) => {
    expect(() => nodeHandler(server(), options as HttpOptions)).toThrow(new RegExp(`${field} .*such as`));
  });

  test("are taken as they are written", async () => {
    const handler = nodeHandler(server(), {
      allowedHosts: ["mcp.example.com:8443", "[::1]", "*"],
      allowedOrigins: ["https://app.example.com", "vscode-webview://abc", "null"],
      cors: { origins: ["*"] },
    });
    await handler.close();
  });
});
