// A request for what the server does not have: the error says so, by the server's capabilities.
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server as OfficialV1 } from "@modelcontextprotocol/sdk/server/index.js";
import { Server as OfficialV2 } from "@modelcontextprotocol/server";
import { McpServer } from "halyard";
import { connect, type McpClient, RpcRejection, type Wire } from "halyard/client";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { legacyDates, modernDates } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";

const requests: readonly (readonly [what: string, lacks: string, (client: McpClient) => Promise<unknown>])[] =
  [
    ["tools/call greet", "tools", (client) => client.callTool("greet")],
    ["tools/list", "tools", (client) => client.listTools()],
    ["prompts/get hello", "prompts", (client) => client.getPrompt("hello")],
    ["resources/read note:///1", "resources", (client) => client.readResource("note:///1")],
    [
      "completion/complete",
      "completions",
      (client) => client.complete({ type: "ref/prompt", name: "hello" }, { name: "a", value: "" }),
    ],
  ];

async function failureOf(work: Promise<unknown>): Promise<RpcRejection> {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RpcRejection);
  return error as RpcRejection;
}

describe.each(requests)("%s", (what, lacks, ask) => {
  test(`says that the server has no ${lacks}`, async () => {
    const server = new ScriptedServer({ capabilities: { logging: {} } });
    const client = await connect(server);
    onTestFinished(() => client.close());
    const error = await failureOf(ask(client));
    expect(error.code).toBe(-32601);
    expect(error.message).toBe(
      `${what}: the server has no ${lacks}; it offers log messages (-32601: Method not found)`,
    );
  });

  test("says what the server said if the server has them", async () => {
    const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };
    const client = await connect(new ScriptedServer({ capabilities }));
    onTestFinished(() => client.close());
    expect((await failureOf(ask(client))).message).toBe("Method not found");
  });
});

test.each([...modernDates, ...legacyDates])(
  "a server of ours without tools is named by its address, on %s",
  async (revision) => {
    const server = new McpServer({ name: "docs", version: "1.0.0" });
    server.prompt("hello", {}, () => "Hello");
    const http = await serveHttp(server, { port: 0 });
    onTestFinished(() => http.close());
    const client = await connect(http.url, { revision });
    onTestFinished(() => client.close());
    const { message } = await failureOf(client.callTool("greet"));
    expect(message).toBe(
      `tools/call greet: ${http.url} has no tools; it offers prompts, log messages (-32601: This server has no tools: tools/call is not available)`,
    );
  },
);

interface OfficialServer {
  connect(transport: InMemoryTransport): Promise<void>;
}

/** A wire to a server of the official SDK. */
async function wireTo(server: OfficialServer): Promise<Wire> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => near.send(JSON.parse(text) as never),
    close: () => near.close(),
  };
  Object.assign(near, {
    onmessage: (message: unknown) => wire.onMessage(JSON.stringify(message)),
    onclose: () => wire.onClose(new Error("closed")),
  });
  await Promise.all([near.start(), server.connect(far)]);
  return wire;
}

const info = { name: "official", version: "1.0.0" };

test.each<readonly [string, () => OfficialServer]>([
  ["v1", () => new OfficialV1(info, { capabilities: { prompts: {} } }) as OfficialServer],
  ["v2", () => new OfficialV2(info, { capabilities: { prompts: {} } }) as unknown as OfficialServer],
])("a server of the official SDK %s without tools is described in the same way", async (_, create) => {
  const client = await connect({ openWire: () => wireTo(create()) });
  onTestFinished(() => client.close());
  expect((await failureOf(client.callTool("greet"))).message).toBe(
    "tools/call greet: the server has no tools; it offers prompts (-32601: Method not found)",
  );
});
