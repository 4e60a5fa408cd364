// How long a question to a legacy client waits for its answer, and what ends the wait.
import type { JsonObject } from "halyard";
import type { TestClient } from "halyard/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import * as z from "zod";
import { type AskingTool, askingTool, said } from "../../support/asking-tool.ts";
import { newestLegacy } from "../../support/raw.ts";
import { eventually } from "../../support/turns.ts";

const text = z.object({ text: z.string() });

interface Asked {
  readonly id: string;
  readonly params: { readonly _meta: { readonly progressToken: string } };
}

/** The questions that have arrived. */
function questions(client: TestClient): Asked[] {
  return client.received.filter((message) => "method" in message && "id" in message) as unknown as Asked[];
}

const cancelled = (client: TestClient): unknown[] =>
  client.notifications("notifications/cancelled").map(({ params }) => params?.["requestId"]);

async function setup(timeoutMs?: number): Promise<AskingTool & { outcomes: string[] }> {
  const outcomes: string[] = [];
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  const made = await askingTool(
    async (_, ctx) => {
      const outcome = await ctx.elicit("A", text, options).then(
        (content) => content.text,
        (error: Error) => error.message,
      );
      outcomes.push(outcome);
      return outcome;
    },
    { revision: newestLegacy },
  );
  return { ...made, outcomes };
}

describe("the time that a question has", () => {
  beforeEach(() => holdClocks("setTimeout", "clearTimeout"));

  const tick = (timeMs: number): Promise<unknown> => vi.advanceTimersByTimeAsync(timeMs);
  const progress = (client: TestClient, progressToken: unknown, count: number): Promise<void> =>
    client.notify("notifications/progress", { progressToken, progress: count });

  test("is timeoutMs: then it fails, and the client is notified [TIMEOUT-ALL, TIMEOUT-PER-REQUEST]", async () => {
    const { client, ask } = await setup(100);
    const asked = ask();
    await tick(99);
    expect(cancelled(client)).toEqual([]);
    await tick(1);
    expect(await asked).toMatchObject({
      content: [{ text: "elicitation/create: No answer within 100 ms" }],
    });
    expect(cancelled(client)).toEqual(questions(client).map(({ id }) => id));
  });

  test("is ten minutes for a form when the author does not say", async () => {
    const { outcomes, client } = await setup();
    client.send({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "ask" } });
    for (let minute = 0; minute < 9; minute++) await tick(60_000);
    expect(outcomes).toEqual([]);
    await tick(60_000);
    expect(outcomes).toEqual(["elicitation/create: No answer within 600000 ms"]);
  });

  test("begins again with each sign of progress for its own token [TIMEOUT-PROGRESS-RESET]", async () => {
    const { client, ask } = await setup(100);
    const asked = ask();
    await tick(0);
    const [question] = questions(client);
    for (let count = 1; count <= 3; count++) {
      await tick(90);
      progress(client, question?.params._meta.progressToken, count);
    }
    await tick(90);
    client.send({
      jsonrpc: "2.0",
      id: question?.id,
      result: { action: "accept", content: { text: "at last" } },
    });
    expect(said(await asked)).toBe("at last");
  });

  test("does not begin again with progress for another token", async () => {
    const { client, ask, outcomes } = await setup(100);
    const asked = ask();
    await tick(90);
    progress(client, "another", 1);
    progress(client, undefined, 1);
    await tick(10);
    await asked;
    expect(outcomes).toEqual(["elicitation/create: No answer within 100 ms"]);
  });

  test("ends after ten times timeoutMs, however much progress there is [TIMEOUT-MAX]", async () => {
    const { client, ask, outcomes } = await setup(100);
    const asked = ask();
    await tick(0);
    const token = questions(client)[0]?.params._meta.progressToken;
    for (let count = 1; count <= 19; count++) {
      await tick(50);
      progress(client, token, count);
    }
    expect(outcomes).toEqual([]);
    await tick(50);
    await asked;
    expect(outcomes).toEqual(["elicitation/create: No answer within 100 ms"]);
  });
});

test("a question is given up with its call: the client is notified, and its answer comes too late", async () => {
  const { client, ask, outcomes, server } = await setup();
  const asked: Promise<JsonObject> = ask();
  asked.catch(() => {});
  await client.waitFor((message) => "method" in message && "id" in message);
  const [question] = questions(client);
  client.notify("notifications/cancelled", { requestId: 2 });
  await client.waitFor((message) => "method" in message && message.method === "notifications/cancelled");
  expect(cancelled(client)).toEqual([question?.id]);
  await eventually(() => expect(outcomes).toEqual(["elicitation/create: The call that asked was cancelled"]));
  client.send({ jsonrpc: "2.0", id: question?.id, result: { action: "accept", content: { text: "late" } } });
  expect(await server.push.pendingAsks()).toBe(0);
  expect(outcomes).toHaveLength(1);
});

test("a question that is still open when its call ends is given up, and the client is notified before it has the result", async () => {
  const failures: string[] = [];
  const { client, ask, server } = await askingTool(
    async (_, ctx) => {
      const late = ctx.elicit("B", text);
      late.catch((error: Error) => failures.push(error.message));
      return (await Promise.race([ctx.elicit("A", text), late])).text;
    },
    { revision: newestLegacy },
  );
  const asked = ask();
  await vi.waitFor(() => expect(questions(client)).toHaveLength(2));
  const [late, first] = questions(client);
  client.send({ jsonrpc: "2.0", id: first?.id, result: { action: "accept", content: { text: "a" } } });
  expect(said(await asked)).toBe("a");
  expect(cancelled(client)).toEqual([late?.id]);
  await vi.waitFor(() => expect(failures).toEqual(["elicitation/create: The call that asked has ended"]));
  expect(await server.push.pendingAsks()).toBe(0);
});

test("an error of the client fails the question with its words, whatever its code [BASE-ERR-LEGACY-RANGE-MEANING]", async () => {
  for (const code of [-32000, -32002, -32010, -32019, -32601]) {
    const { client, ask } = await setup();
    const asked = ask();
    await client.waitFor((message) => "method" in message && "id" in message);
    client.send({ jsonrpc: "2.0", id: questions(client)[0]?.id, error: { code, message: "Not now" } });
    expect(said(await asked)).toBe("Not now");
  }
});

test("every question has a progress token of its own [PROG-TOKEN-UNIQUE]", async () => {
  const { client, ask } = await setup();
  const asked = Array.from({ length: 20 }, () => ask());
  await eventually(() => expect(questions(client)).toHaveLength(20));
  const tokens = questions(client).map(({ params }) => params._meta.progressToken);
  expect(new Set(tokens).size).toBe(20);
  for (const { id } of questions(client))
    client.send({ jsonrpc: "2.0", id, result: { action: "accept", content: { text: id } } });
  expect(await Promise.all(asked)).toHaveLength(20);
});
