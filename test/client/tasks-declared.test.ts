// The tasks extension is declared only when the user of a client asks for it, and every error that follows names the option.
import { McpServer } from "halyard";
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { ScriptedServer } from "../support/scripted-wire.ts";

const tasksId = "io.modelcontextprotocol/tasks";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

const server = new McpServer({ name: "reports", version: "1.0.0" });
server.tool("report", { task: "optional" }, () => "Written");
server.tool("survey", { task: "required" }, () => "Surveyed");

async function open(target: McpServer | ScriptedServer, options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

function failing(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no error",
    (error: unknown) => error,
  );
}

/** The capabilities that each request of a client declares. */
async function declaredBy(options: ConnectOptions): Promise<unknown[]> {
  const scripted = new ScriptedServer();
  const client = await open(scripted, options);
  await client.ping();
  return scripted.received.map(
    ({ params }) =>
      (params?.["_meta"] as Record<string, { extensions?: unknown }> | undefined)?.[capabilitiesKey]
        ?.extensions,
  );
}

describe("the tasks extension", () => {
  test("is declared by no request until tasks: true asks for it [EXT-OFF-BY-DEFAULT]", async () => {
    expect(await declaredBy({})).toEqual([undefined, undefined]);
    expect(await declaredBy({ tasks: false })).toEqual([undefined, undefined]);
    expect(await declaredBy({ tasks: true })).toEqual([{ [tasksId]: {} }, { [tasksId]: {} }]);
  });

  test("is not needed for a tool that can run as a task", async () => {
    const client = await open(server);
    expect((await client.callTool("report")).content).toEqual([{ type: "text", text: "Written" }]);
  });

  test("is named by startTask without it", async () => {
    const client = await open(server);
    expect(await failing(client.startTask("report"))).toMatchObject({
      code: "NO_TASKS",
      message: 'startTask("report"): this client did not declare tasks: pass tasks: true to connect',
    });
  });

  test("is named when the server requires it", async () => {
    const client = await open(server);
    expect(await failing(client.callTool("survey"))).toMatchObject({
      name: "RpcRejection",
      code: -32021,
      data: { requiredCapabilities: { extensions: { [tasksId]: {} } } },
      message:
        "tools/call survey: it runs as a task: pass tasks: true to connect (-32021: The client did not declare io.modelcontextprotocol/tasks)",
    });
  });

  test("is named when a server responds with a task unasked", async () => {
    const scripted = new ScriptedServer({ capabilities: { tools: {} } });
    scripted.on("tools/call", () => ({ resultType: "task", taskId: "t1", status: "working" }));
    const client = await open(scripted);
    expect(await failing(client.callTool("report"))).toMatchObject({
      code: "INVALID_RESPONSE",
      message:
        "tools/call report: the server's result is a task, although this client did not declare tasks: pass tasks: true to connect",
    });
    expect(scripted.of("tasks/get")).toEqual([]);
  });

  test("changes nothing under 2025-11-25, whose tasks belong to the protocol", async () => {
    const client = await open(server, { revision: "2025-11-25" });
    expect((await client.callTool("survey")).content).toEqual([{ type: "text", text: "Surveyed" }]);
    const task = await client.startTask("report");
    expect((await task.result()).content).toEqual([{ type: "text", text: "Written" }]);
  });

  test("is an option that must be true or false", async () => {
    expect(await failing(connect(server, { tasks: "yes" as never }))).toMatchObject({
      message: 'connect: tasks must be true or false, not "yes"',
    });
  });
});
