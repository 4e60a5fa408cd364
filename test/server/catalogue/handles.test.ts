// What server.tool() and its like return: changing, hiding and removing what has been registered.
import { expect, test } from "vitest";
import * as z from "zod";
import {
  call,
  deferred,
  list,
  makeServer,
  open,
  refusal,
  textOf,
  toolNames,
} from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("handles", {}, (cell) => {
  test("update() changes what it names and keeps the rest", async () => {
    const { server } = makeServer();
    const handle = server.tool(
      "t",
      { description: "old", input: z.object({ a: z.string() }) },
      ({ a }) => `old ${a}`,
    );
    const client = await open(cell, server);
    expect(textOf(await call(client, "t", { a: "x" }))).toBe("old x");
    handle.update({ description: "new" });
    expect((await list(client, "tools/list"))[0]).toMatchObject({ description: "new" });
    expect(textOf(await call(client, "t", { a: "x" }))).toBe("old x");
    handle.update({ handler: ({ a }) => `new ${a}` });
    expect(textOf(await call(client, "t", { a: "x" }))).toBe("new x");
  });

  test("update() of a schema publishes and checks the new one", async () => {
    const { server } = makeServer();
    server.tool("t", { input: z.object({ a: z.string() }) }, (args) => JSON.stringify(args));
    const client = await open(cell, server);
    await list(client, "tools/list");
    server.tools.get("t")?.update({ input: z.object({ b: z.number() }) });
    expect((await list(client, "tools/list"))[0]).toMatchObject({ inputSchema: { required: ["b"] } });
    expect(server.toolInputSchema("t")).toMatchObject({ required: ["b"] });
    expect(textOf(await call(client, "t", { b: 1 }))).toBe('{"b":1}');
  });

  test("disable(), enable() and remove() do what they say, and say what is", async () => {
    const { server } = makeServer();
    const handle = server.tool("t", {}, () => "t");
    const client = await open(cell, server);
    expect([handle.key, handle.enabled, server.tools.size]).toEqual(["t", true, 1]);
    handle.disable();
    handle.disable();
    expect([handle.enabled, server.tools.size, server.tools.keys()]).toEqual([false, 0, []]);
    handle.enable();
    expect([handle.enabled, server.tools.size]).toEqual([true, 1]);
    expect(textOf(await call(client, "t"))).toBe("t");
    expect(handle.remove()).toBe(true);
    expect(handle.remove()).toBe(false);
    expect([handle.enabled, server.tools.size, server.tools.get("t")]).toEqual([false, 0, undefined]);
    expect(await toolNames(client)).toEqual([]);
    expect((await refusal(call(client, "t"))).code).toBe(-32602);
  });

  test("a handle of something removed cannot touch what came after it", async () => {
    const { server } = makeServer();
    const first = server.tool("t", {}, () => "first");
    first.remove();
    server.tool("t", {}, () => "second");
    first.disable();
    first.update({ description: "ghost" });
    first.enable();
    expect(first.enabled).toBe(false);
    expect(first.remove()).toBe(false);
    const client = await open(cell, server);
    expect(await list(client, "tools/list")).toMatchObject([{ name: "t" }]);
    expect((await list(client, "tools/list"))[0]).not.toHaveProperty("description");
    expect(textOf(await call(client, "t"))).toBe("second");
  });

  test("what was disabled stays so when it is updated", async () => {
    const { server } = makeServer();
    const handle = server.tool("t", {}, () => "t");
    handle.disable();
    handle.update({ description: "x" });
    const client = await open(cell, server);
    expect(await toolNames(client)).toEqual([]);
    handle.enable();
    expect(await list(client, "tools/list")).toMatchObject([{ name: "t", description: "x" }]);
  });

  test("a call that is running is not disturbed by the removal of its tool", async () => {
    const { server } = makeServer();
    const gate = deferred<string>();
    const started = deferred<void>();
    const handle = server.tool("slow", {}, () => {
      started.resolve();
      return gate.promise;
    });
    const client = await open(cell, server);
    const running = call(client, "slow");
    await started.promise;
    handle.remove();
    gate.resolve("done");
    expect(textOf(await running)).toBe("done");
  });

  test("each kind has a collection to find its handles by key", async () => {
    const { server } = makeServer();
    server.prompt("p", {}, () => "");
    server.resource("a:b", {}, () => "");
    server.resourceTemplate("a:{b}", {}, () => "");
    const client = await open(cell, server);
    expect(server.prompts.keys()).toEqual(["p"]);
    expect(server.resources.keys()).toEqual(["a:b"]);
    expect(server.resourceTemplates.keys()).toEqual(["a:{b}"]);
    server.prompts.get("p")?.update({ description: "P" });
    expect(await list(client, "prompts/list")).toMatchObject([{ description: "P" }]);
    expect(server.resources.remove("a:b")).toBe(true);
    expect(server.resources.remove("a:b")).toBe(false);
    expect(await list(client, "resources/list")).toEqual([]);
    server.resourceTemplates.get("a:{b}")?.disable();
    expect(await list(client, "resources/templates/list")).toEqual([]);
    expect(server.tools.get("constructor")).toBeUndefined();
  });
});

describeMatrix("handles and those who listen", { eras: ["legacy"] }, (cell) => {
  test("several changes in one turn are told once, and a change that changes nothing is not told", async () => {
    const { server } = makeServer();
    const handle = server.tool("t", {}, () => "");
    server.prompt("p", {}, () => "");
    const client = await open(cell, server);
    await client.request("ping");
    const told = () => client.notifications("notifications/tools/list_changed").length;
    handle.disable();
    handle.enable();
    handle.update({ description: "x" });
    server.tool("u", {}, () => "");
    await client.waitFor((message) => "method" in message && message.method.endsWith("tools/list_changed"));
    await client.request("ping");
    expect(told()).toBe(1);
    handle.enable();
    await client.request("ping");
    expect(told()).toBe(1);
    expect(client.notifications("notifications/prompts/list_changed")).toEqual([]);
  });
});
