// The fixture's `ask_twice` on the wire: two questions, and between them something that is done once.
import { randomUUID } from "node:crypto";
import type { JsonObject } from "halyard";
import { type Question, type TestClient } from "halyard/testing";
import { expect, test } from "vitest";
import { createEverythingServer } from "../../examples/everything/server.ts";
import { converse, type Talk } from "../support/answering.ts";
import { describeMatrix } from "../support/matrix.ts";

const capabilities = { elicitation: {} };
const answers: Record<string, JsonObject> = { name: { name: "Ada" }, color: { color: "green" } };

/** The answer to a form, by its only field. */
function answer({ params }: Question): JsonObject {
  const { requestedSchema } = params as { requestedSchema: { properties: object } };
  const [field = ""] = Object.keys(requestedSchema.properties);
  return { action: "accept", content: answers[field] };
}

function askTwice(client: TestClient, params: JsonObject): Promise<Talk> {
  return converse(client, "tools/call", params, answer);
}

describeMatrix("ask_twice", { eras: ["modern"] }, ({ connect }) => {
  test("asks in two rounds and counts once for each call; a round that is sent again is done again [MRTR-RESULT-SHAPE, MRTR-AT-LEAST-ONE, MRTR-NO-ASSUME-RETRY]", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    const params = { name: "ask_twice", arguments: { key: randomUUID() } };
    const { result, retries } = await askTwice(client, params);
    expect(retries).toHaveLength(2);
    expect(result["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 1 });
    const second = await askTwice(client, params);
    expect(second.result["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 2 });
    // The last round has the count behind it, the first one has not.
    const [earlier, last] = retries;
    const again = await client.request("tools/call", { ...params, ...last });
    expect(again["structuredContent"]).toMatchObject({ runs: 2 });
    await client.request("tools/call", { ...params, ...earlier });
    expect((await askTwice(client, params)).result["structuredContent"]).toMatchObject({ runs: 4 });
    await client.close();
  });

  test("counts under a key of its own when none is given", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    const { result } = await askTwice(client, { name: "ask_twice" });
    expect(result["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 1 });
    await client.close();
  });
});

describeMatrix("ask_twice", { eras: ["legacy"], since: "2025-06-18" }, ({ connect }) => {
  test("asks twice while the call runs, and counts once [ELIC-DELIVERY-LEGACY]", async () => {
    const client = await connect(createEverythingServer(), { capabilities });
    const params = { name: "ask_twice", arguments: { key: randomUUID() } };
    const { result, asked } = await askTwice(client, params);
    expect(result["structuredContent"]).toEqual({ name: "Ada", color: "green", runs: 1 });
    expect(asked.map(({ method }) => method)).toEqual(["elicitation/create", "elicitation/create"]);
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
