// Peers without authentication see no definitions with scopes, over any transport.
import { PassThrough } from "node:stream";
import { McpServer } from "halyard";
import { Connection, Pipe, portOf, type PipeOptions } from "halyard/transport";
import { serveStdio } from "halyard/stdio";
import { connect, protocolRevisions, TestClient, type Wire } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { refusal } from "../support/catalogue.ts";
import { startChild } from "../support/child.ts";
import { listen, settled } from "../support/listen.ts";
import { modernRequest } from "../support/raw.ts";
import { readLines } from "../support/stdio.ts";
import { until } from "../support/turns.ts";

const alice = { issuer: "https://issuer.example", subject: "alice", scopes: ["notes:write"] };
const call = modernRequest(1, "tools/call", { name: "write" });

function scopedServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const scopes = ["notes:write"];
  server.tool("write", { scopes }, () => "Noted");
  server.tool("open", {}, () => "Open");
  server.prompt("secret", { scopes }, () => "secret");
  server.resource("note:///a", { scopes }, () => "secret");
  server.resourceTemplate("note:///{id}/{part}", { scopes }, () => "secret");
  return server;
}

/** A client at the other end of a pipe. */
async function overPipe(
  server: McpServer,
  revision: string,
  options: Partial<PipeOptions> = {},
): Promise<TestClient> {
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => void pipe.receive(text),
    close: () => pipe.end(1000),
  };
  const output = { write: (text: string) => (wire.onMessage(text), true), destroy: () => {} };
  const pipe = new Pipe(portOf(server), output, { transport: "test", ...options });
  const client = new TestClient(wire, { revision });
  await client.open();
  onTestFinished(() => client.close());
  return client;
}

async function overStreams(
  server: McpServer,
  revision: string,
  options: { readonly peerIsUser?: boolean } = {},
): Promise<TestClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stdio = await serveStdio(server, { input, output, ...options });
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => void input.write(`${text}\n`),
    close: () => stdio.close(),
  };
  readLines(output, (line) => wire.onMessage(line));
  const client = new TestClient(wire, { revision });
  await client.open();
  onTestFinished(() => client.close());
  return client;
}

const asked = [
  ["tools/call", { name: "write" }],
  ["prompts/get", { name: "secret" }],
  ["resources/read", { uri: "note:///a" }],
  ["resources/read", { uri: "note:///a/b" }],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "secret" }, argument: { name: "a", value: "" } },
  ],
] as const;
const lists = [
  ["tools/list", "tools", 1],
  ["prompts/list", "prompts", 0],
  ["resources/list", "resources", 0],
  ["resources/templates/list", "resourceTemplates", 0],
] as const;

describe.each(protocolRevisions)("a peer without a principal · $date", ({ date }) => {
  test.each([
    ["a pipe", overPipe],
    ["streams", overStreams],
  ] as const)(
    "is refused what names scopes, and not shown it · %s [AUTH-OTHER-TRANSPORTS]",
    async (_, open) => {
      const client = await open(scopedServer(), date);
      for (const [method, params] of asked.slice(0, 4)) {
        expect(await refusal(client.request(method, params)), method).toMatchObject({ code: -32600 });
      }
      for (const [method, member, left] of lists)
        expect((await client.request(method))[member], method).toHaveLength(left);
      expect(await client.request("tools/call", { name: "open" })).toMatchObject({
        content: [{ text: "Open" }],
      });
    },
  );

  test.each([
    ["a pipe", overPipe],
    ["streams", overStreams],
  ] as const)(
    "may use all of it if its transport says that it is the user · %s [AUTH-STDIO]",
    async (_, open) => {
      const client = await open(scopedServer(), date, { peerIsUser: true });
      for (const [method, params] of asked.slice(0, 4)) await client.request(method, params);
      for (const [method, member, left] of lists)
        expect((await client.request(method))[member], method).toHaveLength(left + 1);
    },
  );

  test("is the user in the memory of a test, and on the standard input of a process [AUTH-STDIO]", async () => {
    const client = await connect(scopedServer(), { revision: date });
    await client.request("tools/call", { name: "write" });
    await client.close();
    const child = await startChild("scoped", { revision: date });
    await child.client.request("tools/call", { name: "write" });
    await child.client.close();
  });
});

describe("who a message is from", () => {
  test("is nobody for a text without an exchange", async () => {
    const server = scopedServer();
    expect(JSON.parse((await server.handleRaw(JSON.stringify(call))) ?? "")).toHaveProperty(
      "error.data.requiredScopes",
    );
    const connection = new Connection({ transport: "own", peerIsUser: true });
    expect(JSON.parse((await server.handleRaw(JSON.stringify(call), { connection })) ?? "")).toHaveProperty(
      "result",
    );
  });

  test("counts before what the connection is: a principal is held to its scopes even if it is the user", async () => {
    const { scopes: _, ...weak } = alice;
    const connection = new Connection({ transport: "own", peerIsUser: true, principal: weak });
    expect(await scopedServer().handle(call as never, { connection })).toHaveProperty("error");
  });

  test("is never lost in the wrong argument: receive() throws, and says what to pass", async () => {
    const written: string[] = [];
    const output = { write: (text: string) => written.push(text) > 0, destroy: () => {} };
    const pipe = new Pipe(portOf(scopedServer()), output, { transport: "test" });
    const text = JSON.stringify(call);
    class User {
      get subject(): string {
        return "alice";
      }
    }
    for (const wrong of [alice, { principle: alice }, { issuer: "i" }, new User(), "alice"]) {
      expect(() => pipe.receive(text, wrong as never)).toThrow(/\{ principal \}/);
    }
    expect(written).toEqual([]);
    pipe.receive(text, { principal: alice });
    await until(() => written.length === 1);
    expect(JSON.parse(written[0] ?? "")).toHaveProperty("result");
    await pipe.end(0);
  });
});

describe("a principal that is none", () => {
  test.each<[string, object]>([
    ["scopes as a text", { ...alice, scopes: "notes:write-own" }],
    ["no subject", { ...alice, subject: undefined }],
  ])("%s is refused by a pipe, and by the server itself", async (_, wrong) => {
    const server = scopedServer();
    const output = { write: () => true, destroy: () => {} };
    const options = { transport: "test", principal: wrong as never };
    expect(() => new Pipe(portOf(server), output, options)).toThrow(/a principal \{ issuer, subject/);
    const pipe = new Pipe(portOf(server), output, { transport: "test" });
    expect(() => pipe.receive(JSON.stringify(call), { principal: wrong as never })).toThrow(/a principal \{/);
    await pipe.end(0);
  });

  test("a text grants no scope, and hides nothing from those who have it", async () => {
    const server = scopedServer();
    const ask = (method: string, scopes: unknown): Promise<unknown> =>
      server.handle(modernRequest(1, method, { name: "write" }) as never, {
        connection: new Connection({ transport: "raw", principal: { ...alice, scopes } as never }),
      });
    expect(await ask("tools/call", "notes:write-own")).toHaveProperty("error");
    expect(JSON.stringify(await ask("tools/list", "notes:write-own"))).not.toContain("write");
    expect(JSON.stringify(await ask("tools/list", ["notes:write"]))).toContain("write");
  });
});

describe("what is pushed to a pipe", () => {
  test("is what its principal, or what the transport says of its reader, may have", async () => {
    const server = scopedServer();
    const own = { issuer: alice.issuer, subject: alice.subject };
    const open = (options: Partial<PipeOptions>): Promise<TestClient> =>
      overPipe(server, "2025-11-25", options);
    const weak = await open({ principal: { ...alice, scopes: [] } });
    const strong = await open({ principal: alice });
    const said = await open({ principal: own, permits: (scopes) => scopes.includes("notes:write") });
    await strong.request("resources/subscribe", { uri: "note:///a" });
    for (const client of [weak, said]) {
      await client.request("resources/subscribe", { uri: "note:///later" });
    }
    await strong.request("resources/subscribe", { uri: "note:///later" });
    server.resource("note:///later", { scopes: ["notes:write"] }, () => "secret");
    expect(
      await server.push.publish("notifications/resources/updated", "note:///later", { uri: "note:///later" }),
    ).toBe(2);
    await settled(weak);
    expect(weak.notifications("notifications/resources/updated")).toEqual([]);
  });

  test("goes by who asked to listen, where each message says who sent it", async () => {
    const server = scopedServer();
    const wire: Wire = {
      onMessage: () => {},
      onClose: () => {},
      send: (text) => void pipe.receive(text, { principal: sender }),
      close: () => pipe.end(0),
    };
    const output = { write: (text: string) => (wire.onMessage(text), true), destroy: () => {} };
    const pipe = new Pipe(portOf(server), output, { transport: "test" });
    const client = new TestClient(wire, { revision: "2026-07-28" });
    let sender: typeof alice | undefined = alice;
    await listen(client, { resourceSubscriptions: ["note:///a"] }, "strong");
    sender = undefined;
    await listen(client, { resourceSubscriptions: ["note:///later"] }, "weak");
    server.resource("note:///later", { scopes: ["notes:write"] }, () => "secret");
    await server.resources.updated("note:///a");
    await server.resources.updated("note:///later");
    await settled(client);
    const told = client.notifications("notifications/resources/updated").map(({ params }) => params?.["uri"]);
    expect(told).toEqual(["note:///a"]);
    await client.close();
  });
});
