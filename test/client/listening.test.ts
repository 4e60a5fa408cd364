// Listening for changes of our own server: one call on every revision and transport.
import { McpServer } from "halyard";
import type { Change } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeClients } from "../support/client-matrix.ts";
import { nextTurn, until } from "../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.prompt("greet", {}, () => "Hello");
  server.resource("note:///a", {}, () => "a");
  server.resource("note:///b", {}, () => "b");
  return server;
}

describeClients("listen", {}, ({ connect, era }) => {
  test("tells of changed lists, and of no others [SUB-REQUEST-SHAPE, STDIO-MODERN-SUB-CORRELATE, BASE-SUPPORT-CORE-MODERN]", async () => {
    const server = makeServer();
    await using client = await connect(server);
    const changes: Change[] = [];
    const filter = { tools: true, prompts: true };
    await using listening = await client.listen(filter, (change) => void changes.push(change));
    expect(listening.honoured).toEqual(filter);
    server.tool("second", {}, () => "second");
    await until(() => changes.length === 1);
    server.resource("note:///c", {}, () => "c");
    server.prompt("part", {}, () => "Bye");
    await until(() => changes.length === 2);
    expect(changes).toEqual([
      { kind: "tools", cause: "changed" },
      { kind: "prompts", cause: "changed" },
    ]);
  });

  test("tells of the resources that were asked for, and of no others [RES-SUBSCRIBE-RPC, SUB-LEGACY-NONE]", async () => {
    const server = makeServer();
    await using client = await connect(server);
    const changes: Change[] = [];
    const uris = ["note:///a", "note:///a"];
    const listening = await client.listen({ resources: uris }, (change) => void changes.push(change));
    expect(listening.honoured).toEqual({ resources: ["note:///a"] });
    await server.resources.updated("note:///b");
    await server.resources.updated("note:///a");
    await until(() => changes.length > 0);
    await listening.close();
    await until(async () => (await server.push.count()) === (era === "legacy" ? 1 : 0));
    await server.resources.updated("note:///a");
    await client.ping();
    expect(changes).toEqual([{ kind: "resource", uri: "note:///a", cause: "changed" }]);
  });

  test("listens as often as you like, and Node warns of nothing", async () => {
    await using client = await connect(makeServer());
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    for (let count = 0; count < 20; count++) await client.listen({ tools: true });
    await nextTurn();
    expect(warnings).toEqual([]);
  });

  test("keeps a resource subscribed while another listening wants it [SUB-CONCURRENT]", async () => {
    const server = makeServer();
    await using client = await connect(server);
    const one: Change[] = [];
    const other: Change[] = [];
    const first = await client.listen({ resources: ["note:///a"] }, (change) => void one.push(change));
    await client.listen({ resources: ["note:///a"], tools: true }, (change) => void other.push(change));
    await server.resources.updated("note:///a");
    await until(() => one.length === 1 && other.length === 1);
    await first.close();
    await server.resources.updated("note:///a");
    await until(() => other.length === 2);
    expect(one).toHaveLength(1);
  });

  test("can be iterated over, and ends with the loop [SUB-CANCEL-CLIENT]", async () => {
    const server = makeServer();
    await using client = await connect(server);
    const listening = await client.listen({ tools: true, resourceList: true });
    server.tool("second", {}, () => "second");
    const seen: Change[] = [];
    for await (const change of listening) {
      seen.push(change);
      if (seen.length === 2) break;
      server.resource("note:///c", {}, () => "c");
    }
    expect(seen.map(({ kind }) => kind)).toEqual(["tools", "resourceList"]);
    expect(await listening.ended).toBeUndefined();
    if (era === "modern") await until(async () => (await server.push.count()) === 0);
  });

  test("ends with its client, and by its signal", async () => {
    const client = await connect(makeServer());
    const controller = new AbortController();
    const stopped = await client.listen({ tools: true }, undefined, { signal: controller.signal });
    const open = await client.listen({ tools: true });
    controller.abort();
    expect(await stopped.ended).toBeUndefined();
    const next = open[Symbol.asyncIterator]().next();
    await client.close();
    expect(await next).toEqual({ done: true, value: undefined });
    await expect(client.listen({ tools: true })).rejects.toMatchObject({ reason: "closed" });
  });

  test("rejects a filter of which the server offers nothing [SUB-ACK-CLIENT-CHECK]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("first", {}, () => "first");
    await using client = await connect(server);
    await expect(client.listen({ prompts: true })).rejects.toThrow(/asks for prompts.*none of these/);
    const listening = await client.listen({ prompts: true, tools: true });
    expect(listening.honoured).toEqual({ tools: true });
  });
});

describe("listen", () => {
  test.each([
    [{}, /asks for nothing/],
    [{ tools: false, resources: [] }, /asks for nothing/],
    [{ tool: true }, /did you mean tools/],
    [{ resources: "note:///a" }, /resources must be a list of URIs/],
    ["tools", /must be an object such as { tools: true }, not "tools"/],
  ])("refuses the filter %j", async (filter, problem) => {
    const { connect } = await import("halyard/client");
    await using client = await connect(makeServer());
    await expect(client.listen(filter as never)).rejects.toThrow(problem);
  });
});
