// Where a question to a legacy client goes over HTTP, and how its answer finds back.
import { type JsonObject, McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { EventReply } from "../../support/event-reply.ts";
import { recordingLogger } from "../../support/log.ts";
import { edges, serve, SessionClient } from "../../support/sessions.ts";

const text = z.object({ text: z.string() });
const isQuestion = ({ method, id }: JsonObject): boolean => method !== undefined && id !== undefined;

function askingServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  const input = z.object({ who: z.string() });
  server.tool("ask", { input }, async ({ who }, ctx) => `${who} ${(await ctx.elicit(`${who}?`, text)).text}`);
  return server;
}

const accept = (given: string): JsonObject => ({ result: { action: "accept", content: { text: given } } });
const resultIn = async (reply: EventReply): Promise<JsonObject | undefined> => {
  await reply.closed;
  const { result } = reply.messages.at(-1) ?? {};
  return result as JsonObject | undefined;
};
const onlyJson = { accept: "application/json" };

describe.each(edges)("a question to a legacy client · %s", (edge) => {
  const setup = async (): Promise<SessionClient> => {
    const served = await serve(askingServer(), {}, edge);
    return SessionClient.open(served, { capabilities: { elicitation: {} } });
  };
  const call = (who: string, id: string): JsonObject => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "ask", arguments: { who } },
  });

  test("is sent on the stream of its call, and its answer arrives in a POST of its own [ELIC-DELIVERY-LEGACY]", async () => {
    const client = await setup();
    const stream = await client.get();
    const [one, two] = [await client.post(call("one", "c1")), await client.post(call("two", "c2"))];
    const questions = [await one.message(isQuestion), await two.message(isQuestion)] as const;
    expect(questions.map(({ params }) => (params as JsonObject)["message"])).toEqual(["one?", "two?"]);
    expect(await client.answer(questions[1], accept("second"))).toBe(202);
    expect(await client.answer(questions[0], accept("first"))).toBe(202);
    expect(await resultIn(one)).toMatchObject({ content: [{ text: "one first" }] });
    expect(await resultIn(two)).toMatchObject({ content: [{ text: "two second" }] });
    expect(stream.messages).toEqual([]);
  });

  test("is sent on the stream of the session when its call is not answered on one", async () => {
    const client = await setup();
    const stream = await client.get();
    const answered = client.post(call("one", "c"), onlyJson);
    await client.answer(await stream.message(isQuestion), accept("there"));
    const reply = await answered;
    expect(reply.headers["content-type"]).toContain("application/json");
    expect(await reply.json()).toMatchObject({ id: "c", result: { content: [{ text: "one there" }] } });
  });

  test("is an error that names the remedy when there is neither stream", async () => {
    const client = await setup();
    const reply = await client.post(call("one", "c"), onlyJson);
    const remedy = "it must accept text/event-stream or open a GET stream";
    expect(await reply.json()).toMatchObject({
      id: "c",
      result: {
        isError: true,
        content: [{ text: `elicitation/create: this client cannot receive requests: ${remedy}` }],
      },
    });
  });
});
