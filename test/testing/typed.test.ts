// The methods of a test client, which are those of halyard/client, and what a test sees when it makes a mistake.
import { type Logger, McpServer, type Servable, type ServerEvent } from "halyard";
import { McpClient } from "halyard/client";
import { connect, protocolRevisions, RpcRejection, TestClient } from "halyard/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";

type Given = NonNullable<Parameters<typeof connect>[1]>;

function noteServer(options?: ConstructorParameters<typeof McpServer>[1]): McpServer {
  const server = new McpServer({ name: "notes", version: "1.0.0" }, { instructions: "Be brief", ...options });
  server.tool("greet", { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}`);
  server.tool("fail", {}, () => {
    throw new Error("The disk is full");
  });
  server.tool("ask", {}, async (_, ctx) => {
    const { city } = await ctx.elicit("Where to?", z.object({ city: z.string() }));
    return `To ${city}`;
  });
  server.resource("note:///a", {}, () => "A note");
  server.resource("note:///broken", {}, () => {
    throw new Error("The disk is full");
  });
  server.prompt("review", {}, () => "Review this");
  return server;
}

async function opened(server: Servable, options?: Given): Promise<TestClient> {
  const client = await connect(server, options);
  onTestFinished(() => client.close());
  return client;
}

/** What went to standard error by the default logger. */
function printed(): ReturnType<typeof vi.spyOn> {
  const spy = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => spy.mockRestore());
  return spy;
}

const said = (text: string): object => ({ content: [{ type: "text", text }] });
const dates = protocolRevisions.map(({ date }) => date);

test("connect needs no options: it speaks the newest revision, without a request that middleware would see", async () => {
  const server = noteServer();
  const seen: string[] = [];
  server.use(({ method }, _, next) => {
    seen.push(method);
    return next();
  });
  const client = await opened(server);
  expect(client).toBeInstanceOf(McpClient);
  expect(client.revision).toBe(dates[0]);
  expect(client.server).toEqual({ name: "notes", version: "1.0.0" });
  expect(client.instructions).toBe("Be brief");
  expect(client.capabilities).toMatchObject({ tools: { listChanged: true }, prompts: {}, resources: {} });
  expect(seen).toEqual([]);
  expect(await client.callTool("greet", { name: "Ada" })).toMatchObject(said("Hello, Ada"));
  expect(seen).toEqual(["tools/call"]);
});

test("connect without options speaks the newest revision that the server supports", async () => {
  const { name, version } = { name: "old", version: "1.0.0" };
  const server = new McpServer({ name, version }, { supportedRevisions: dates.slice(2) });
  expect((await opened(server)).revision).toBe(dates[2]);
});

describe.each(dates)("a test client of %s", (revision) => {
  test("has the methods of a client", async () => {
    const server = noteServer();
    const client = await opened(server, { revision });
    expect(client.revision).toBe(revision);
    expect(await client.callTool("greet", { name: "Ada" })).toMatchObject(said("Hello, Ada"));
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["greet", "fail", "ask"]);
    expect(await client.readResource("note:///a")).toMatchObject({ contents: [{ text: "A note" }] });
    const { messages } = await client.getPrompt("review");
    expect(messages).toMatchObject([{ content: { type: "text", text: "Review this" } }]);
    await using listening = await client.listen({ tools: true });
    server.tool("late", {}, () => "late");
    for await (const { kind } of listening) {
      expect(kind).toBe("tools");
      break;
    }
    expect((await client.listTools()).map(({ name }) => name)).toContain("late");
  });

  test("hands what handlers threw to the test, and prints none of it", async () => {
    const spy = printed();
    const client = await opened(noteServer(), { revision });
    const { content, isError } = await client.callTool("fail");
    expect(isError).toBe(true);
    expect(content[0]).toMatchObject({
      text: expect.stringMatching(/^Tool fail failed \(error id /) as string,
    });
    const cause = expect.objectContaining({ message: "The disk is full" }) as Error;
    expect(client.failures).toEqual([cause]);
    await expect(client.readResource("note:///broken")).rejects.toMatchObject({ code: -32603, cause });
    await expect(client.request("resources/read", { uri: "note:///broken" })).rejects.toMatchObject({
      cause,
    });
    expect(client.failures).toHaveLength(3);
    expect(spy).not.toHaveBeenCalled();
  });

  test("leaves exceptions to the logger and the observer of the author, too", async () => {
    const logged: string[] = [];
    const events: ServerEvent[] = [];
    const logger: Logger = {
      debug() {},
      info() {},
      warn() {},
      error: (message) => void logged.push(message.replace(/ \(.*/, "")),
    };
    const server = noteServer({ logger, observe: (event) => void events.push(event) });
    const client = await opened(server, { revision });
    await client.callTool("fail");
    expect(logged).toEqual(["tools/call failed"]);
    expect(events.filter(({ type }) => type === "handler-error")).toHaveLength(1);
  });
});

test("a server that another client uses prints exceptions as ever", async () => {
  const spy = printed();
  const wire = noteServer().openWire();
  const answered = new Promise<string>((resolve) => (wire.onMessage = resolve));
  const client = new TestClient(
    { ...wire, onMessage: () => {}, onClose: () => {}, send: wire.send, close: wire.close },
    { revision: dates[0]! },
  );
  void wire.send(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", ...client.withMeta({ name: "fail" }) }),
  );
  await answered;
  await wire.close();
  expect(spy).toHaveBeenCalledOnce();
});

const asking = ["2026-07-28", "2025-11-25", "2025-06-18"];

describe.each(asking)("a tool that asks, under %s", (revision) => {
  test("is answered by the handlers of halyard/client", async () => {
    const asked: string[] = [];
    const client = await opened(noteServer(), {
      revision,
      onElicit: ({ message }) => {
        asked.push(message);
        return { action: "accept", content: { city: "Oslo" } };
      },
    });
    expect(await client.callTool("ask")).toMatchObject(said("To Oslo"));
    expect(await client.request("tools/call", { name: "ask" })).toMatchObject(said("To Oslo"));
    expect(asked).toEqual(["Where to?", "Where to?"]);
  });

  test("names the option to pass if the client declares nothing", async () => {
    const client = await opened(noteServer(), { revision });
    const error: unknown = await client.callTool("ask").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcRejection);
    expect(error).toMatchObject({
      code: -32021,
      message: "elicitation/create: the client did not declare elicitation: pass onElicit to connect",
    });
    await expect(client.request("tools/call", { name: "ask" })).rejects.toThrow(
      /^elicitation\/create: the client did not declare elicitation$/,
    );
  });

  test("names the option to pass if the client declares elicitation, and nothing answers", async () => {
    const client = await opened(noteServer(), { revision, capabilities: { elicitation: {} } });
    await expect(client.callTool("ask", {}, { timeoutMs: 400 })).rejects.toThrow(
      /^The server sent elicitation\/create, and the test client has no answer: pass onElicit to connect$/,
    );
  });

  test("rejects with what onElicit throws, such as a failed assertion", async () => {
    const onElicit = (): never => {
      throw new Error("not what was expected");
    };
    const client = await opened(noteServer(), { revision, onElicit });
    const outcome = client.callTool("ask");
    if (client.era === "modern") await expect(outcome).rejects.toThrow("not what was expected");
    else expect(await outcome.catch(() => ({ isError: true }))).toMatchObject({ isError: true });
  });
});

describe("connect refuses", () => {
  const known = dates.map((date) => `"${date}"`);
  const list = `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
  test.each<[string, unknown, unknown, string]>([
    [
      "the class",
      McpServer,
      undefined,
      "connect: server must be an McpServer of halyard, not the class McpServer: pass an instance",
    ],
    [
      "a function",
      () => noteServer(),
      undefined,
      "connect: server is a function: pass the McpServer itself, which serves every client",
    ],
    [
      "a promise",
      Promise.resolve(),
      undefined,
      "connect: server must be an McpServer of halyard, not a promise: await it",
    ],
    [
      "an unknown revision",
      noteServer(),
      { revision: "2026" },
      `connect: revision must be ${list}, not "2026"`,
    ],
    [
      "a misspelt option",
      noteServer(),
      { onElicitt: 1 },
      "connect: onElicitt is not an option: did you mean onElicit?",
    ],
    [
      "two ways to answer",
      noteServer(),
      { answer: () => undefined, onElicit: () => ({ action: "cancel" }) },
      "connect: answer answers every question, so that onElicit is never called: pass only one of them",
    ],
  ])("%s", async (_, server, options, message) => {
    const error: unknown = await connect(server as Servable, options as Given).catch(
      (reason: unknown) => reason,
    );
    expect((error as Error).message).toBe(message);
  });
});

test("a test client takes the types of the tools", async () => {
  interface Tools {
    greet: { input: { name: string } };
  }
  const client = await connect<Tools>(noteServer());
  onTestFinished(() => client.close());
  // @ts-expect-error -- the name is missing
  await client.callTool("greet", {});
  const { content } = await client.callTool("greet", { name: "Ada" });
  expect(content).toEqual([{ type: "text", text: "Hello, Ada" }]);
});

test("onLog and observe receive what the client of halyard/client hands on", async () => {
  const server = noteServer({ capabilities: { logging: true } });
  server.tool("log", {}, (_, ctx) => {
    ctx.log("warning", "careful");
    return "logged";
  });
  for (const revision of dates) {
    const entries: unknown[] = [];
    const methods: string[] = [];
    const client = await opened(server, {
      revision,
      onLog: ({ data }) => void entries.push(data),
      observe: (event) => void (event.type === "request" && methods.push(event.method)),
    });
    await client.callTool("log");
    expect(entries, revision).toEqual(["careful"]);
    expect(methods, revision).toContain("tools/call");
  }
});

describe("the option tasks", () => {
  const server = new McpServer({ name: "reports", version: "1.0.0" });
  server.tool("survey", { task: "required" }, () => "Surveyed");
  server.tool("report", { task: "optional" }, () => "Written");

  test("lets calls run as tasks, as the error without it says", async () => {
    const without = await opened(server);
    const error: unknown = await without.callTool("survey").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringContaining("it runs as a task: pass tasks: true to connect"),
    });
    const client = await opened(server, { tasks: true, capabilities: { roots: {} } });
    expect(await client.callTool("survey")).toMatchObject(said("Surveyed"));
    expect(await (await client.startTask("report")).result()).toMatchObject(said("Written"));
  });

  test("declares nothing to a legacy server", async () => {
    const capabilities: unknown[] = [];
    const legacy = new McpServer({ name: "reports", version: "1.0.0" });
    legacy.onInitialized(({ clientCapabilities }) => void capabilities.push(clientCapabilities));
    await opened(legacy, { tasks: true, revision: "2025-11-25" });
    expect(capabilities).toEqual([{}]);
  });
});
