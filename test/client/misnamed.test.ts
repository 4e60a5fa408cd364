// A call of a tool that the server does not have: the error suggests the one that was probably meant.
import { McpServer } from "halyard";
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { Refuse, ScriptedServer } from "../support/scripted-wire.ts";

const server = new McpServer({ name: "weather", version: "1.0.0" });
server.tool("get_forecast", { input: z.object({ city: z.string() }) }, ({ city }) => `Rain in ${city}`);
server.tool("list_places", {}, () => "Oslo");

async function open(target: Parameters<typeof connect>[0], options: ConnectOptions): Promise<McpClient> {
  const client = await connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

test.each([newestModern, newestLegacy])("a name with a slip, on %s", async (revision) => {
  const http = await serveHttp(server, { port: 0 });
  onTestFinished(() => http.close());
  for (const target of [server, http.url]) {
    const client = await open(target, { revision });
    await expect(client.callTool("getForecast")).rejects.toMatchObject({
      code: -32602,
      message: "Unknown tool: getForecast: did you mean get_forecast?",
    });
    await expect(client.callTool("pay")).rejects.toMatchObject({
      message: "Unknown tool: pay: choose from get_forecast, list_places",
    });
  }
});

test("arguments that do not match are not taken for a wrong name", async () => {
  const scripted = new ScriptedServer({ capabilities: { tools: {} } });
  scripted.on("tools/list", () => ({
    resultType: "complete",
    tools: [{ name: "pay", inputSchema: { type: "object" } }],
  }));
  scripted.on("tools/call", () => Promise.reject(new Refuse(-32602, "amount must be a number")));
  const client = await open(scripted, {});
  await expect(client.callTool("pay")).rejects.toThrow(/^amount must be a number$/);
});

test("a list that fails, or names of any length, leave the error of the server", async () => {
  const scripted = new ScriptedServer({ capabilities: { tools: {} } });
  scripted.on("tools/call", () => Promise.reject(new Refuse(-32602, "Unknown tool")));
  scripted.on("tools/list", () => Promise.reject(new Refuse(-32603, "No list")));
  await expect((await open(scripted, {})).callTool("pay")).rejects.toThrow(/^Unknown tool$/);
  const long = { name: "x".repeat(100_000), inputSchema: { type: "object" } };
  scripted.on("tools/list", () => ({ resultType: "complete", tools: [long] }));
  await expect((await open(scripted, {})).callTool("pay")).rejects.toThrow(/^Unknown tool$/);
});
