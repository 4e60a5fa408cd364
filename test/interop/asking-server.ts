// A server whose tools ask their client: the demo does not, since only legacy clients can be asked this way.
import { McpServer } from "halyard";
import { recordingLogger } from "../support/log.ts";

export function createAskingServer(): McpServer {
  const server = new McpServer({ name: "asking", version: "1.0.0" }, { logger: recordingLogger() });

  server.tool("interview", {}, async (_, ctx) => {
    const requestedSchema = {
      type: "object",
      properties: { colour: { type: "string" } },
      required: ["colour"],
    };
    const elicited = await ctx.ask("elicitation/create", { message: "Which colour?", requestedSchema });
    const question = { role: "user", content: { type: "text", text: "What rhymes with it?" } };
    const sampled = await ctx.ask("sampling/createMessage", { messages: [question], maxTokens: 10 });
    const listed = await ctx.ask("roots/list");
    return JSON.stringify([elicited["content"], sampled["content"], listed["roots"]]);
  });

  server.tool("wake", {}, async (_, ctx) => {
    await server.push.ping(ctx.session ?? "");
    return "Awake";
  });

  return server;
}
