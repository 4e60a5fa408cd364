// A test client that answers: what users of halyard/testing have for handlers that ask.
import { inputRequired, McpServer } from "halyard";
import { type Respond, connect, type Question, type TestClient } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { ableClient, spoken } from "../support/answering.ts";

const revisions = ["2026-07-28", "2025-11-25", "2025-06-18"];

async function travelClient(revision: string, answer?: Respond): Promise<TestClient> {
  const server = new McpServer({ name: "travel", version: "1.0.0" });
  server.tool("book", {}, async (_, ctx) => {
    const { city } = await ctx.elicit("Where to?", z.object({ city: z.string() }));
    const [{ seat }, { content }] = await Promise.all([
      ctx.elicit("Which seat?", z.object({ seat: z.string() })),
      ctx.sample("A wish for the journey"),
    ]);
    return `${city}, ${seat}: ${JSON.stringify(content)}`;
  });
  const client = await connect(server, { revision, capabilities: ableClient, ...(answer && { answer }) });
  onTestFinished(() => client.close());
  return client;
}

const answers: Readonly<Record<string, object>> = {
  "Where to?": { action: "accept", content: { city: "Oslo" } },
  "Which seat?": { action: "accept", content: { seat: "12A" } },
};

describe.each(revisions)("a test client with an answer, under %s", (revision) => {
  test("resolves a request with its last result, and each question is answered once", async () => {
    const asked: Question[] = [];
    const client = await travelClient(revision, (question) => {
      asked.push(question);
      const { method, params } = question;
      return {
        ...(method === "sampling/createMessage" ? spoken("Bon voyage") : answers[String(params["message"])]),
      };
    });
    const result = await client.request("tools/call", { name: "book" });
    expect(JSON.stringify(result)).toContain("Oslo, 12A: ");
    expect(JSON.stringify(result)).toContain("Bon voyage");
    expect(asked.map(({ method, params }) => params["message"] ?? method)).toEqual([
      "Where to?",
      "Which seat?",
      "sampling/createMessage",
    ]);
  });

  test("rejects a request with what its answer throws, so that an assertion in it fails the test", async () => {
    const client = await travelClient(revision, () => {
      throw new Error("not what was expected");
    });
    await expect(client.request("tools/call", { name: "book" })).rejects.toThrow("not what was expected");
  });

  test("leaves unanswered what it has no answer to", async () => {
    const client = await travelClient(revision, () => undefined);
    const running = client.request("tools/call", { name: "book" }, { id: "the-call" });
    if (client.era === "modern") expect(await running).toMatchObject({ resultType: "input_required" });
    else await client.waitFor((message) => "method" in message && message.method === "elicitation/create");
    running.catch(() => {});
  });
});

test("a test client with an answer comes back to a result that has a state and asks nothing", async () => {
  const server = new McpServer({ name: "slow", version: "1.0.0" });
  server.tool("wait", {}, (_, ctx) =>
    ctx.requestState() === undefined ? inputRequired({ requestState: 1 }) : "done",
  );
  const client = await connect(server, { revision: "2026-07-28", answer: () => undefined });
  onTestFinished(() => client.close());
  expect(await client.request("tools/call", { name: "wait" })).toMatchObject({
    content: [{ type: "text", text: "done" }],
  });
});

test("a test client without an answer leaves every question to the test", async () => {
  const client = await travelClient("2026-07-28");
  const result = await client.request("tools/call", { name: "book" });
  expect(result).toMatchObject({ resultType: "input_required" });
});
