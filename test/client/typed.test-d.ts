// The types of `connect<Tools>`: names, arguments and structured results of tools.
import { type CallOptions, connect, type McpClient, type ServerOutcome } from "halyard/client";
import { describe, expectTypeOf, test } from "vitest";

interface Tools {
  forecast: { input: { city: string; days?: number }; output: { celsius: number } };
  now: { input: { zone?: string }; output: string };
  reset: { input: Record<never, never> };
}

declare const client: McpClient<Tools>;
declare const untyped: McpClient;

describe("connect<Tools>", () => {
  test("returns a client of these tools", () => {
    expectTypeOf(connect<Tools>("https://example.com")).resolves.toEqualTypeOf<McpClient<Tools>>();
    expectTypeOf(connect("https://example.com")).resolves.toEqualTypeOf<McpClient>();
  });

  test("types the structured content by the name", () => {
    expectTypeOf(client.callTool("forecast", { city: "Oslo" }))
      .resolves.toHaveProperty("structuredContent")
      .toEqualTypeOf<{ celsius: number } | undefined>();
    expectTypeOf(client.callTool("now"))
      .resolves.toHaveProperty("structuredContent")
      .toEqualTypeOf<string | undefined>();
    expectTypeOf(client.callTool("reset"))
      .resolves.toHaveProperty("structuredContent")
      .toEqualTypeOf<unknown>();
  });

  test("demands the arguments that a tool requires, and lets the others be left out", () => {
    const options: CallOptions = { timeoutMs: 1000 };
    void client.callTool("forecast", { city: "Oslo", days: 3 }, options);
    void client.callTool("now", {}, options);
    // @ts-expect-error: city is required
    void client.callTool("forecast");
    // @ts-expect-error: city is required
    void client.callTool("forecast", { days: 3 });
    // @ts-expect-error: days is a number
    void client.callTool("forecast", { city: "Oslo", days: "3" });
    // @ts-expect-error: there is no such argument
    void client.callTool("forecast", { city: "Oslo", unit: "C" });
    // @ts-expect-error: there is no such tool
    void client.callTool("forcast", { city: "Oslo" });
  });

  test("without types takes any tool and arguments", () => {
    void untyped.callTool("anything");
    void untyped.callTool("anything", { a: [1, { b: 2 }] }, { strict: true });
    expectTypeOf(untyped.callTool("anything"))
      .resolves.toHaveProperty("structuredContent")
      .toEqualTypeOf<unknown>();
    // @ts-expect-error: the object form of other clients
    void untyped.callTool({ name: "anything", arguments: {} });
  });
});

test("the outcome of a server that could not be connected to has an error with a message", () => {
  expectTypeOf<Extract<ServerOutcome, { ok: false }>>().toHaveProperty("error").toEqualTypeOf<Error>();
});
