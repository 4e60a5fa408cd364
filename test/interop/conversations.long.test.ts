// The official clients answer what the conformance fixture asks, each in its own way: version 2 comes back with the answers of a
// round by itself, and legacy clients are asked while the call runs. The same steps for each of them.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { connected, rowsOf } from "./rows.ts";
import { ways } from "./ways.ts";

interface Step {
  readonly tool: string;
  readonly args?: Record<string, unknown>;
  /** The text of the result. */
  readonly text: string;
  /** What the client is asked for it, in any order. */
  readonly asks: readonly string[];
}

const elicit = "elicitation/create";
const sample = "sampling/createMessage";
const roots = "roots/list";

const steps: readonly Step[] = [
  { tool: "test_input_required_result_elicitation", text: "Hello, Ada!", asks: [elicit] },
  { tool: "test_input_required_result_sampling", text: "shoe", asks: [sample] },
  {
    tool: "test_input_required_result_list_roots",
    text: '[{"uri":"file:///home","name":"Home"}]',
    asks: [roots],
  },
  {
    tool: "test_input_required_result_multiple_inputs",
    text: "shoe Ada, you have 1 roots",
    asks: [elicit, roots, sample],
  },
  { tool: "test_input_required_result_multi_round", text: "Ada likes green", asks: [elicit, elicit] },
  { tool: "test_input_required_result_capabilities", text: "shoe", asks: [sample] },
  { tool: "test_input_required_result_request_state", text: "state-ok", asks: [elicit] },
  { tool: "test_sampling", args: { prompt: "Hi" }, text: "LLM response: shoe", asks: [sample] },
  {
    tool: "test_elicitation",
    args: { message: "Who are you?" },
    text: 'User response: action=accept, content={"username":"ada","email":"ada@example.com"}',
    asks: [elicit],
  },
  {
    tool: "test_elicitation",
    args: { message: "Decline this" },
    text: "User response: action=decline, content={}",
    asks: [elicit],
  },
  // Tools that may be tasks, for clients that do not want one.
  { tool: "confirm_delete", args: { filename: "old.txt" }, text: "Deleted old.txt", asks: [elicit] },
  { tool: "multi_input", text: "Ada and Ada", asks: [elicit, elicit] },
  { tool: "test_tool_with_task", text: "Hello, Ada!", asks: [elicit] },
];

describe.each(rowsOf(ways))("$name over $way", (row) => {
  const { client, newlyAsked } = connected(row, "everything");
  const askedMethods = (): string[] =>
    newlyAsked()
      .map(({ method }) => method)
      .toSorted();

  test.each(steps)(
    "$tool $args is answered after its questions [MRTR-METHODS, MRTR-RESULT-SHAPE, MRTR-VALUES, ELIC-DELIVERY-MODERN, ELIC-DELIVERY-LEGACY, SAMP-DELIVERY-MODERN, SAMP-DELIVERY-LEGACY, ROOTS-DELIVERY-MODERN, ROOTS-DELIVERY-LEGACY]",
    async ({ tool, args, text, asks }) => {
      expect(await client().call(tool, args)).toMatchObject({ content: [{ type: "text", text }] });
      expect(askedMethods()).toEqual(asks);
    },
  );

  test("ask_twice does between its questions once what it does once", async () => {
    const key = randomUUID();
    const { structuredContent } = await client().call("ask_twice", { key });
    expect(structuredContent).toEqual({ name: "Ada", color: "green", runs: 1 });
    expect(askedMethods()).toEqual([elicit, elicit]);
  });

  test("calls at the same time get each their own answers, and count once each", async () => {
    const calls = Array.from({ length: 10 }, () => client().call("ask_twice", { key: randomUUID() }));
    for (const { structuredContent } of await Promise.all(calls)) {
      expect(structuredContent).toEqual({ name: "Ada", color: "green", runs: 1 });
    }
    expect(askedMethods()).toEqual(Array(20).fill(elicit));
  });

  test("a prompt is rendered with the answer to what it asked [PROMPT-MRTR]", async () => {
    const content = await client().prompt("test_input_required_result_prompt", {});
    expect(content).toEqual({ type: "text", text: "Please help me with: knots" });
    expect(askedMethods()).toEqual([elicit]);
  });

  test("every kind of field and of choice is a form that the client understands [ELIC-FORM-SCHEMA, ELIC-FORM-ENUM-NEW, ELIC-FORM-DEFAULTS]", async () => {
    for (const tool of ["test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"]) {
      const { content } = await client().call(tool);
      expect(content[0]?.["text"]).toMatch(/^Elicitation completed: action=accept/);
    }
    const forms = newlyAsked().map(({ params }) => params?.["requestedSchema"]);
    expect(forms).toMatchObject([
      { properties: { age: { type: "integer", default: 30 }, status: { default: "active" } } },
      { properties: { titledSingle: { oneOf: [{ const: "value1", title: "First Option" }, {}, {}] } } },
    ]);
  });
});
