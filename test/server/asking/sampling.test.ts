// Sampling: what goes to the client's model on each revision, what is refused, and what comes back.
import { type Context, inputRequired, type JsonObject } from "halyard";
import { describe, expect, test } from "vitest";
import { spoken } from "../../support/answering.ts";
import { askingTool, said } from "../../support/asking-tool.ts";
import { legacyDates, newestLegacy, newestModern } from "../../support/raw.ts";

type Messages = Parameters<Context["sample"]>[0];
type Options = Parameters<Context["sample"]>[1];

const word = (text: string): { type: "text"; text: string } => ({ type: "text", text });
const use = (id: string): { type: "tool_use"; id: string; name: string; input: JsonObject } => ({
  type: "tool_use",
  id,
  name: "look",
  input: {},
});
const resultOf = (toolUseId: string): { type: "tool_result"; toolUseId: string; content: [] } => ({
  type: "tool_result",
  toolUseId,
  content: [],
});
const tools = [{ name: "look", inputSchema: { type: "object" } }];

/** What a client of that revision is sent. */
async function sentTo(revision: string, messages: Messages, options?: Options): Promise<JsonObject> {
  const { converse } = await askingTool(async (_, ctx) => (await ctx.sample(messages, options)).text, {
    revision,
  });
  const { result, asked } = await converse(() => spoken("Hello"));
  expect(said(result)).toBe("Hello");
  const { _meta, ...params } = asked[0]?.params ?? {};
  expect(asked[0]?.method).toBe("sampling/createMessage");
  return params;
}

describe.each([newestModern, ...legacyDates])("ctx.sample · %s", (revision) => {
  test("sends a text as a message of the user, with a limit [SAMP-MSG-ROLE, SAMP-DELIVERY-LEGACY, SAMP-DELIVERY-MODERN, SAMP-CONTEXT-AVOID]", async () => {
    const params = await sentTo(revision, "Hi");
    const content = { type: "text", text: "Hi" };
    expect(params).toEqual({ messages: [{ role: "user", content }], maxTokens: 1024 });
  });

  test("sends every option of the request, and none of its own", async () => {
    const options = {
      maxTokens: 7,
      systemPrompt: "Be brief",
      temperature: 0.5,
      stopSequences: ["."],
      modelPreferences: { hints: [{ name: "small" }], speedPriority: 1 },
      metadata: { a: 1 },
    };
    const params = await sentTo(revision, "Hi", { ...options, key: "k", timeoutMs: 1000 });
    expect(params).toMatchObject(options);
    expect(Object.keys(params)).toHaveLength(7);
  });

  test("sends several blocks as the revision can: one message, or one for each [SAMP-MSG-ROLE]", async () => {
    const messages = [{ role: "user", content: [word("One"), word("Two")] }] as const;
    const { messages: sent } = await sentTo(revision, messages);
    const split = [
      { role: "user", content: word("One") },
      { role: "user", content: word("Two") },
    ];
    expect(sent).toEqual(revision < "2025-11-25" ? split : messages);
  });
});

const loop = [
  { role: "user", content: word("Look") },
  { role: "assistant", content: [word("Hm"), use("1"), use("2")] },
  { role: "user", content: [resultOf("2"), resultOf("1")] },
] as const;

describe("tools for the model", () => {
  test.each([newestModern, newestLegacy])("go to a client that declares them: %s", async (revision) => {
    const params = await sentTo(revision, loop, { tools, toolChoice: { mode: "auto" } });
    expect(params).toMatchObject({ messages: loop, tools, toolChoice: { mode: "auto" } });
  });

  test.each<[string, JsonObject]>([
    [newestModern, { sampling: {} }],
    [newestLegacy, { sampling: {} }],
    ["2025-06-18", { sampling: { tools: {} } }],
  ])(
    "do not go to a client that does not, or whose revision has none: %s %o [SAMP-TOOLS-NOT-SENT]",
    async (revision, capabilities) => {
      const asks: [Messages, Options][] = [
        ["Hi", { tools }],
        ["Hi", { toolChoice: { mode: "none" } }],
        [loop, {}],
      ];
      for (const [messages, options] of asks) {
        const { ask, client } = await askingTool(
          async (_, ctx) => (await ctx.sample(messages, options)).text,
          { revision, capabilities },
        );
        await expect(ask()).rejects.toMatchObject({
          code: -32021,
          message: expect.stringMatching(/ sampling\.tools$/) as string,
          data: { requiredCapabilities: { sampling: { tools: {} } } },
        });
        expect(client.received.some((message) => "method" in message)).toBe(false);
      }
    },
  );
});

test.each<[string, unknown, string]>([
  [
    "an unknown role",
    [{ role: "system", content: word("A") }],
    "role of a message must be user or assistant",
  ],
  ["no content", [{ role: "user" }], "content of a message must be content blocks"],
  ["an empty content", [{ role: "user", content: [] }], "content of a message must be content blocks"],
  ["no message", [null], "a message must be an object"],
  [
    "a result beside a text",
    [
      loop[0],
      { role: "assistant", content: use("1") },
      { role: "user", content: [resultOf("1"), word("A")] },
    ],
    "must have no other content",
  ],
  ["a result for nothing", [{ role: "user", content: resultOf("1") }], "every tool_use must be followed"],
  [
    "a use without a result",
    [loop[0], { role: "assistant", content: use("1") }],
    "every tool_use must be followed",
  ],
  [
    "something between",
    [{ role: "assistant", content: use("1") }, loop[0], { role: "user", content: resultOf("1") }],
    "every tool_use must be followed",
  ],
  [
    "one result of two",
    [
      { role: "assistant", content: [use("1"), use("2")] },
      { role: "user", content: resultOf("1") },
    ],
    "every tool_use must be followed",
  ],
  [
    "the same result twice",
    [
      { role: "assistant", content: [use("1"), use("2")] },
      { role: "user", content: [resultOf("1"), resultOf("1")] },
    ],
    "every tool_use must be followed",
  ],
  [
    "a result of the assistant",
    [
      { role: "assistant", content: use("1") },
      { role: "assistant", content: resultOf("1") },
    ],
    "a tool_result needs the role user",
  ],
  [
    "a use of the user",
    [
      { role: "user", content: use("1") },
      { role: "user", content: resultOf("1") },
    ],
    "a tool_use needs the role assistant",
  ],
])(
  "messages that no model could be sent are a mistake of the author: %s [SAMP-TOOLRESULT-ONLY, SAMP-TOOL-BALANCE, SAMP-MSG-ROLE]",
  async (_, messages, problem) => {
    let error: unknown;
    const { ask } = await askingTool(async (__, ctx) => {
      await ctx.sample(messages as Messages).catch((reason: unknown) => (error = reason));
      return "done";
    });
    expect(said(await ask())).toBe("done");
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(problem);
  },
);

const audio = {
  type: "audio",
  data: "UklGRg==",
  mimeType: "audio/wav",
  _meta: { "example.com/a": 1 },
} as const;

describe.each(["ctx.sample", "inputRequired"] as const)("audio · %s", (way) => {
  const messages = [{ role: "user", content: [word("What is said?"), audio] }] as const;

  async function outcomeOf(revision: string): Promise<{ said: unknown; sent: string }> {
    const params = { messages, maxTokens: 10 };
    const inputRequests = { a: { method: "sampling/createMessage", params } } as const;
    const { converse } = await askingTool(
      async (_, ctx) => {
        if (way === "ctx.sample") return (await ctx.sample(messages)).text;
        return ctx.inputResponses === undefined ? inputRequired({ inputRequests }) : "Hello";
      },
      { revision },
    );
    let sent = "";
    const answered = await converse((question) => {
      sent += JSON.stringify(question);
      return spoken("Hello");
    }).then(
      ({ result }) => said(result),
      (error: Error) => error.message,
    );
    return { said: answered, sent };
  }

  test("fails for a client whose revision has none, and is not sent to it", async () => {
    const outcome = await outcomeOf("2024-11-05");
    expect(outcome.said).toContain("protocol revision 2024-11-05");
    expect(outcome.said).toContain("no audio content");
    expect(outcome.sent).toBe("");
  });

  test.each([newestModern, ...legacyDates.filter((date) => date > "2024-11-05")])(
    "goes to clients of later revisions, with the fields that they know · %s",
    async (revision) => {
      const outcome = await outcomeOf(revision);
      expect(outcome.said).toBe("Hello");
      expect(outcome.sent).toContain("UklGRg==");
      expect(outcome.sent.includes("example.com/a")).toBe(revision >= "2025-06-18");
    },
  );
});

describe.each([newestModern, newestLegacy])("the answer of the model · %s", (revision) => {
  test.each<[JsonObject, JsonObject]>([
    [
      spoken("Hi"),
      { role: "assistant", content: [word("Hi")], text: "Hi", model: "test-model", stopReason: "endTurn" },
    ],
    [
      { role: "assistant", content: [word("A"), use("1"), word("B")], model: "m" },
      { role: "assistant", content: [word("A"), use("1"), word("B")], text: "AB", model: "m" },
    ],
  ])("%o", async (answer, expected) => {
    const { converse } = await askingTool(async (_, ctx) => JSON.stringify(await ctx.sample("Hi")), {
      revision,
    });
    expect(JSON.parse(String(said((await converse(() => answer)).result)))).toEqual(expected);
  });

  test.each<[JsonObject, string]>([
    [{ role: "system", content: word("A"), model: "m" }, "role must be user or assistant"],
    [{ role: "assistant", model: "m" }, "content must be content blocks"],
    [{ role: "assistant", content: ["A"], model: "m" }, "content must be content blocks"],
    [{}, "role must be user or assistant"],
  ])("that cannot be used fails the question: %o [SAMP-MSG-ROLE]", async (answer, problem) => {
    const { converse } = await askingTool(async (_, ctx) => (await ctx.sample("Hi")).text, { revision });
    const outcome = await converse(() => answer).then(
      ({ result }) => String(said(result)),
      (error: Error) => error.message,
    );
    expect(outcome).toContain(problem);
  });
});
