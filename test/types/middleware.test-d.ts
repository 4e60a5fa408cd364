// What the compiler knows of middleware: the request by method, and what is added to ctx.
import {
  type CallToolResult,
  type GetPromptResult,
  type JsonObject,
  McpServer,
  type Prompt,
  type Resource,
  type ResourceTemplate,
  type ServerEvent,
  type Tool,
} from "halyard";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";

const server = new McpServer({ name: "types", version: "1.0.0" });

describe("additions", () => {
  test("are on the ctx of handlers and of later middleware", () => {
    const extended = server
      .use<{ user: string }>((_, ctx, next) => {
        // @ts-expect-error: it is not there yet
        void ctx.user;
        return next({ user: "ada" });
      })
      .use<{ tenant: number }>((_, ctx, next) => {
        expectTypeOf(ctx.user).toEqualTypeOf<string>();
        return next({ tenant: 1 });
      });
    extended.tool("t", {}, (_, ctx) => {
      expectTypeOf(ctx.user).toEqualTypeOf<string>();
      expectTypeOf(ctx.tenant).toEqualTypeOf<number>();
      return "";
    });
    extended.prompt("p", {}, (_, ctx) => ctx.user);
    extended.resource("a:b", {}, (_, ctx) => ctx.user);
    extended.resourceTemplate("a:{b}", {}, (_, ctx) => ctx.user);
    const template = extended.resourceTemplate(
      "c:{d}",
      { list: (ctx) => [{ uri: `c:${ctx.user}` }], complete: { d: (_, __, ctx) => [ctx.user] } },
      (_, ctx) => ctx.user,
    );
    template.update({ list: (ctx) => [{ uri: `c:${ctx.tenant}` }] });
    const input = z.object({ name: z.string() });
    extended.prompt("q", { arguments: input, complete: { name: (_, __, ctx) => [ctx.user] } }, () => "");
    extended.completion((_, ctx) => [ctx.user]);
    // @ts-expect-error: no middleware adds a role
    extended.completion((_, ctx) => [ctx.role]);
    server.tool("t", {}, (_, ctx) => {
      // @ts-expect-error: this server has no such middleware
      return ctx.user;
    });
  });

  test("must be what was promised", () => {
    // @ts-expect-error: the user is a string
    server.use<{ user: string }>((_, __, next) => next({ user: 5 }));
    // @ts-expect-error: the user is missing
    server.use<{ user: string }>((_, __, next) => next({}));
  });
});

describe("lists", () => {
  test("hold what they are called after", () => {
    server.use("tools/list", async (_, __, next) => {
      const page = await next();
      expectTypeOf(page.tools).toEqualTypeOf<readonly Tool[]>();
      return { ...page, tools: page.tools.filter(({ annotations }) => annotations?.readOnlyHint) };
    });
    server.use("prompts/list", async (_, __, next) => {
      expectTypeOf((await next()).prompts).toEqualTypeOf<readonly Prompt[]>();
      return next();
    });
    server.use("resources/list", async (_, __, next) => {
      expectTypeOf((await next()).resources).toEqualTypeOf<readonly Resource[]>();
      return next();
    });
    server.use("resources/templates/list", async (_, __, next) => {
      expectTypeOf((await next()).resourceTemplates).toEqualTypeOf<readonly ResourceTemplate[]>();
      return next();
    });
  });
});

describe("methods of one's own", () => {
  test("have parameters and results of their schemas", () => {
    const params = z.object({ query: z.string(), limit: z.number().default(1) });
    const result = z.object({ items: z.array(z.string()) });
    server.method("acme/search", { params, result }, (given, ctx) => {
      expectTypeOf(given).toEqualTypeOf<{ query: string; limit: number }>();
      expectTypeOf(ctx.notify("acme/x", { a: 1 })).resolves.toBeVoid();
      return { items: [given.query] };
    });
    // @ts-expect-error: items are strings
    server.method("acme/search", { params, result }, () => ({ items: [1] }));
    server.method("acme/any", {}, (given) => {
      expectTypeOf(given).toEqualTypeOf<JsonObject>();
    });
  });
});

describe("methods", () => {
  test("have parameters and results of their own", () => {
    server.use("tools/call", async (request, _, next) => {
      expectTypeOf(request.method).toEqualTypeOf<"tools/call">();
      expectTypeOf(request.params.name).toEqualTypeOf<string>();
      expectTypeOf(request.params.arguments).toEqualTypeOf<JsonObject | undefined>();
      const result = await next();
      expectTypeOf(result).toEqualTypeOf<CallToolResult>();
      return result;
    });
    server.use("prompts/get", async (request, _, next) => {
      expectTypeOf(request.params.arguments).toEqualTypeOf<Readonly<Record<string, string>> | undefined>();
      expectTypeOf(await next()).toEqualTypeOf<GetPromptResult>();
      return next();
    });
    server.use("tools/list", async (_, __, next) => {
      const page = await next();
      return { ...page, tools: page.tools.filter((tool) => tool["name"] !== "x") };
    });
    // @ts-expect-error: content is missing
    server.use("tools/call", () => ({}));
    // @ts-expect-error: there is no such method
    server.use("tools/cal", (_, __, next) => next());
  });

  test("are any string in middleware for all of them", () => {
    server.use((request, _, next) => {
      expectTypeOf(request.method).toEqualTypeOf<string>();
      expectTypeOf(request.params).toEqualTypeOf<JsonObject>();
      return next();
    });
  });
});

test("events are told apart by their type", () => {
  const observe = (event: ServerEvent): void => {
    if (event.type === "request") expectTypeOf(event.outcome).toEqualTypeOf<"ok" | "error" | "cancelled">();
    if (event.type === "push") expectTypeOf(event.delivered).toEqualTypeOf<number>();
    if (event.type === "handler-error") expectTypeOf(event.error).toEqualTypeOf<unknown>();
    if (event.type === "session") expectTypeOf(event.state).toEqualTypeOf<"made" | "revived" | "ended">();
    // @ts-expect-error: there is no such event
    if (event.type === "reqest") return;
  };
  void new McpServer({ name: "types", version: "1.0.0" }, { observe });
});
