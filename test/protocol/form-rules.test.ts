// The rules of a form's fields: the server, the client and the dashboard's page agree about every value.
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { expect, test } from "vitest";
import { draftOfValue, readDraft } from "../../src/dashboard/page/try/drafts.ts";
import { formOf } from "../../src/dashboard/page/try/fields.ts";

/** Who accepts a value as the only field of a form. */
async function accepting(
  field: Readonly<Record<string, unknown>>,
  value: unknown,
): Promise<readonly string[]> {
  const schema = { type: "object", properties: { it: field }, required: ["it"] };
  const server = new McpServer({ name: "forms", version: "1.0.0" });
  server.tool("take", { input: schema }, () => "taken");
  server.tool("ask", {}, async (_, ctx) => {
    await ctx.elicit("Which?", schema);
    return "answered";
  });
  const onElicit = () => ({ action: "accept", content: { it: value } }) as never;
  await using client = await connect(server, { onElicit });
  const isGood = (name: string, values: Record<string, unknown>): Promise<boolean> =>
    client.callTool(name, values).then(
      ({ isError }) => isError !== true,
      () => false,
    );
  const form = formOf(schema);
  const { problems } = readDraft(form, draftOfValue(form, { it: value }));
  const verdicts = {
    server: await isGood("take", { it: value }),
    client: await isGood("ask", {}),
    page: problems.size === 0,
  };
  return Object.entries(verdicts).flatMap(([who, isAccepted]) => (isAccepted ? [who] : []));
}

const text = (rules: object): Record<string, unknown> => ({ type: "string", ...rules });

test.each([
  [text({ format: "email" }), ["ada@example.com", "a@b"], ["ada", "a@b@c", "a b@c.example", "a@-b.example"]],
  [text({ format: "uri" }), ["https://a.example/?b#c", "urn:a:b"], ["a page", "https://a.example/a b", "/a"]],
  [text({ format: "date" }), ["2024-02-29"], ["2026-02-29", "2026-13-01", "26-01-01"]],
  [
    text({ format: "date-time" }),
    ["2026-02-28T10:00:00Z", "2026-02-28T10:00:00.5+01:00"],
    ["2026-02-28T10:00:00", "2026-02-30T10:00:00Z", "2026-02-28T25:00:00Z", "noon"],
  ],
  [text({ minLength: 2, maxLength: 3 }), ["ab", "👋👋👋"], ["a", "👋", "abcd"]],
  [{ type: "number", minimum: 0.5, maximum: 2 }, [0.5, 2], [0.4, 2.1]],
  [{ type: "integer", minimum: 0 }, [0, 3], [-1, 1.5, "3"]],
] as const)("%j", async (field, good, bad) => {
  for (const value of good)
    expect([value, await accepting(field, value)]).toEqual([value, ["server", "client", "page"]]);
  for (const value of bad) expect([value, await accepting(field, value)]).toEqual([value, []]);
});
