// One handler that asks in every way, for clients of every revision on every transport.
import { McpServer } from "halyard";
import { RpcRejection } from "halyard/testing";
import { expect, test } from "vitest";
import * as z from "zod";
import { ableClient, answersBy, converse, spoken } from "../../support/answering.ts";
import { open } from "../../support/catalogue.ts";
import { recordingLogger } from "../../support/log.ts";
import { describeMatrix } from "../../support/matrix.ts";

interface Interviewer {
  readonly server: McpServer;
  /** How often the work in between was done. */
  readonly runs: () => number;
}

function interviewer(mode: "both" | "stateless" = "both"): Interviewer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger(), mode });
  let runs = 0;
  server.tool("interview", { input: z.object({ topic: z.string() }) }, async ({ topic }, ctx) => {
    const { name } = await ctx.elicit("Name?", z.object({ name: z.string() }));
    const count = await ctx.once("count", () => ++runs);
    const { color } = await ctx.elicit("Colour?", z.object({ color: z.enum(["red", "blue"]) }));
    const [{ size }, { pet }] = await Promise.all([
      ctx.elicit("Size?", z.object({ size: z.int() })),
      ctx.elicit("Pet?", z.object({ pet: z.boolean() })),
    ]);
    const verse = await ctx.sample(`A verse on ${topic} in ${color}`, { maxTokens: 20 });
    const age = await ctx.tryElicit("Age?", z.object({ age: z.int() }));
    return JSON.stringify({ name, count, color, size, pet, verse: verse.text, age: age.action });
  });
  return { server, runs: () => runs };
}

const answers = answersBy({
  "Name?": { name: "Ada" },
  "Colour?": { color: "blue" },
  "Size?": { size: 7 },
  "Pet?": { pet: true },
  "Age?": { action: "decline" },
  "sampling/createMessage": spoken("Roses are blue"),
});

const call = { name: "interview", arguments: { topic: "roses" } };
const outcome = {
  name: "Ada",
  count: 1,
  color: "blue",
  size: 7,
  pet: true,
  verse: "Roses are blue",
  age: "decline",
};

describeMatrix("a handler that asks", { since: "2025-06-18" }, (cell) => {
  test("gets the same answers, and does its work once [ELIC-DELIVERY-LEGACY, ELIC-DELIVERY-MODERN, SAMP-DELIVERY-LEGACY, SAMP-DELIVERY-MODERN, ELIC-MESSAGE, MRTR-ONLY-WAY, BASE-SUPPORT-CORE-MODERN]", async () => {
    const { server, runs } = interviewer();
    const client = await open(cell, server, { capabilities: ableClient });
    const { result, asked, rounds } = await converse(client, "tools/call", call, answers);
    expect(result).toMatchObject({ content: [{ type: "text", text: JSON.stringify(outcome) }] });
    expect(result["isError"]).toBeUndefined();
    expect(runs()).toBe(1);
    expect(asked.map(({ method, params }) => params["message"] ?? method)).toEqual([
      "Name?",
      "Colour?",
      "Size?",
      "Pet?",
      "sampling/createMessage",
      "Age?",
    ]);
    // The two that were asked together went out together.
    expect(rounds).toBe(cell.era === "modern" ? 5 : 0);
    const requests = client.received.filter((message) => "method" in message && "id" in message);
    expect(requests).toHaveLength(cell.era === "modern" ? 0 : 6);
    expect(await server.push.pendingAsks()).toBe(0);
  });

  test("is refused with -32021 and what is missing by a client that declares too little [MRTR-CAPS, ELIC-MODE-NOT-SENT]", async () => {
    const { server, runs } = interviewer();
    const client = await open(cell, server, { capabilities: { sampling: {} } });
    await expect(client.request("tools/call", call)).rejects.toMatchObject({
      code: -32021,
      message: "elicitation/create: the client did not declare elicitation",
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect(runs()).toBe(0);
  });

  test("is refused with -32021 where it comes to the question that the client cannot answer", async () => {
    const { server, runs } = interviewer();
    const client = await open(cell, server, { capabilities: { elicitation: {} } });
    const error = await converse(client, "tools/call", call, answers).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcRejection);
    expect(error).toMatchObject({
      code: -32021,
      message: "sampling/createMessage: the client did not declare sampling",
      data: { requiredCapabilities: { sampling: {} } },
    });
    expect(runs()).toBe(1);
  });
});

describeMatrix("a handler that asks, for a revision without elicitation", { until: "2025-03-26" }, (cell) => {
  test("is refused with -32021, and has done nothing", async () => {
    const { server, runs } = interviewer();
    const client = await open(cell, server, { capabilities: ableClient });
    await expect(client.request("tools/call", call)).rejects.toMatchObject({
      code: -32021,
      message: `elicitation/create: protocol revision ${cell.revision} has no such request`,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect(runs()).toBe(0);
  });
});

describeMatrix(
  'a handler that asks, in mode "stateless"',
  { eras: ["legacy"], since: "2025-06-18" },
  (cell) => {
    test("ends with the remedy for a client without a session, and works for one that is a session by itself", async () => {
      const { server, runs } = interviewer("stateless");
      const client = await open(cell, server, { capabilities: ableClient });
      const { result } = await converse(client, "tools/call", call, answers);
      const remedy = 'it has no session: use mode "both" or "stateful"';
      const expected = cell.transport === "http" ? remedy : JSON.stringify(outcome);
      expect(result).toMatchObject({ content: [{ text: expect.stringContaining(expected) as string }] });
      expect(result["isError"]).toBe(cell.transport === "http" ? true : undefined);
      expect(runs()).toBe(cell.transport === "http" ? 0 : 1);
    });
  },
);
