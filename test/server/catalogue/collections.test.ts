// server.tools, prompts, resources and resourceTemplates: what is registered, found and changed by its key.
import { McpServer } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, test } from "vitest";

const uri = "note:///a";
const template = "note:///{id}";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "");
  server.tool("second", {}, () => "");
  server.prompt("greet", {}, () => "");
  server.resource(uri, {}, () => "");
  server.resourceTemplate(template, {}, () => "");
  return server;
}

describe("collections", () => {
  test("keys() and size tell what is enabled, in order of registration", () => {
    const server = makeServer();
    expect(server.tools.keys()).toEqual(["first", "second"]);
    server.tools.get("first")?.disable();
    expect(server.tools.keys()).toEqual(["second"]);
    expect(server.tools.size).toBe(1);
  });

  test("get() finds a handle by its key, and nothing for an unknown one", () => {
    const server = makeServer();
    expect(server.resourceTemplates.get(template)).toMatchObject({ key: template, enabled: true });
    expect(server.prompts.get("unknown")).toBeUndefined();
  });

  test("remove() answers whether there was one", () => {
    const server = makeServer();
    const collections = [server.tools, server.prompts, server.resources, server.resourceTemplates];
    const keys = ["first", "greet", uri, template];
    for (const [index, collection] of collections.entries()) {
      const key = keys[index] ?? "";
      expect(collection.remove(key)).toBe(true);
      expect(collection.remove(key)).toBe(false);
      expect(collection.get(key)).toBeUndefined();
    }
  });

  test("what was removed is in no list and cannot be called any more", async () => {
    const server = makeServer();
    const client = await connect(server, { revision: "2026-07-28" });
    server.tools.remove("first");
    server.resources.remove(uri);
    server.resourceTemplates.remove(template);
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ name: "second" }] });
    await expect(client.request("tools/call", { name: "first" })).rejects.toMatchObject({ code: -32602 });
    await expect(client.request("resources/read", { uri })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
});
