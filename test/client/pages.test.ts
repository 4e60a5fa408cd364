// One page of a list at a time, by cursor.
import { McpServer } from "halyard";
import { connect, type McpClient } from "halyard/client";
import { expect, onTestFinished, test } from "vitest";
import { legacyDates, modernDates, newestModern } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";

async function open(target: McpServer | ScriptedServer, revision: string): Promise<McpClient> {
  const client = await connect(target, { revision });
  onTestFinished(() => client.close());
  return client;
}

test.each([...modernDates, ...legacyDates])(
  "page returns one page and the cursor of the next, on %s",
  async (revision) => {
    const server = new McpServer({ name: "shop", version: "1.0.0" }, { pageSize: 2 });
    for (const name of ["a", "b", "c"]) server.tool(name, {}, () => name);
    const client = await open(server, revision);
    const first = await client.page("tools");
    expect(first.tools.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(first.nextCursor).toEqual(expect.any(String));
    const last = await client.page("tools", { cursor: first.nextCursor ?? "" });
    expect(last.tools.map(({ name }) => name)).toEqual(["c"]);
    expect("nextCursor" in last).toBe(false);
  },
);

test("the other lists have pages too, under their own names, and an empty cursor is one [PAGE-EMPTY-STRING]", async () => {
  const server = new ScriptedServer();
  const pageOf = (name: string, entry: object) =>
    server.on(methodOf[name] ?? "", ({ params }) => ({
      resultType: "complete",
      [name]: [entry],
      ...(params?.["cursor"] === undefined && { nextCursor: "" }),
    }));
  const methodOf: Record<string, string> = {
    prompts: "prompts/list",
    resources: "resources/list",
    resourceTemplates: "resources/templates/list",
  };
  pageOf("prompts", { name: "p" });
  pageOf("resources", { name: "r", uri: "note:///1" });
  pageOf("resourceTemplates", { name: "t", uriTemplate: "note:///{id}" });
  const client = await open(server, newestModern);
  expect(await client.page("prompts")).toEqual({ prompts: [{ name: "p" }], nextCursor: "" });
  expect(await client.page("resources", { cursor: "" })).toEqual({
    resources: [{ name: "r", uri: "note:///1" }],
  });
  expect((await client.page("resourceTemplates")).resourceTemplates).toHaveLength(1);
  expect(server.given("resources/list", "cursor")).toEqual([""]);
});

test("a cursor that the server refuses rejects with the reason of the server", async () => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  server.tool("a", {}, () => "a");
  const client = await open(server, newestModern);
  await expect(client.page("tools", { cursor: "made up" })).rejects.toMatchObject({ code: -32602 });
});

test.each([
  [
    (client: McpClient) => client.page("tool" as never),
    'page: there is no list "tool": choose from "tools", "prompts", "resources", "resourceTemplates"',
  ],
  [(client: McpClient) => client.page("tools", { cursor: 5 as never }), "page: cursor must be a text, not 5"],
  [
    (client: McpClient) => client.page("tools", { curser: "a" } as never),
    "page: curser is not an option: did you mean cursor?",
  ],
])("a mistake is named", async (call, problem) => {
  await expect(call(await open(new ScriptedServer(), newestModern))).rejects.toThrow(problem);
});
