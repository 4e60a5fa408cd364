// Recordings of a client, without secrets, and their replay as a server.
import { McpServer } from "halyard";
import { type Change, connect, type ConnectOptions, type RecordedLine } from "halyard/client";
import { replay } from "halyard/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { describeClients } from "../support/client-matrix.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";
import { until } from "../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  let calls = 0;
  server.tool("count", { input: z.object({ by: z.number() }) }, ({ by }) => `${by}: ${++calls}`);
  server.tool("slow", {}, async (_, ctx) => {
    await ctx.progress(1, 2);
    return "done";
  });
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Who?", z.object({ name: z.string() }));
    return `Hello ${name}`;
  });
  server.tool("grow", {}, () => {
    server.tool("grown", {}, () => "grown");
    return "more";
  });
  return server;
}

const onElicit: ConnectOptions["onElicit"] = () => ({ action: "accept", content: { name: "Ann" } });

describeClients("a recording", {}, ({ connect: connectTo, revision, transport, era }) => {
  const hasForms = revision >= "2025-06-18";

  test("has each message as a line, and replays as the server did", async () => {
    const lines: string[] = [];
    const server = makeServer();
    const client = await connectTo(server, { onElicit, record: (line) => void lines.push(line) });
    const changes: Change[] = [];
    const walk = async (walker: typeof client): Promise<unknown[]> => {
      changes.length = 0;
      const progress: unknown[] = [];
      const listening = await walker.listen({ tools: true }, (change) => void changes.push(change));
      const seen = [
        await walker.callTool("count", { by: 1 }),
        await walker.callTool("count", { by: 2 }),
        await walker.callTool("count", { by: 1 }),
        await walker.callTool("slow", {}, { onProgress: (step) => void progress.push(step) }),
        progress,
        hasForms && (await walker.callTool("ask")),
        await walker.callTool("grow"),
      ];
      await until(() => changes.length === 1);
      await listening.close();
      return [...seen, walker.server, walker.capabilities, walker.revision];
    };
    const lived = await walk(client);
    await client.close();
    for (const line of lines) {
      const { time, direction, stream, message } = JSON.parse(line) as RecordedLine;
      expect(new Date(time).toISOString()).toBe(time);
      expect(["sent", "received"]).toContain(direction);
      expect(typeof stream).toBe("string");
      expect(message).toMatchObject({ jsonrpc: "2.0" });
      expect(line).not.toContain("\n");
    }
    if (transport === "http" && era === "legacy")
      expect(new Set(lines.map((line) => JSON.parse(line).stream)).size).toBeGreaterThan(1);
    await using replayed = await connect(replay(lines), { revision, onElicit });
    expect(await walk(replayed)).toEqual(lived);
  });
});

describe("a recording", () => {
  test("holds no secrets, whichever way they go, and keeps schemas readable", async () => {
    const server = new ScriptedServer({ capabilities: { tools: {} } });
    const inputSchema = { type: "object", properties: { password: { type: "string" }, token: true } };
    server.on("tools/list", () => ({
      tools: [{ name: "log-in", inputSchema }],
      ttlMs: 0,
      cacheScope: "private",
    }));
    server.on("tools/call", () => ({
      content: [],
      structuredContent: {
        access_token: "hush",
        "API-Key": 12,
        nested: [{ clientSecret: ["hush"] }],
        cursor: "kept",
      },
    }));
    const lines: string[] = [];
    await using client = await connect(server, { record: (line) => void lines.push(line) });
    await client.request("tools/list");
    const args = {
      user: "ann",
      password: "hush",
      Authorization: "Bearer hush",
      credentials: { pin: "hush" },
      isToken: true,
    };
    const result = await client.callTool("log-in", args);
    expect(result.structuredContent).toMatchObject({ access_token: "hush" });
    const text = lines.join("\n");
    expect(text).not.toContain("hush");
    const messages = lines.map((line) => (JSON.parse(line) as { message: object }).message);
    expect(messages).toContainEqual(
      expect.objectContaining({
        params: expect.objectContaining({
          arguments: {
            user: "ann",
            password: "[redacted]",
            Authorization: "[redacted]",
            credentials: { pin: "[redacted]" },
            isToken: true,
          },
          _meta: expect.objectContaining({ progressToken: expect.anything() }),
        }),
      }),
    );
    expect(messages).toContainEqual(
      expect.objectContaining({
        result: expect.objectContaining({ tools: [{ name: "log-in", inputSchema }] }),
      }),
    );
    expect(messages).toContainEqual(
      expect.objectContaining({
        result: expect.objectContaining({
          structuredContent: {
            access_token: "[redacted]",
            "API-Key": "[redacted]",
            nested: [{ clientSecret: "[redacted]" }],
            cursor: "kept",
          },
        }),
      }),
    );
    await using replayed = await connect(replay(lines));
    const again = await replayed.callTool("log-in", { ...args, password: "another" });
    expect(again.structuredContent).toMatchObject({ access_token: "[redacted]", cursor: "kept" });
  });

  test.each<[string, (secret: string) => string]>([
    ["as JSON", (secret) => JSON.stringify({ user: "ann", access_token: secret }, null, 2)],
    ["as YAML", (secret) => `user: ann\naccess_token: ${secret}`],
    ["in a sentence", (secret) => `Hello ann, your token is ${secret}!`],
    ["in the query of a URL", (secret) => `ann: https://example.com/?next=1&access_token=${secret}`],
    ["as a header", (secret) => `ann: Authorization: Bearer ${secret}`],
    ["in Base64", (secret) => `ann ${Buffer.from(`token ${secret}`).toString("base64")}`],
  ])("leaves out the copy of a structured secret %s, also in later messages", async (_, copyOf) => {
    const secret = "q8Zx4kTw2Jm5rVd0LQ2sYh3nPb9aGf";
    const server = new ScriptedServer({ capabilities: { tools: {} } });
    const text = copyOf(secret);
    server.on("tools/call", ({ params }) =>
      params?.["name"] === "first"
        ? { content: [{ type: "text", text }], structuredContent: { user: "ann", access_token: secret } }
        : { content: [{ type: "text", text }] },
    );
    const lines: string[] = [];
    await using client = await connect(server, { record: (line) => void lines.push(line) });
    for (const name of ["first", "later"]) {
      expect((await client.callTool(name)).content).toEqual([{ type: "text", text }]);
      const line = lines.findLast((one) => one.includes('"content"')) ?? "";
      expect(line).toContain("ann");
      expect(line).toContain("[redacted]");
      for (const part of [secret, copyOf(secret).slice(-16)]) expect(line).not.toContain(part);
    }
  });

  test("replays requests whose arguments repeat a secret", async () => {
    const server = makeServer();
    server.tool(
      "greet",
      { input: z.object({ name: z.string(), password: z.string() }) },
      ({ name }) => `Hi ${name}`,
    );
    const lines: string[] = [];
    const recorded = await connect(server, { record: (line) => void lines.push(line) });
    const args = { name: "I am hunter22-hunter22", password: "hunter22-hunter22" };
    await recorded.callTool("greet", args);
    await recorded.close();
    expect(lines.join("\n")).not.toContain("hunter22");
    await using replayed = await connect(replay(lines));
    const { content } = await replayed.callTool("greet", { ...args, password: "another" });
    expect(content).toEqual([{ type: "text", text: "Hi I am [redacted]" }]);
    await expect(replayed.callTool("greet", { name: "You are", password: "x" })).rejects.toThrow(
      "no such request",
    );
  });

  test("shows of a text that is not JSON only the length", async () => {
    const server = new ScriptedServer();
    const lines: string[] = [];
    await using client = await connect(server, { record: (line) => void lines.push(line) });
    server.end.send("password=hush");
    await client.ping();
    expect(lines.map((line) => (JSON.parse(line) as RecordedLine).message)).toContain(
      "[unreadable: 13 characters]",
    );
  });
});

describe("replay", () => {
  async function recorded(
    revision: string,
    use: (client: Awaited<ReturnType<typeof connect>>) => Promise<unknown>,
  ): Promise<string[]> {
    const lines: string[] = [];
    const client = await connect(makeServer(), { revision, record: (line) => void lines.push(line) });
    await use(client);
    await client.close();
    return lines;
  }

  test.each([newestModern, newestLegacy])(
    "shows the nearest request for one that is not recorded (%s)",
    async (revision) => {
      const lines = await recorded(revision, (client) => client.callTool("count", { by: 1 }));
      await using client = await connect(replay(lines), { revision });
      await expect(client.callTool("count", { by: 2 })).rejects.toThrow(
        'no such request: tools/call {"arguments":{"by":2},"name":"count"}; the nearest is tools/call {"arguments":{"by":1},"name":"count"}',
      );
      await client.callTool("count", { by: 1 });
      await expect(client.callTool("count", { by: 1 })).rejects.toThrow("it was sent only 1 times");
      const first = revision === newestModern ? "server/discover" : "initialize";
      await expect(client.getPrompt("x")).rejects.toThrow(
        `prompts/get {"name":"x"}; it has ${first}, tools/call`,
      );
    },
  );

  test("answers each client from the start, whatever its ids", async () => {
    const lines = await recorded(newestModern, (client) => client.callTool("count", { by: 1 }));
    const source = replay(lines);
    for (let round = 0; round < 2; round++) {
      await using client = await connect(source);
      await client.request("server/discover").catch(() => {});
      const { content } = await client.callTool("count", { by: 1 });
      expect(content).toEqual([{ type: "text", text: "1: 1" }]);
    }
  });

  test("answers a request that was lost as the repeated one was", async () => {
    const server = new ScriptedServer({ capabilities: { prompts: {} } });
    server.on("prompts/get", (_, end) => {
      if (server.ends.length > 1) return { messages: [] };
      end.cut();
      return undefined;
    });
    const lines: string[] = [];
    const options = { backoff: { firstMs: 1 }, record: (line: string): void => void lines.push(line) };
    const client = await connect(server, options);
    await client.getPrompt("greet");
    await client.close();
    await using replayed = await connect(replay(lines));
    expect(await replayed.getPrompt("greet")).toMatchObject({ messages: [] });
  });

  test("refuses what is not a recording", () => {
    expect(() => replay(["", "{}"])).toThrow("Line 2 is not of a recording: {}");
  });
});
