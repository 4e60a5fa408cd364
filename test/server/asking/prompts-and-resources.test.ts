// Prompts and resources that ask, and the requests that cannot be answered with questions.
import { InputDeclined, inputRequired, McpServer } from "halyard";
import { expect, test } from "vitest";
import * as z from "zod";
import { ableClient, answersBy, converse } from "../../support/answering.ts";
import { open } from "../../support/catalogue.ts";
import { recordingLogger } from "../../support/log.ts";
import { describeMatrix } from "../../support/matrix.ts";

const text = z.object({ text: z.string() });

function library(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.prompt("greet", { arguments: z.object({ word: z.string() }) }, async ({ word }, ctx) => {
    const { text: name } = await ctx.elicit("Name?", text);
    return `${word}, ${name}`;
  });
  server.prompt("where", {}, (_, ctx) => {
    const roots = ctx.inputResponses?.["where"]?.["roots"];
    if (roots === undefined) return inputRequired({ inputRequests: { where: { method: "roots/list" } } });
    return JSON.stringify(roots);
  });
  server.resource("note:///a", { name: "a" }, async (_, ctx) => (await ctx.elicit("Which?", text)).text);
  server.resourceTemplate("note:///by/{id}", { name: "by" }, async ({ params: { id } }, ctx) => {
    const [which, roots] = await Promise.all([ctx.elicit("Which?", text), ctx.roots()]);
    return `${id} ${which.text} ${roots.length}`;
  });
  return server;
}

const answers = answersBy({
  "Name?": { text: "Ada" },
  "Which?": { text: "this" },
  "roots/list": { roots: [{ uri: "file:///a" }] },
});

describeMatrix("a handler that asks", { since: "2025-06-18" }, (cell) => {
  test.each([
    [
      "prompts/get",
      { name: "greet", arguments: { word: "Hello" } },
      { messages: [{ content: { text: "Hello, Ada" } }] },
    ],
    ["prompts/get", { name: "where" }, { messages: [{ content: { text: '[{"uri":"file:///a"}]' } }] }],
    ["resources/read", { uri: "note:///a" }, { contents: [{ uri: "note:///a", text: "this" }] }],
    ["resources/read", { uri: "note:///by/7" }, { contents: [{ text: "7 this 1" }] }],
  ])("%s %o has its answer [MRTR-METHODS]", async (method, params, expected) => {
    const client = await open(cell, library(), { capabilities: ableClient });
    const { result, rounds } = await converse(client, method, params, answers);
    expect(result).toMatchObject(expected);
    expect(rounds).toBe(cell.era === "modern" ? 1 : 0);
  });

  test("a prompt whose question is declined ends with an error that says so [ELIC-SERVER-HANDLE]", async () => {
    const client = await open(cell, library(), { capabilities: ableClient });
    const params = { name: "greet", arguments: { word: "Hello" } };
    const declined = converse(client, "prompts/get", params, () => ({ action: "decline" }));
    const { message } = new InputDeclined("Name?");
    await expect(declined).rejects.toMatchObject({ code: -32603, message });
  });
});

describeMatrix("an interim result of resources/read", { eras: ["modern"] }, (cell) => {
  test("has no cache hints [CACHE-NOT-ON-INTERIM]", async () => {
    const client = await open(cell, library(), { capabilities: ableClient });
    const result = await client.request("resources/read", { uri: "note:///a" });
    expect(result["resultType"]).toBe("input_required");
    expect(result).not.toHaveProperty("ttlMs");
    expect(result).not.toHaveProperty("cacheScope");
  });

  test("a request of another method is not answered with questions [MRTR-METHODS-OTHER]", async () => {
    const server = library();
    let problem = "";
    server.use("tools/list", async (_, ctx, next) => {
      await ctx.roots().catch((error: Error) => (problem = error.message));
      return next();
    });
    server.tool("any", {}, () => "any");
    const client = await open(cell, server, { capabilities: ableClient });
    expect(await client.request("tools/list")).toMatchObject({ resultType: "complete" });
    expect(problem).toContain("in a tool, prompt or resource");
  });
});
