// Notifications that a function cannot send to every client that they are for: it says what can.
import { expect, test } from "vitest";
import { call, makeServer, open, textOf } from "../../support/catalogue.ts";
import { listen, settled, toldTo } from "../../support/listen.ts";
import { type Cell, cells, describeMatrix } from "../../support/matrix.ts";

const lists = ["tools", "prompts", "resources"].map((list) => `notifications/${list}/list_changed`);
const listChanges = lists.map((name): [string, string] => [name, `server.push.publish("${name}")`]);
const update = ["notifications/resources/updated", "server.resources.updated(uri)"] as const;
const log = [
  "notifications/message",
  "ctx.log(level, data) in a handler, or server.log(level, data)",
] as const;
const progress = ["notifications/progress", "ctx.progress(done, total) in a handler"] as const;
const page = ["notifications/elicitation/complete", "server.push.elicitationComplete(id)"] as const;

test.each([...listChanges, update, progress, page])(
  "push.broadcast of %s rejects and names %s",
  async (method, way) => {
    const { server } = makeServer();
    await expect(server.push.broadcast(method)).rejects.toThrow(
      new TypeError(`push.broadcast cannot send ${method} to modern clients: use ${way}`),
    );
  },
);

test.each([
  ["notifications/resources/updated", "without a URI", update[1]],
  [log[0], "to which no client can subscribe", log[1]],
  [progress[0], "to which no client can subscribe", progress[1]],
  [
    "notifications/tool/list_changed",
    "to which no client can subscribe",
    "an extension with listens, or server.push.broadcast()",
  ],
])("push.publish of %s %s rejects and names %s", async (method, reason, way) => {
  const { server } = makeServer();
  await expect(server.push.publish(method)).rejects.toThrow(
    new TypeError(`push.publish cannot send ${method} ${reason}: use ${way}`),
  );
});

test("push.publish rejects params in the place of the key, which would reach no client", async () => {
  const { server } = makeServer();
  await expect(server.push.publish(update[0], { uri: "note:///a" } as never)).rejects.toThrow(
    new TypeError("push.publish(notification, key, params): key must be a text; params come third"),
  );
});

test.each([...listChanges, update, log, progress, page])(
  "ctx.notify of %s throws and names %s",
  async (method, way) => {
    const { server } = makeServer({ errors: "message" });
    server.tool("x", {}, async (_, ctx) => ctx.notify(method));
    const [newest] = cells({ transports: ["memory"] }) as [Cell];
    const told = `ctx.notify cannot send ${method}, which belongs to the protocol: use ${way}`;
    expect(textOf(await call(await open(newest, server), "x"))).toBe(told);
  },
);

describeMatrix("resources.listChanged()", {}, (cell) => {
  test("tells the clients that watch the list, after the list of a template has changed", async () => {
    const { server } = makeServer();
    const notes = ["note:///a"];
    server.resourceTemplate("note:///{name}", { list: () => notes.map((uri) => ({ uri })) }, () => "text");
    server.tool("add", {}, async () => {
      notes.push("note:///b");
      return String(await server.resources.listChanged());
    });
    const client = await open(cell, server);
    if (cell.era === "modern") await listen(client, { resourcesListChanged: true }, "sub");
    expect((await call(client, "add")).content).toEqual([{ type: "text", text: "1" }]);
    await settled(client);
    const method = "notifications/resources/list_changed";
    expect(client.notifications(method)).toHaveLength(1);
    if (cell.era === "modern") expect(toldTo(client.received, "sub")).toEqual(["resources/list_changed"]);
    expect((await client.request("resources/list"))["resources"]).toHaveLength(2);
  });
});
