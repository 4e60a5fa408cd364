// What was written for the official SDK, of both versions, can be passed on here, and takes what the client here returns.
import type * as V2 from "@modelcontextprotocol/client";
import type * as V1 from "@modelcontextprotocol/sdk/types.js";
import type { ServerOptions } from "halyard";
import type { ListPage, McpClient } from "halyard/client";
import { describe, expectTypeOf, test } from "vitest";

test("the official capabilities of a server are options here", () => {
  expectTypeOf<V1.ServerCapabilities>().toExtend<NonNullable<ServerOptions["capabilities"]>>();
  expectTypeOf<V2.ServerCapabilities>().toExtend<NonNullable<ServerOptions["capabilities"]>>();
});

describe("what the client returns is of the official types", () => {
  type Client = McpClient<{ weather: { output: { celsius: number } } }>;
  type Result<Method extends (...args: never) => unknown> = Awaited<ReturnType<Method>>;

  test("results", () => {
    expectTypeOf<Result<McpClient["callTool"]>>().toExtend<V2.CallToolResult>();
    expectTypeOf<Result<McpClient["getPrompt"]>>().toExtend<V1.GetPromptResult>();
    expectTypeOf<Result<McpClient["getPrompt"]>>().toExtend<V2.GetPromptResult>();
    expectTypeOf<Result<McpClient["readResource"]>>().toExtend<V1.ReadResourceResult>();
    expectTypeOf<Result<McpClient["readResource"]>>().toExtend<V2.ReadResourceResult>();
    expectTypeOf<Result<McpClient["complete"]>>().toExtend<V1.CompleteResult>();
    expectTypeOf<Result<McpClient["complete"]>>().toExtend<V2.CompleteResult>();
  });

  test("entries of lists", () => {
    expectTypeOf<Result<McpClient["listTools"]>>().toExtend<V2.Tool[]>();
    expectTypeOf<Result<McpClient["listPrompts"]>>().toExtend<V1.Prompt[]>();
    expectTypeOf<Result<McpClient["listPrompts"]>>().toExtend<V2.Prompt[]>();
    expectTypeOf<Result<McpClient["listResources"]>>().toExtend<V1.Resource[]>();
    expectTypeOf<Result<McpClient["listResources"]>>().toExtend<V2.Resource[]>();
    expectTypeOf<Result<McpClient["listResourceTemplates"]>>().toExtend<V1.ResourceTemplate[]>();
    expectTypeOf<Result<McpClient["listResourceTemplates"]>>().toExtend<V2.ResourceTemplateType[]>();
  });

  test("pages", () => {
    expectTypeOf<ListPage<"tools">>().toExtend<V2.ListToolsResult>();
    expectTypeOf<ListPage<"prompts">>().toExtend<V1.ListPromptsResult>();
    expectTypeOf<ListPage<"prompts">>().toExtend<V2.ListPromptsResult>();
    expectTypeOf<ListPage<"resources">>().toExtend<V1.ListResourcesResult>();
    expectTypeOf<ListPage<"resources">>().toExtend<V2.ListResourcesResult>();
    expectTypeOf<ListPage<"resourceTemplates">>().toExtend<V1.ListResourceTemplatesResult>();
    expectTypeOf<ListPage<"resourceTemplates">>().toExtend<V2.ListResourceTemplatesResult>();
  });

  test("of version 1, which knows objects alone as output, where the output is known to be one", () => {
    expectTypeOf<Result<Client["callTool"]>>().toExtend<V1.CallToolResult>();
    expectTypeOf<Result<McpClient["callTool"]>>().not.toExtend<V1.CallToolResult>();
    type Listed = Result<McpClient["listTools"]>[number];
    expectTypeOf<Omit<Listed, "outputSchema">>().toExtend<V1.Tool>();
  });
});
