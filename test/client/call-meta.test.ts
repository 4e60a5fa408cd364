// The option `meta` of calls: what it adds to `_meta`, and which keys it refuses.
import { connect, type McpClient } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";

const meta = { "acme.com/trace": "t-1", note: { a: 1 } };

const calls: readonly (readonly [method: string, (client: McpClient) => Promise<unknown>])[] = [
  ["tools/call", (client) => client.callTool("greet", {}, { meta })],
  ["resources/read", (client) => client.readResource("note:///1", { meta })],
  ["prompts/get", (client) => client.getPrompt("hello", {}, { meta })],
  [
    "completion/complete",
    (client) => client.complete({ type: "ref/prompt", name: "hello" }, { name: "a", value: "" }, { meta }),
  ],
  ["tools/list", (client) => client.listTools({ meta })],
  ["prompts/list", (client) => client.page("prompts", { meta })],
  ["acme/any", (client) => client.request("acme/any", { _meta: { other: 2 } }, { meta })],
];

async function open(revision: string): Promise<{ server: ScriptedServer; client: McpClient }> {
  const server = new ScriptedServer({ revision });
  const keep = { ttlMs: 60_000, cacheScope: "private", resultType: "complete" };
  server.on("tools/call", () => ({ ...keep, content: [] }));
  server.on("resources/read", () => ({ ...keep, contents: [] }));
  server.on("prompts/get", () => ({ ...keep, messages: [] }));
  server.on("completion/complete", () => ({ ...keep, completion: { values: [] } }));
  server.on("tools/list", () => ({ ...keep, tools: [] }));
  server.on("prompts/list", () => ({ ...keep, prompts: [] }));
  server.on("acme/any", () => ({ resultType: "complete" }));
  const client = await connect(server, { revision });
  onTestFinished(() => client.close());
  return { server, client };
}

describe.each([newestModern, newestLegacy])("meta on %s", (revision) => {
  test.each(calls)("is part of %s, and the result is not taken from the cache", async (method, call) => {
    const { server, client } = await open(revision);
    await call(client);
    await call(client);
    const sent = server.given(method, "_meta");
    expect(sent).toHaveLength(2);
    for (const each of sent) expect(each).toMatchObject(meta);
    if (method === "acme/any") expect(sent[0]).toMatchObject({ other: 2 });
  });

  test.each([
    ["progressToken", 'meta has the key "progressToken", which the client sets itself: leave it out'],
    [
      "io.modelcontextprotocol/protocolVersion",
      'meta has the key "io.modelcontextprotocol/protocolVersion", which the client sets itself: leave it out',
    ],
    [
      "io.modelcontextprotocol/mine",
      '_meta has the key "io.modelcontextprotocol/mine", whose prefix MCP reserves: use your own domain',
    ],
    ["no such/key!", '_meta has the key "no such/key!", which must have the form prefix.labels/name'],
  ])("refuses the key %s before anything is sent", async (key, problem) => {
    const { server, client } = await open(revision);
    await expect(client.callTool("greet", {}, { meta: { [key]: 1 } })).rejects.toThrow(problem);
    expect(server.of("tools/call")).toEqual([]);
  });

  test("must be an object", async () => {
    const { client } = await open(revision);
    await expect(client.callTool("greet", {}, { meta: "trace" as never })).rejects.toThrow(
      'callTool: meta must be an object, not "trace"',
    );
  });
});
