// What the user does with a question: accept, decline, dismiss, or answer something else.
import { InputCancelled, InputDeclined, type JsonObject } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { askingTool, said } from "../../support/asking-tool.ts";
import { newestLegacy, newestModern } from "../../support/raw.ts";

const age = z.object({ age: z.int() });

describe.each([newestModern, newestLegacy, "2025-06-18"])("an elicitation · %s", (revision) => {
  test.each([
    ["decline", new InputDeclined("Age?").message],
    ["cancel", new InputCancelled("Age?").message],
  ])(
    "that ends with %s and is not caught is a plain tool result that says so [ELIC-SERVER-HANDLE]",
    async (action, text) => {
      const { converse, log } = await askingTool(
        async (_, ctx) => String((await ctx.elicit("Age?", age)).age),
        {
          revision,
        },
      );
      const { result } = await converse(() => ({ action }));
      expect(result).toMatchObject({ content: [{ type: "text", text }] });
      expect(result["isError"]).toBeUndefined();
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  test.each([
    ["decline", InputDeclined, "INPUT_DECLINED"],
    ["cancel", InputCancelled, "INPUT_CANCELLED"],
  ])("that ends with %s throws an error of its own", async (action, kind, code) => {
    let error: unknown;
    const { converse } = await askingTool(
      async (_, ctx) => {
        try {
          await ctx.elicit("Age?", age);
        } catch (reason) {
          error = reason;
          throw reason;
        }
        return "never";
      },
      { revision },
    );
    await converse(() => ({ action }));
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ code });
  });

  test.each<[JsonObject, string]>([
    [{ action: "accept", content: { age: 7 } }, '{"action":"accept","content":{"age":7}}'],
    [{ action: "decline", content: { age: 7 } }, '{"action":"decline"}'],
    [{ action: "cancel" }, '{"action":"cancel"}'],
  ])("ctx.tryElicit tells what the user did: %o", async (answer, expected) => {
    const { converse } = await askingTool(
      async (_, ctx) => JSON.stringify(await ctx.tryElicit("Age?", age)),
      { revision },
    );
    expect(said((await converse(() => answer)).result)).toBe(expected);
  });
});

describe.each([newestLegacy, "2025-06-18"])("an answer that cannot be used · %s", (revision) => {
  test.each<[JsonObject, string]>([
    [{ action: "accept", content: { age: "seven" } }, "the content does not match the schema: age: "],
    [{ action: "accept" }, "the content does not match the schema: age: "],
    [{ action: "accept", content: null }, "content must be an object"],
    [{ action: "maybe" }, "action must be accept, decline or cancel"],
    [{}, "action must be accept, decline or cancel"],
  ])("fails the question: %o [ELIC-FORM-VALIDATE-SERVER, ELIC-SERVER-HANDLE]", async (answer, problem) => {
    const { converse } = await askingTool(async (_, ctx) => String((await ctx.elicit("Age?", age)).age), {
      revision,
    });
    const { result } = await converse(() => answer);
    expect(result["isError"]).toBe(true);
    expect(said(result)).toContain(`elicitation/create: the client sent an invalid answer: ${problem}`);
  });
});

test("elicitation: {} means forms, and no pages [ELIC-CAP-EMPTY-FORM, ELIC-MODE-NOT-SENT]", async () => {
  for (const revision of [newestModern, newestLegacy]) {
    const { ask } = await askingTool(
      async (_, ctx) => {
        await ctx.elicit("Go", new URL("https://example.com/"));
        return "never";
      },
      { revision, capabilities: { elicitation: {} } },
    );
    await expect(ask()).rejects.toMatchObject({
      code: -32021,
      message: "elicitation/create: the client did not declare elicitation.url",
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
    const { converse } = await askingTool(async (_, ctx) => String((await ctx.elicit("Age?", age)).age), {
      revision,
      capabilities: { elicitation: {} },
    });
    expect(said((await converse(() => ({ action: "accept", content: { age: 7 } }))).result)).toBe("7");
  }
});

test("elicitation: { url: {} } means pages, and no forms [ELIC-MODE-NOT-SENT]", async () => {
  for (const revision of [newestModern, newestLegacy]) {
    const { ask } = await askingTool(async (_, ctx) => String((await ctx.elicit("Age?", age)).age), {
      revision,
      capabilities: { elicitation: { url: {} } },
    });
    await expect(ask()).rejects.toMatchObject({
      code: -32021,
      message: "elicitation/create: the client did not declare elicitation.form",
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  }
});
