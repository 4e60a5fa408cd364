// list_changed: sent by itself when the catalogue changes, once for each burst, to those who are to be told.
import { type Handle, McpServer } from "halyard";
import { expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { listen, settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import type { TestClient } from "halyard/testing";

const everyList = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/** Asks for the lists as the client's era does: in a listen request, or not at all. */
async function follow(client: TestClient): Promise<void> {
  if (client.era === "modern") await listen(client, everyList, "lists");
}

function counts(client: TestClient): Record<string, number> {
  const count = (list: string): number => client.notifications(`notifications/${list}/list_changed`).length;
  return { tools: count("tools"), prompts: count("prompts"), resources: count("resources") };
}

function declaredServer(): McpServer {
  const capabilities = { tools: true, prompts: true, resources: true } as const;
  return new McpServer({ name: "test", version: "1.0.0" }, { capabilities });
}

const kinds: [string, string, (server: McpServer) => Handle<object>][] = [
  ["tool", "tools", (server) => server.tool("x", {}, () => "x")],
  ["prompt", "prompts", (server) => server.prompt("x", {}, () => "x")],
  ["resource", "resources", (server) => server.resource("note:///x", {}, () => "x")],
  ["resource template", "resources", (server) => server.resourceTemplate("x:///{id}", {}, () => "x")],
];

describeMatrix("list_changed", {}, (cell) => {
  test.each(kinds)(
    "each change of a %s is told by itself [LIST-CHANGED-SEND-LEGACY, LIST-CHANGED-SEND-MODERN, LIST-CHANGED-DECLARE]",
    async (_, list, register) => {
      const server = declaredServer();
      const client = await cell.connect(server);
      await follow(client);
      let handle = register(server);
      const steps = [
        () => {},
        () => handle.update({ description: "changed" }),
        () => handle.disable(),
        () => handle.enable(),
        () => handle.remove(),
        () => {
          handle = register(server);
        },
      ];
      for (const [index, step] of steps.entries()) {
        step();
        await settled(client);
        expect(counts(client)).toEqual({ tools: 0, prompts: 0, resources: 0, [list]: index + 1 });
      }
      await client.close();
    },
  );

  test("what changes nothing is not told", async () => {
    const server = declaredServer();
    const handle = server.tool("x", {}, () => "x");
    const client = await cell.connect(server);
    await follow(client);
    handle.enable();
    await settled(client);
    handle.disable();
    await settled(client);
    expect(counts(client)).toMatchObject({ tools: 1 });
    handle.disable();
    handle.update({ description: "nobody sees this" });
    await settled(client);
    expect(handle.remove()).toBe(true);
    expect(handle.remove()).toBe(false);
    await settled(client);
    expect(counts(client).tools).toBeLessThanOrEqual(2);
    await client.close();
  });

  test("a burst of 100 registrations is told once", async () => {
    const server = declaredServer();
    const client = await cell.connect(server);
    await follow(client);
    for (let at = 0; at < 100; at++) server.tool(`tool-${at}`, {}, () => "x");
    await settled(client);
    expect(counts(client)).toEqual({ tools: 1, prompts: 0, resources: 0 });
    await client.close();
  });

  test("a burst over several kinds is told once for each kind", async () => {
    const server = declaredServer();
    const client = await cell.connect(server);
    await follow(client);
    for (let at = 0; at < 10; at++) {
      server.tool(`tool-${at}`, {}, () => "x");
      server.prompt(`prompt-${at}`, {}, () => "x");
      server.resource(`note:///${at}`, {}, () => "x");
      server.resourceTemplate(`note${at}:///{id}`, {}, () => "x");
    }
    await settled(client);
    expect(counts(client)).toEqual({ tools: 1, prompts: 1, resources: 1 });
    await client.close();
  });

  test("a client that reads the list when it is told sees the change", async () => {
    const server = declaredServer();
    const client = await cell.connect(server);
    await follow(client);
    server.tool("fresh", {}, () => "x");
    await client.waitFor((message) => "method" in message && message.method.endsWith("tools/list_changed"));
    const { tools } = await client.request("tools/list");
    expect(tools).toMatchObject([{ name: "fresh" }]);
    await client.close();
  });

  test("listChanged is declared for what is there, and what is declared is answered [LIST-CHANGED-DECLARE, LIST-RESPOND]", async () => {
    const server = declaredServer();
    const client = await cell.connect(server, { handshake: false });
    const opened = cell.era === "legacy" ? await client.open() : await client.request("server/discover");
    expect(opened?.["capabilities"]).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true },
    });
    for (const list of ["tools", "prompts", "resources"]) {
      expect(await client.request(`${list}/list`)).toMatchObject({ [list]: [] });
    }
    await client.close();
  });

  test("the lists are the same for every connection, whatever was asked before [LIST-NOT-PER-CONNECTION]", async () => {
    const server = declaredServer();
    server.tool("a", {}, () => "a");
    server.prompt("b", {}, () => "b");
    server.resource("note:///c", {}, () => "c");
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    await follow(one);
    await one.request("tools/call", { name: "a" });
    await one.request("prompts/get", { name: "b" });
    await one.request("resources/read", { uri: "note:///c" });
    for (const list of ["tools", "prompts", "resources"]) {
      expect(await one.request(`${list}/list`)).toEqual(await two.request(`${list}/list`));
    }
    await one.close();
    await two.close();
  });
});

describeMatrix("list_changed", { eras: ["modern"] }, (cell) => {
  test("a modern client that does not listen is told nothing [LIST-CHANGED-ONLY-LISTEN]", async () => {
    const server = declaredServer();
    const [deaf, other] = [await cell.connect(server), await cell.connect(server)];
    await deaf.request("tools/list");
    await listen(other, { toolsListChanged: true }, "sub");
    server.tool("x", {}, () => "x");
    server.prompt("x", {}, () => "x");
    await settled(deaf);
    await settled(other);
    expect(counts(deaf)).toEqual({ tools: 0, prompts: 0, resources: 0 });
    expect(counts(other)).toEqual({ tools: 1, prompts: 0, resources: 0 });
    await deaf.close();
    await other.close();
  });
});

describeMatrix("list_changed", { eras: ["legacy"] }, (cell) => {
  test("a list that was not declared in initialize is not told of, and the log says so [INIT-RESPECT-CAPS, INIT-RESPECT-VERSION-OLD]", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    server.tool("a", {}, () => "a");
    const before = await cell.connect(server);
    server.prompt("late", {}, () => "late");
    await settled(before);
    expect(counts(before)).toEqual({ tools: 0, prompts: 0, resources: 0 });
    expect(logger.entries.filter(({ level }) => level === "warn")).toHaveLength(1);
    const after = await cell.connect(server);
    server.prompt("later", {}, () => "later");
    server.tool("b", {}, () => "b");
    await settled(before);
    await settled(after);
    expect(counts(before)).toEqual({ tools: 1, prompts: 0, resources: 0 });
    expect(counts(after)).toEqual({ tools: 1, prompts: 1, resources: 0 });
    await before.close();
    await after.close();
  });

  test("a server without sessions declares no listChanged and sends none [LIST-CHANGED-DECLARE]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { mode: "stateless" });
    server.tool("a", {}, () => "a");
    const client = await cell.connect(server, { handshake: false });
    const opened = await client.open();
    expect(opened?.["capabilities"]).toMatchObject({ tools: {} });
    expect(opened?.["capabilities"]).not.toHaveProperty("tools.listChanged");
    server.tool("b", {}, () => "b");
    await settled(client);
    expect(counts(client)).toEqual({ tools: 0, prompts: 0, resources: 0 });
    expect(await server.push.count()).toBe(0);
    await client.close();
  });
});
