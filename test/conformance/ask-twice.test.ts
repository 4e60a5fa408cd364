// The fixture's `ask_twice` on the wire: two questions, and between them something that is done once.
import { randomUUID } from "node:crypto";
import type { JsonObject } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect, test } from "vitest";
import { createEverythingServer } from "../../examples/everything/server.ts";
import { describeMatrix } from "../support/matrix.ts";

const capabilities = { elicitation: {} };
const answers: Record<string, JsonObject> = { name: { name: "Ada" }, color: { color: "green" } };

/** The answer to a form, by its only field. */
function answerTo(params: unknown): JsonObject {
  const { requestedSchema } = params as { requestedSchema: { properties: object } };
  const [field = ""] = Object.keys(requestedSchema.properties);
  return { action: "accept", content: answers[field] };
}

interface Round {
  readonly inputResponses: JsonObject;
  readonly requestState: unknown;
}

/** Calls as a modern client does: again and again, with the answers to what came back. */
async function callInRounds(client: TestClient, params: JsonObject): Promise<[JsonObject, Round[]]> {
  const rounds: Round[] = [];
  let result = await client.request("tools/call", params);
  while (result["resultType"] === "input_required") {
    const { inputRequests, requestState } = result;
    const asked = Object.entries(inputRequests as Record<string, JsonObject>);
    const inputResponses = Object.fromEntries(
      asked.map(([key, request]) => [key, answerTo(request["params"])]),
    );
    rounds.push({ inputResponses, requestState });
    result = await client.request("tools/call", { ...params, inputResponses, requestState });
  }
  return [result, rounds];
}

/** Calls as a legacy client does: answering what comes meanwhile. */
async function callAnswering(client: TestClient, params: JsonObject): Promise<JsonObject> {
  const called = client.request("tools/call", params);
  const isAnswered = new Set<unknown>();
  for (let count = 0; count < 2; count++) {
    const question = await client.waitFor(
      (one) => "method" in one && one.method === "elicitation/create" && !isAnswered.has(idOf(one)),
    );
    isAnswered.add(idOf(question));
    client.send({ jsonrpc: "2.0", id: idOf(question), result: answerTo(paramsOf(question)) });
  }
  return called;
}

function idOf(message: object): unknown {
  return "id" in message ? message.id : undefined;
}

function paramsOf(message: object): unknown {
  return "params" in message ? message.params : undefined;
}

describeMatrix("ask_twice", { eras: ["modern"] }, ({ connect }) => {
  test("asks in two rounds and counts once for each call; a round that is sent again is done again [MRTR-RESULT-SHAPE, MRTR-AT-LEAST-ONE, MRTR-NO-ASSUME-RETRY]", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    const params = { name: "ask_twice", arguments: { key: randomUUID() } };
    const [first, rounds] = await callInRounds(client, params);
    expect(rounds).toHaveLength(2);
    expect(first["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 1 });
    const [second] = await callInRounds(client, params);
    expect(second["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 2 });
    // The last round has the count behind it, the first one has not.
    const [earlier, last] = rounds;
    const again = await client.request("tools/call", { ...params, ...last });
    expect(again["structuredContent"]).toMatchObject({ runs: 2 });
    await client.request("tools/call", { ...params, ...earlier });
    expect((await callInRounds(client, params))[0]["structuredContent"]).toMatchObject({ runs: 4 });
    await client.close();
  });

  test("counts under a key of its own when none is given", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    const [result] = await callInRounds(client, { name: "ask_twice" });
    expect(result["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 1 });
    await client.close();
  });
});

describeMatrix("ask_twice", { eras: ["legacy"], since: "2025-06-18" }, ({ connect }) => {
  test("asks twice while the call runs, and counts once [ELIC-DELIVERY-LEGACY]", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    const params = { name: "ask_twice", arguments: { key: randomUUID() } };
    const { structuredContent } = await callAnswering(client, params);
    expect(structuredContent).toEqual({ name: "Ada", color: "green", runs: 1 });
    await client.close();
  });
});

describeMatrix("ask_twice", { until: "2025-03-26" }, ({ connect, revision }) => {
  test("is refused where the revision has no such question", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    await expect(client.request("tools/call", { name: "ask_twice" })).rejects.toMatchObject({
      code: -32021,
      message: expect.stringContaining(revision),
    });
    await client.close();
  });
});
