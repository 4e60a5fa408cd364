// portOf: the port of an McpServer, and what every entry point says of something that has none.
import { pathToFileURL } from "node:url";
import { ConfigurationError, McpServer, type Servable } from "halyard";
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

  test.each([{}, null, undefined, "server", { handleRaw: () => {} }])("%j is no server", async (given) => {
    const refusal = await refusalOf(given);
    expect(refusal).toBeInstanceOf(ConfigurationError);
    expect(refusal).toHaveProperty("message", expect.stringMatching(/server is not an McpServer$/));
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
