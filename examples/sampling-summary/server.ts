// Lets the client's model summarise a text: the server needs no API key, and the user sees each request.
import { type Context, McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import * as z from "zod";

const partLength = 4000;

const server = new McpServer({ name: "summaries", version: "1.0.0" });

server.tool(
  "summarise",
  {
    description: "Summarises a text in a sentence or two.",
    input: z.object({ text: z.string().min(1) }),
  },
  async ({ text }, ctx) => {
    // A client without sampling gets the first sentence instead.
    if (ctx.clientCapabilities.sampling === undefined) return firstSentence(text);
    // Ask for all parts together, then summarise the summaries.
    const summaries = await Promise.all(partsOf(text).map((part) => summarise(part, ctx)));
    return summaries.length === 1 ? (summaries[0] ?? "") : summarise(summaries.join("\n"), ctx);
  },
);

async function summarise(text: string, ctx: Context): Promise<string> {
  const { text: summary } = await ctx.sample(text, {
    systemPrompt: "Summarise what the user sends in one or two sentences.",
    maxTokens: 200,
  });
  return summary;
}

function partsOf(text: string): string[] {
  const count = Math.ceil(text.length / partLength);
  return Array.from({ length: count }, (_, index) =>
    text.slice(index * partLength, (index + 1) * partLength),
  );
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text.slice(0, 200);
}

const { url } = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
console.log(`Serving on ${url}`);
