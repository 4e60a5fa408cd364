// Rounds of a modern call: which questions go out together, under which keys, and which answers they take.
import { type JsonObject, type ServerEvent, ToolError } from "halyard";
import { type Question, questionsIn, retryOf } from "halyard/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { askingTool, echo, said } from "../../support/asking-tool.ts";
import { expectNoUnhandledRejections } from "../../support/rejections.ts";

expectNoUnhandledRejections();

const text = z.object({ text: z.string() });

const messages = (result: JsonObject): unknown[] =>
  questionsIn(result).map(({ params }) => params["message"]);

test("ctx.elicit ends the call with a result of questions and a state, and nothing else [MRTR-RESULT-SHAPE, MRTR-VALUES, CACHE-NOT-ON-INTERIM, ELIC-DELIVERY-MODERN]", async () => {
  const { ask } = await askingTool(async (_, ctx) => (await ctx.elicit("A", text)).text);
  const result = await ask();
  expect(Object.keys(result).toSorted()).toEqual(["_meta", "inputRequests", "requestState", "resultType"]);
  expect(result["resultType"]).toBe("input_required");
  expect(Object.values(result["inputRequests"] as object)).toEqual([
    {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "A",
        requestedSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
    },
  ]);
  expect(result["requestState"]).toBeTypeOf("string");
});

test("the server keeps nothing of a call that waits for answers, and answers a retry however late [MRTR-NO-ASSUME-RETRY]", async () => {
  const { client, ask } = await askingTool(async (_, ctx) => (await ctx.elicit("A", text)).text);
  const first = await ask();
  for (let each = 0; each < 3; each++) await ask();
  expect(client.received).toHaveLength(4);
  expect(said(await ask(retryOf(first, echo)))).toBe("a");
});

test("questions asked together go out together, and those after them in a round of their own [MRTR-REPEAT]", async () => {
  const { ask } = await askingTool(async (_, ctx) => {
    const some = await Promise.all([ctx.elicit("A", text), ctx.elicit("B", text)]);
    const last = await ctx.elicit("C", text);
    return [...some, last].map((each) => each.text).join();
  });
  const first = await ask();
  expect(messages(first)).toEqual(["A", "B"]);
  const second = await ask(retryOf(first, echo));
  expect(messages(second)).toEqual(["C"]);
  expect(said(await ask(retryOf(second, echo)))).toBe("a,b,c");
});

test("two questions begun together and awaited in turn do not leave an unhandled rejection", async () => {
  const { ask } = await askingTool(async (_, ctx) => {
    const [one, other] = [ctx.elicit("A", text), ctx.elicit("B", text)];
    return [(await one).text, (await other).text].join();
  });
  const first = await ask();
  expect(messages(first)).toEqual(["A", "B"]);
  expect(said(await ask(retryOf(first, echo)))).toBe("a,b");
});

describe("keys", () => {
  test.each(["k", "__proto__", "constructor", "toString", "visit-1", "a b/ü"])(
    "a question goes by the key it is given: %s [MRTR-KEYS-UNIQUE]",
    async (key) => {
      const { ask } = await askingTool(async (_, ctx) => {
        const { text: given } = await ctx.elicit("A", text, { key });
        return `${given} ${await ctx.once(key, () => "once")} ${(await ctx.elicit("B", text)).text}`;
      });
      const first = await ask();
      expect(questionsIn(first).map((question) => question.key)).toEqual([key]);
      const second = await ask(retryOf(first, echo));
      expect(messages(second)).toEqual(["B"]);
      expect(said(await ask(retryOf(second, echo)))).toBe("a once b");
    },
  );

  test("two questions with the same key are a mistake that the log names", async () => {
    const { ask, log } = await askingTool(async (_, ctx) => {
      await Promise.all([ctx.elicit("A", text, { key: "k" }), ctx.elicit("B", text, { key: "k" })]);
      return "never";
    });
    expect(await ask()).toMatchObject({ isError: true });
    expect(String(log.at(-1)?.details?.["error"])).toContain('Two questions of one call have the key "k"');
  });

  test("the same question twice is two questions, each with its own answer [MRTR-KEYS-UNIQUE]", async () => {
    const { ask } = await askingTool(async (_, ctx) => {
      const [one, two] = await Promise.all([ctx.elicit("A", text), ctx.elicit("A", text)]);
      return [one.text, two.text, (await ctx.elicit("A", text)).text].join();
    });
    const first = await ask();
    const keys = questionsIn(first).map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
    const numbered = (from: number) => {
      let count = from;
      return (): JsonObject => ({ action: "accept", content: { text: String(count++) } });
    };
    const second = await ask(retryOf(first, numbered(1)));
    expect(keys).not.toContain(questionsIn(second)[0]?.key);
    expect(said(await ask(retryOf(second, numbered(3))))).toBe("1,2,3");
  });

  test("a question that has changed since it was asked is asked again, under its key", async () => {
    let wording = "A";
    const { ask } = await askingTool(async (_, ctx) => (await ctx.elicit(wording, text, { key: "k" })).text);
    const first = await ask();
    wording = "B";
    const second = await ask(retryOf(first, echo));
    expect(questionsIn(second)).toMatchObject([{ key: "k", params: { message: "B" } }]);
    expect(said(await ask(retryOf(second, echo)))).toBe("b");
  });
});

describe("answers", () => {
  test("what was not answered is asked again, and what was answered is not [MRTR-MISSING-REASK]", async () => {
    const { ask } = await askingTool(async (_, ctx) => {
      const both = await Promise.all([ctx.elicit("A", text), ctx.elicit("B", text)]);
      return both.map((each) => each.text).join();
    });
    const first = await ask();
    const onlyA = ({ params, ...question }: Question): JsonObject | undefined =>
      params["message"] === "A" ? echo({ params, ...question }) : undefined;
    const second = await ask(retryOf(first, onlyA));
    expect(messages(second)).toEqual(["B"]);
    const third = await ask({ requestState: second["requestState"] });
    expect(messages(third)).toEqual(["B"]);
    expect(said(await ask(retryOf(third, echo)))).toBe("a,b");
  });

  test("answers to nothing that was asked are ignored [MRTR-EXTRA-IGNORE]", async () => {
    const { ask } = await askingTool(async (_, ctx) => {
      const { text: a } = await ctx.elicit("A", text, { key: "a" });
      return `${a} ${(await ctx.elicit("B", text, { key: "b" })).text}`;
    });
    const retry = retryOf(await ask(), echo);
    const extra = { b: { action: "accept", content: { text: "sneaked in" } }, other: {} };
    const inputResponses = { ...(retry["inputResponses"] as object), ...extra };
    const second = await ask({ ...retry, inputResponses });
    expect(messages(second)).toEqual(["B"]);
  });

  test("an earlier answer cannot be replaced by a later round", async () => {
    const { ask } = await askingTool(async (_, ctx) => {
      const { text: a } = await ctx.elicit("A", text, { key: "a" });
      return `${a} ${(await ctx.elicit("B", text, { key: "b" })).text}`;
    });
    const second = await ask(retryOf(await ask(), echo));
    const retry = retryOf(second, echo);
    const a = { action: "accept", content: { text: "changed" } };
    const inputResponses = { ...(retry["inputResponses"] as object), a };
    expect(said(await ask({ ...retry, inputResponses }))).toBe("a b");
  });

  test("answers that come without a state are taken by their keys", async () => {
    const { ask } = await askingTool(async (_, ctx) => (await ctx.elicit("A", text, { key: "a" })).text);
    expect(said(await ask({ inputResponses: { a: { action: "accept", content: { text: "early" } } } }))).toBe(
      "early",
    );
  });

  test.each<[string, unknown, string]>([
    ["no object", 7, "inputResponses must be an object of results"],
    ["a list", [], "inputResponses must be an object of results"],
    ["null", null, "inputResponses must be an object of results"],
    ["an answer that is no object", { a: "yes" }, "inputResponses must be an object of results"],
    [
      "no action",
      { a: {} },
      "inputResponses: the answer to a is invalid: action must be accept, decline or cancel",
    ],
    [
      "an unknown action",
      { a: { action: "ok" } },
      "inputResponses: the answer to a is invalid: action must be accept, decline or cancel",
    ],
    [
      "content that is no object",
      { a: { action: "accept", content: [] } },
      "inputResponses: the answer to a is invalid: content must be an object",
    ],
    [
      "content that does not fit",
      { a: { action: "accept", content: { text: 1 } } },
      "the content does not match the schema: text: ",
    ],
  ])(
    "malformed answers are refused with -32602: %s [MRTR-VALIDATE, ELIC-FORM-VALIDATE-SERVER]",
    async (_, inputResponses, message) => {
      const { ask } = await askingTool(async (__, ctx) => (await ctx.elicit("A", text, { key: "a" })).text);
      const first = await ask();
      const { requestState } = first;
      await expect(ask({ requestState, inputResponses })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(message) as string,
      });
      // The same state takes a better answer.
      expect(said(await ask(retryOf(first, echo)))).toBe("a");
    },
  );
});

test("limits.maxRounds ends a call that never has enough, with -32603 and the remedy", async () => {
  let count = 0;
  const { ask } = await askingTool(async (_, ctx) => (await ctx.elicit(`Question ${++count}`, text)).text, {
    server: { limits: { maxRounds: 2 } },
  });
  const second = await ask(retryOf(await ask(), echo));
  await expect(ask(retryOf(second, echo))).rejects.toMatchObject({
    code: -32603,
    message:
      "tools/call asked questions in 2 rounds and has more: ask more questions at once, ask the same ones in each run, or raise limits.maxRounds",
  });
});

test.each<[string, () => string]>([
  ["returns", () => "done"],
  [
    "throws",
    () => {
      throw new ToolError("done");
    },
  ],
])(
  "a question of a handler that %s without waiting for it is never sent, counted or reported",
  async (_, end) => {
    const events: ServerEvent[] = [];
    const observe = (event: ServerEvent): void => void events.push(event);
    const { ask } = await askingTool(
      async (__, ctx) => {
        await ctx.elicit("A", text);
        void ctx.elicit("B", text);
        return end();
      },
      { server: { observe, limits: { maxRounds: 1 } } },
    );
    expect(said(await ask(retryOf(await ask(), echo)))).toBe("done");
    // By the time that two more calls have asked, the question would have gone out.
    for (let calls = 0; calls < 2; calls++) await ask();
    const asks = events.filter((event) => event.type === "ask").map(({ state }) => state);
    expect(asks).toEqual(["asked", "answered", "asked", "asked"]);
  },
);

test("a question of a handler that returns at once is never sent or reported", async () => {
  const events: ServerEvent[] = [];
  const { ask, client } = await askingTool(
    (_, ctx) => {
      void ctx.elicit("A", text);
      return "done";
    },
    {
      server: { observe: (event) => void events.push(event) },
      prepare: (server) => server.prompt("wait", {}, async (_, ctx) => (await ctx.elicit("B", text)).text),
    },
  );
  expect(said(await ask())).toBe("done");
  for (let calls = 0; calls < 2; calls++) await client.request("prompts/get", { name: "wait" });
  expect(events.filter(({ type }) => type === "ask")).toHaveLength(2);
});

test("questions that cannot be sealed are logged under the error id that the client gets", async () => {
  const { ask, log } = await askingTool(async (_, ctx) => (await ctx.elicit("A", text)).text);
  const cause = new Error("out of entropy");
  const encrypting = vi.spyOn(crypto.subtle, "encrypt").mockRejectedValue(cause);
  onTestFinished(() => encrypting.mockRestore());
  const refused = await ask().catch((error: unknown) => error as { data: { errorId: string } });
  const { errorId } = refused["data"] as { errorId: string };
  expect(log).toMatchObject([{ level: "error", details: { errorId, error: cause } }]);
});
