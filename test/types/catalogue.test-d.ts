// What the compiler knows of resources, templates, prompts and completers.
import { type GetPromptResult, McpServer, type ReadResourceResult, type TemplateParams, text } from "halyard";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";

const server = new McpServer({ name: "types", version: "1.0.0" });

describe("resources", () => {
  test("a reader gets the URI and returns text, bytes or contents", () => {
    server.resource("a:b", {}, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ readonly uri: string }>();
      return "text";
    });
    server.resource("a:b", {}, async () => new Uint8Array());
    server.resource("a:b", {}, ({ uri }) => ({ uri, blob: "" }));
    server.resource("a:b", {}, ({ uri }) => [{ uri, text: "" }]);
    server.resource("a:b", {}, async ({ uri }) => ({ contents: [{ uri, text: "" }], _meta: {} }));
    server.resource("a:b", {}, async (): Promise<ReadResourceResult> => ({ contents: [] }));
    server.resourceTemplate("a:{b}", {}, (): ReadResourceResult => ({ contents: [] }));
    // @ts-expect-error: contents need a text or a blob
    server.resource("a:b", {}, ({ uri }) => ({ contents: [{ uri }] }));
    // @ts-expect-error: a number is no content
    server.resource("a:b", {}, () => 5);
    // @ts-expect-error: text or blob is missing
    server.resource("a:b", {}, ({ uri }) => ({ uri }));
  });

  test("variables are read off the template", () => {
    server.resourceTemplate("repo:///{owner}/{+path}{?rev,q}", {}, ({ params }) => {
      expectTypeOf(params.owner).toEqualTypeOf<string>();
      expectTypeOf(params.path).toEqualTypeOf<string>();
      expectTypeOf(params.rev).toEqualTypeOf<string | undefined>();
      expectTypeOf(params.q).toEqualTypeOf<string | undefined>();
      // @ts-expect-error: there is no such variable
      return params.name;
    });
  });

  test("modifiers and every operator are understood", () => {
    type Params = TemplateParams<"x:{a:3}{/b*}{#c}{.d}{;e}{&f}">;
    expectTypeOf<Params["a"]>().toEqualTypeOf<string>();
    expectTypeOf<Params["b"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Params["c"]>().toEqualTypeOf<string>();
    expectTypeOf<Params["d"]>().toEqualTypeOf<string>();
    expectTypeOf<Params["e"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Params["f"]>().toEqualTypeOf<string | undefined>();
  });

  test("a template that is known only at run time has variables of any name", () => {
    const template: string = "x:{a}";
    server.resourceTemplate(template, {}, ({ params }) => {
      expectTypeOf(params).toEqualTypeOf<Readonly<Record<string, string>>>();
      return "";
    });
  });
});

describe("prompts", () => {
  const schema = z.object({ city: z.string(), days: z.coerce.number().optional() });

  test("arguments are inferred, and a prompt returns text, content, messages or everything", () => {
    server.prompt("p", { arguments: schema }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number | undefined }>();
      return "text";
    });
    server.prompt("p", {}, () => text("x"));
    server.prompt("p", {}, async () => [{ role: "user", content: text("x") }]);
    server.prompt("p", {}, () => ({
      messages: [{ role: "assistant", content: { type: "text", text: "x" } }],
    }));
    server.prompt("p", {}, async (): Promise<GetPromptResult> => ({ messages: [] }));
    // @ts-expect-error: a message needs its content
    server.prompt("p", {}, () => ({ messages: [{ role: "user" }] }));
    // @ts-expect-error: there is no such role
    server.prompt("p", {}, () => [{ role: "system", content: text("x") }]);
    // @ts-expect-error: a number is no prompt
    server.prompt("p", {}, () => 5);
  });

  test("completers are keyed by argument", () => {
    server.prompt(
      "p",
      {
        arguments: schema,
        complete: {
          city: (value, others, ctx) => {
            expectTypeOf(value).toEqualTypeOf<string>();
            expectTypeOf(others).toEqualTypeOf<Readonly<Record<string, string>>>();
            expectTypeOf(ctx.revision).toEqualTypeOf<string>();
            return [value];
          },
          days: async () => ({ values: ["1"], total: 7, hasMore: true }),
        },
      },
      () => "",
    );
    // @ts-expect-error: there is no such argument
    server.prompt("p", { arguments: schema, complete: { town: () => [] } }, () => "");
    // @ts-expect-error: suggestions are strings
    server.prompt("p", { arguments: schema, complete: { days: () => [1] } }, () => "");
  });
});
