// An agent: a model calls the tools of an MCP server until it has the answer. The model here is a script; put yours in its place.
import { type CallToolResult, connect, type JsonObject, type McpClient, type Tool } from "halyard/client";

type Message =
  | { role: "user" | "assistant"; text: string }
  | { role: "tool"; name: string; result: CallToolResult };
type Step = { call: { name: string; args: JsonObject } } | { answer: string };
type Model = (messages: readonly Message[], tools: readonly Tool[]) => Promise<Step>;

/** Runs the model until it answers, at most `maxSteps` times. */
async function runAgent(client: McpClient, model: Model, question: string, maxSteps = 10): Promise<string> {
  const messages: Message[] = [{ role: "user", text: question }];
  for (let step = 0; step < maxSteps; step++) {
    // Listing is cheap: the client keeps the tools for as long as the server allows.
    const next = await model(messages, await client.listTools());
    if ("answer" in next) return next.answer;
    const { name, args } = next.call;
    console.error(`The model calls ${name} ${JSON.stringify(args)}`);
    // A tool that fails returns a result with isError, which the model reads like any other.
    messages.push({ role: "tool", name, result: await client.callTool(name, args) });
  }
  return `No answer after ${maxSteps} steps`;
}

/** Stands for a call to your provider: greets with the first tool, then repeats what the tool returned. */
const scriptedModel: Model = async (messages, [tool]) => {
  const last = messages.at(-1);
  if (last?.role !== "tool") return { call: { name: tool?.name ?? "", args: { name: "Ada" } } };
  const [block] = last.result.content;
  return { answer: block?.type === "text" ? block.text : "The tool returned no text" };
};

// Any server will do: a URL, or the command of another one.
const client = await connect({
  command: process.execPath,
  args: ["--import", "tsx", "examples/hello/server.ts"],
});
console.log(await runAgent(client, scriptedModel, "Greet Ada"));
await client.close();
