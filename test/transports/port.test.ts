// portOf: the port of an McpServer, and what every entry point says of something that has none.
import { pathToFileURL } from "node:url";
import { McpServer as OfficialServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ConfigurationError, McpServer, type Servable } from "halyard";
import { connect as connectClient } from "halyard/client";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { connect } from "halyard/testing";
import { Connection, portOf, readIncoming } from "halyard/transport";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyPackage, type PackageCopy } from "../support/package-copy.ts";
import { modernRequest, newestModern } from "../support/raw.ts";

const makeServer = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });

test("portOf returns the same port each time, and a port of its own for each server", () => {
  const [one, other] = [makeServer(), makeServer()];
  expect(portOf(one)).toBe(portOf(one));
  expect(portOf(one)).not.toBe(portOf(other));
});

test("a port answers as its server does", async () => {
  const server = makeServer();
  const connection = new Connection({ transport: "test" });
  const request = modernRequest(1, "server/discover");
  const port = portOf(server);
  const answer = await port.answer(readIncoming(request), { connection });
  expect(answer && port.encode(answer)).toBe(await server.handleRaw(JSON.stringify(request)));
});

test("middleware that adds to ctx changes nothing for a transport", () => {
  const server = makeServer().use<{ since: number }>((_, __, next) => next({ since: 1 }));
  expect(portOf(server).limits.maxBytes).toBeGreaterThan(0);
});

const entries: Readonly<Record<string, (server: Servable) => unknown>> = {
  portOf: (given) => portOf(given),
  serveHttp: (given) => serveHttp(given, { port: 0 }),
  nodeHandler: (given) => nodeHandler(given),
  fetchHandler: (given) => fetchHandler(given),
  serveStdio: (given) => serveStdio(given),
  connect: (given) => connect(given, { revision: newestModern }),
};

let copy: PackageCopy;
beforeAll(async () => {
  copy = await copyPackage();
});
afterAll(() => copy.remove());

describe.each(Object.entries(entries))("%s", (_, serve) => {
  async function refusalOf(given: unknown): Promise<unknown> {
    try {
      return await serve(given as Servable);
    } catch (error) {
      return error;
    }
  }

  test("is given a server, not the function that makes one", async () => {
    const refusal = await refusalOf(() => makeServer());
    expect(refusal).toBeInstanceOf(ConfigurationError);
    expect(refusal).toMatchObject({
      field: "server",
      message: expect.stringMatching(/server is a function: pass the McpServer itself/),
    });
  });

  test.each<[seen: string, given: unknown]>([
    ["", {}],
    ["", { port: 3000 }],
    ["", { handleRaw: () => {} }],
    [", not null", null],
    [", not undefined", undefined],
    [', not "server"', "server"],
    [", not the class McpServer: pass an instance", McpServer],
    [", not a promise: await it", Promise.resolve(makeServer())],
    [", not an instance of McpServer", new OfficialServer({ name: "test", version: "1.0.0" })],
  ])("names what is no server%s", async (seen, given) => {
    const refusal = await refusalOf(given);
    expect(refusal).toBeInstanceOf(ConfigurationError);
    const { message } = refusal as ConfigurationError;
    // If an address is passed to the test client, its error names the other client.
    const problem = message.replace(": to reach a server elsewhere, use connect of halyard/client", "");
    expect(problem.slice(problem.indexOf(": ") + 2)).toBe(`server must be an McpServer of halyard${seen}`);
  });

  test("a server of another copy of the package is refused, and the remedy named", async () => {
    const second = (await import(pathToFileURL(copy.resolve("halyard")).href)) as {
      McpServer: typeof McpServer;
    };
    const refusal = await refusalOf(new second.McpServer({ name: "test", version: "1.0.0" }));
    expect(refusal).toBeInstanceOf(ConfigurationError);
    expect(refusal).toHaveProperty(
      "message",
      expect.stringMatching(/server comes from another copy of halyard: install one copy/),
    );
  });
});

test.each<[seen: string, given: unknown]>([
  [", not the class McpServer: pass an instance", McpServer],
  [", not a function", () => makeServer()],
  [", not a promise: await it", Promise.resolve(makeServer())],
  [", not an instance of McpServer", new OfficialServer({ name: "test", version: "1.0.0" })],
  [", not undefined", undefined],
])("connect of halyard/client names what is no target%s", async (seen, given) => {
  await expect(connectClient(given as McpServer)).rejects.toThrow(
    expect.objectContaining({
      code: "INVALID_OPTION",
      message: `connect: target must be a URL, { command, args }, an McpServer, or an object with openWire()${seen}`,
    }),
  );
});
