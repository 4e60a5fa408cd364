// Messages that the protocol does not define: handlers for those of the server, and reports of those that nothing takes.
import { ProtocolError } from "halyard";
import { type ClientEvent, connect, type ConnectOptions, type McpClient } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";
import { until } from "../support/turns.ts";

interface Opened {
  readonly server: ScriptedServer;
  readonly client: McpClient;
  readonly events: ClientEvent[];
  readonly unhandled: () => ClientEvent[];
}

async function open(revision: string, options: ConnectOptions = {}): Promise<Opened> {
  const server = new ScriptedServer({ revision });
  const events: ClientEvent[] = [];
  const client = await connect(server, { revision, observe: (event) => events.push(event), ...options });
  onTestFinished(() => client.close());
  return { server, client, events, unhandled: () => events.filter(({ type }) => type === "unhandled") };
}

/** What the client responded to the request with that id. */
async function responseTo(server: ScriptedServer, id: string): Promise<object> {
  const find = (): object | undefined =>
    server.received.find((message) => message.method === undefined && message.id === id);
  await until(() => find() !== undefined);
  return find() as object;
}

describe.each([newestModern, newestLegacy])("notifications on %s", (revision) => {
  test("reach the handler of their method, and no report", async () => {
    const heard: unknown[] = [];
    const onNotification = { "acme/news": (params: object) => heard.push(params) };
    const { server, unhandled } = await open(revision, { onNotification });
    server.end.notify("acme/news", { text: "Rain" });
    server.end.notify("acme/news");
    await until(() => heard.length === 2);
    expect(heard).toEqual([{ text: "Rain" }, {}]);
    expect(unhandled()).toEqual([]);
  });

  test("without a handler are reported, those of the protocol are not", async () => {
    const { server, unhandled } = await open(revision);
    server.end.notify("notifications/message", { level: "info", data: "Hello" });
    server.end.notify("notifications/tools/list_changed");
    server.end.notify("acme/news", { text: "Rain" });
    await until(() => unhandled().length > 0);
    expect(unhandled()).toEqual([{ type: "unhandled", message: "notification", method: "acme/news" }]);
  });

  test("whose handler throws break nothing, and the reason is reported", async () => {
    const onNotification = {
      "acme/news": () => {
        throw new Error("No paper");
      },
    };
    const { server, client, events } = await open(revision, { onNotification });
    server.on("still/there", () => ({ resultType: "complete" }));
    server.end.notify("acme/news");
    await client.request("still/there");
    expect(events).toContainEqual({ type: "ignored", reason: "A callback failed: Error: No paper" });
  });
});

describe("requests of a legacy server", () => {
  test("are answered by the handler of their method", async () => {
    const asked: unknown[] = [];
    const { server, events } = await open(newestLegacy, {
      onRequest: {
        "acme/colour": (params, { server: address, signal }) => {
          asked.push(params, address, signal.aborted);
          return { colour: "red" };
        },
      },
    });
    server.end.send({ jsonrpc: "2.0", id: "q1", method: "acme/colour", params: { of: "roses" } });
    expect(await responseTo(server, "q1")).toMatchObject({ result: { colour: "red" } });
    expect(asked).toEqual([{ of: "roses" }, "wire", false]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "question", method: "acme/colour", outcome: "ok" }),
    );
  });

  test("without a handler are rejected and reported", async () => {
    const { server, unhandled } = await open(newestLegacy);
    server.end.send({ jsonrpc: "2.0", id: "q1", method: "acme/colour" });
    expect(await responseTo(server, "q1")).toMatchObject({
      error: { code: -32601, message: "Unknown method: acme/colour" },
    });
    expect(unhandled()).toEqual([{ type: "unhandled", message: "request", method: "acme/colour" }]);
  });

  test.each<readonly [string, () => never, object]>([
    [
      "anything",
      () => {
        throw new Error("my password is 1234");
      },
      { code: -32603, message: "The client could not answer" },
    ],
    [
      "a ProtocolError",
      () => {
        throw new ProtocolError(-32602, "No such flower");
      },
      { code: -32602, message: "No such flower" },
    ],
    [
      "nothing, and returns a text",
      () => "red" as never,
      { code: -32603, message: "The client could not answer" },
    ],
  ])("whose handler throws %s get an error that reveals no more than it should", async (_, handle, error) => {
    const { server } = await open(newestLegacy, { onRequest: { "acme/colour": handle } });
    server.end.send({ jsonrpc: "2.0", id: "q1", method: "acme/colour" });
    expect(await responseTo(server, "q1")).toMatchObject({ error });
  });
});

test("a modern server asks the same in a result", async () => {
  const { server, client } = await open(newestModern, {
    onRequest: { "acme/colour": () => ({ colour: "red" }) },
  });
  server.on("tools/call", ({ params }) =>
    params?.["inputResponses"]
      ? {
          resultType: "complete",
          content: [{ type: "text", text: JSON.stringify(params["inputResponses"]) }],
        }
      : { resultType: "input_required", inputRequests: { a: { method: "acme/colour", params: {} } } },
  );
  const { content } = await client.callTool("paint");
  expect(content).toEqual([{ type: "text", text: '{"a":{"colour":"red"}}' }]);
});

test.each([
  [
    { onRequest: { "roots/list": () => ({}) } },
    'onRequest["roots/list"] is a request of the protocol: pass roots',
  ],
  [
    { onRequest: { "elicitation/create": () => ({}) } },
    'onRequest["elicitation/create"] is a request of the protocol: pass onElicit',
  ],
  [
    { onRequest: { ping: () => ({}) } },
    'onRequest["ping"] is a request of the protocol: the client answers it',
  ],
  [
    { onNotification: (() => {}) as never },
    'onNotification must be an object of methods and functions, such as { "acme/news": (params) => console.log(params) }, not a function',
  ],
  [
    { onNotification: { "acme/news": "log" as never } },
    'onNotification must be an object of methods and functions, such as { "acme/news": (params) => console.log(params) }',
  ],
])("options that cannot work: %o", async (options, problem) => {
  await expect(connect(new ScriptedServer(), options)).rejects.toThrow(`connect: ${problem}`);
});
