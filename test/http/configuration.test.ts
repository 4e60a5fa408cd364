// Mistakes in what the HTTP transport and stdio are given: each is found at start, in one line that names the remedy.
import { McpServer, type Servable } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, nodeHandler, serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { describe, expect, test } from "vitest";

const server = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });

const entries: Readonly<Record<string, (server: Servable) => unknown>> = {
  serveHttp: (given) => serveHttp(given, { port: 0 }),
  nodeHandler: (given) => nodeHandler(given),
  fetchHandler: (given) => fetchHandler(given),
  serveStdio: (given) => serveStdio(given),
};

describe.each(Object.entries(entries))("%s", (_, serve) => {
  test("is given a server, not the function that makes one", async () => {
    const factory = (() => server()) as unknown as Servable;
    await expect(async () => serve(factory)).rejects.toThrow(
      /server is a function: pass the McpServer itself/,
    );
    await expect(async () => serve({} as Servable)).rejects.toThrow(/server is not an McpServer/);
  });
});

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
