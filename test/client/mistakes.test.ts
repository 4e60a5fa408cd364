// Mistakes of a first hour with `connect`, and what the user reads: each message says what is wrong, and what to write instead.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { afterAll, expect, test } from "vitest";

const server = new McpServer({ name: "weather", version: "1.0.0" });
server.resource("note:///1", {}, () => "A note");

const cwd = mkdtempSync(join(tmpdir(), "halyard-mistakes-"));
writeFileSync(join(cwd, "server.ts"), "namespace A { export const b = 1 }\nconst x: number = A.b;\n");
afterAll(() => rmSync(cwd, { recursive: true }));

const to = (target: unknown, options?: object) => () => connect(target as string, options);

const mistakes: Readonly<Record<string, readonly [make: () => Promise<unknown>, says: string]>> = {
  "a promise as the target": [
    to(Promise.resolve(server)),
    "connect: target must be a URL, { command, args }, an McpServer, or an object with openWire(), not a promise: await it",
  ],
  "the class as the target": [
    to(McpServer),
    "connect: target must be a URL, { command, args }, an McpServer, or an object with openWire(), not the class McpServer: pass an instance",
  ],
  "an entry of .mcp.json as the target": [
    to({ type: "http", url: "https://mcp.example.com/mcp?key=secret" }),
    'connect: target is an object with a url: pass the URL itself, such as connect("https://mcp.example.com/mcp?…"), and headers as an option',
  ],
  "a local address without a scheme": [
    to("localhost:3000/mcp"),
    'connect: target has no scheme: write "http://localhost:3000/mcp"',
  ],
  "an address without a scheme": [
    to("mcp.example.com/mcp"),
    'connect: target has no scheme: write "https://mcp.example.com/mcp"',
  ],
  "the path of a program": [
    to("./server.js"),
    'connect: target is "./server.js", which is not an http(s) URL: to start a command, pass { command: "node", args: ["server.js"] }',
  ],
  "a command line as the command": [
    to({ command: "node server.js", cwd }),
    `Cannot start node server.js in ${cwd}: it is a whole command line: pass { command: "node", args: [its argument] }`,
  ],
  'a token with "Bearer"': [
    to("https://mcp.example.com/mcp", { auth: "Bearer abc" }),
    'connect: auth must be a token without "Bearer", a function that returns one, or an object with headers()',
  ],
  "an object as the URI of a resource": [
    async () => (await connect(server)).readResource({ uri: "note:///1" } as never),
    'readResource takes the URI alone: readResource("note:///1")',
  ],
  "a call after close": [
    async () => {
      const client = await connect(server);
      await client.close();
      return client.callTool("forecast");
    },
    "The client is closed: connect again",
  ],
};

test.each(Object.entries(mistakes))("%s", async (_, [make, says]) => {
  const error = await make().catch((reason: unknown) => reason);
  expect((error as Error).message).toBe(says);
});

test("a program in TypeScript that node cannot run", async () => {
  const error = await to({ command: "node", args: ["server.ts"], cwd })().catch((reason: unknown) => reason);
  const [first] = (error as Error).message.split("\n");
  expect(first).toBe(
    `node (in ${cwd}) exited with code 1 before it sent a message: node cannot run this TypeScript file: pass { command: "npx", args: ["tsx", …] }`,
  );
});
