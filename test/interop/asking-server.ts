// A server that asks its client in every way and from everywhere: tools, a prompt and a resource.
import { McpServer, type SamplingMessage, type ServerOptions, UrlElicitationRequired } from "halyard";
import * as z from "zod";
import { recordingLogger } from "../support/log.ts";

const named = z.object({ name: z.string() });
const page = new URL("https://example.com/connect");

/** How the tool `wait` last ended; nodes of one process can share it. */
export interface Ending {
  text: string;
}

export function createAskingServer(
  options: ServerOptions = {},
  ending: Ending = { text: "Nobody has waited" },
): McpServer {
  const info = { name: "asking", version: "1.0.0" };
  const server = new McpServer(info, { logger: recordingLogger(), ...options });
  addPlainRequests(server);
  addRefusals(server);
  addPages(server);
  addRhyming(server);
  addLongInterview(server);
  addWaiting(server, ending);

  server.prompt("brief", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("For whom?", named);
    const { text } = await ctx.sample(`What rhymes with ${name}?`);
    return `Write to ${name} about a ${text}`;
  });

  server.resource("secret:///diary", { name: "diary" }, async (_, ctx) => {
    const { name } = await ctx.elicit("Whose diary?", named);
    const [root] = await ctx.roots();
    return `The diary of ${name}, in ${root?.uri}`;
  });

  return server;
}

/** What only a legacy client can be sent. */
function addPlainRequests(server: McpServer): void {
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
}

function addRefusals(server: McpServer): void {
  server.tool("refused", {}, async (_, ctx) => {
    const declined = await ctx.tryElicit("Decline this, please", named);
    const cancelled = await ctx.tryElicit("Cancel this, please", named);
    return `${declined.action}, ${cancelled.action}`;
  });

  server.tool("unanswered", {}, async (_, ctx) => (await ctx.elicit("Decline this, too", named)).name);
}

function addPages(server: McpServer): void {
  server.tool("visit", {}, async (_, ctx) => {
    const { action } = await ctx.tryElicit("Connect your account", page, { elicitationId: "visit-1" });
    const told = await server.push.elicitationComplete("visit-1");
    return `${action}, told: ${told}`;
  });

  server.tool("connected_only", {}, (_, ctx) => {
    if (ctx.inputResponses !== undefined) return "Connected";
    throw new UrlElicitationRequired([{ message: "Connect first", url: page, elicitationId: "connect-1" }]);
  });
}

/** Lets the client's model use a tool of the server. */
function addRhyming(server: McpServer): void {
  const tool = {
    name: "rhyme",
    inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  };
  server.tool("rhyme_with_tools", {}, async (_, ctx) => {
    const question: SamplingMessage = { role: "user", content: { type: "text", text: "Rhyme with blue" } };
    const first = await ctx.sample([question], { tools: [tool], toolChoice: { mode: "auto" } });
    const [use] = first.content;
    if (use?.type !== "tool_use") return "The model used no tool";
    const content = [{ type: "text", text: "shoe" }] as const;
    const results: SamplingMessage = {
      role: "user",
      content: [{ type: "tool_result", toolUseId: use.id, content }],
    };
    const { text } = await ctx.sample([question, { role: "assistant", content: use }, results], {
      tools: [tool],
    });
    return `${use.name} ${JSON.stringify(use.input)}: ${text}`;
  });
}

/** Asks everybody from within a task. */
function addLongInterview(server: McpServer): void {
  server.tool("long_interview", { task: { pollIntervalMs: 20 } }, async (_, ctx) => {
    const { name } = await ctx.elicit("Who is there?", named);
    const done = await ctx.once("count", () => "once");
    const [rhyme, roots] = await Promise.all([ctx.sample(`What rhymes with ${name}?`), ctx.roots()]);
    const { action } = await ctx.tryElicit("Decline this, please", named);
    return `${name}, ${done}, ${rhyme.text}, ${roots.length} roots, ${action}`;
  });
}

/** Waits until it is cancelled, and tells how that came about. */
function addWaiting(server: McpServer, ending: Ending): void {
  server.tool("wait", { task: { pollIntervalMs: 20 } }, async (_, ctx) => {
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    ending.text = String(ctx.signal.reason);
    return "Unheard";
  });
  server.tool("how_it_ended", {}, () => ending.text);
}
