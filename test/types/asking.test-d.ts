// What the compiler knows of an answer: from the schema of the form, or that a page has none.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { type Context, inputRequired, McpServer, type Root, type Sampled } from "halyard";
import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";

const server = new McpServer({ name: "types", version: "1.0.0" });
const page = new URL("https://example.com/");

declare const ctx: Context;

describe("ctx.elicit", () => {
  test("has the content that a Zod schema describes, after its defaults and transforms", () => {
    const schema = z.object({
      unit: z.enum(["C", "F"]),
      days: z.number().default(3),
      at: z.string().transform(Number),
    });
    expectTypeOf(ctx.elicit("Which?", schema)).resolves.toEqualTypeOf<{
      unit: "C" | "F";
      days: number;
      at: number;
    }>();
  });

  test("has the content that a Valibot or an ArkType schema describes", () => {
    const valibot = toStandardJsonSchema(v.object({ unit: v.picklist(["C", "F"]) }));
    expectTypeOf(ctx.elicit("Which?", valibot)).resolves.toEqualTypeOf<{ unit: "C" | "F" }>();
    expectTypeOf(ctx.elicit("Which?", type({ unit: "'C' | 'F'" }))).resolves.toEqualTypeOf<{
      unit: "C" | "F";
    }>();
  });

  test("has unknown members for a plain JSON Schema", () => {
    const schema = { type: "object", properties: { unit: { type: "string" } } };
    expectTypeOf(ctx.elicit("Which?", schema)).resolves.toEqualTypeOf<Record<string, unknown>>();
  });

  test("has nothing for a page", () => {
    expectTypeOf(ctx.elicit("Go", page)).resolves.toBeVoid();
  });
});

describe("ctx.tryElicit", () => {
  test("has content where the user accepted, and none elsewhere", async () => {
    const elicited = await ctx.tryElicit("Which?", z.object({ unit: z.string() }));
    if (elicited.action === "accept") expectTypeOf(elicited.content).toEqualTypeOf<{ unit: string }>();
    else expectTypeOf(elicited.content).toEqualTypeOf<undefined>();
    if (elicited.action === "decline") return;
    if (elicited.action === "cancel") return;
    expectTypeOf(elicited.content).toEqualTypeOf<{ unit: string }>();
    const visited = await ctx.tryElicit("Go", page);
    expectTypeOf(visited.content).toEqualTypeOf<undefined>();
  });
});

test("ctx.once, ctx.requestState, ctx.sample and ctx.roots say what they give", () => {
  expectTypeOf(ctx.once("k", () => 7)).resolves.toBeNumber();
  expectTypeOf(ctx.once("k", async () => "text")).resolves.toBeString();
  expectTypeOf(ctx.requestState<{ step: number }>()).toEqualTypeOf<{ step: number } | undefined>();
  expectTypeOf(ctx.sample("Hi")).resolves.toEqualTypeOf<Sampled>();
  expectTypeOf(ctx.roots()).resolves.toEqualTypeOf<readonly Root[]>();
});

test("inputRequired() may be returned by tools, prompts and resources", () => {
  const later = (): ReturnType<typeof inputRequired> => inputRequired({ requestState: 1 });
  server.tool("t", {}, later);
  server.tool("o", { output: z.object({ a: z.string() }) }, later);
  server.prompt("p", {}, later);
  server.resource("note:///a", { name: "a" }, later);
  server.resourceTemplate("note:///{id}", { name: "b" }, later);
});

test("questions of other kinds are compile errors", () => {
  // @ts-expect-error a client cannot be asked this
  inputRequired({ inputRequests: { k: { method: "ping" } } });
  // @ts-expect-error a page is a URL, not a text
  void ctx.elicit("Go", "https://example.com/");
});
