// The same hand-written stdio server with one write per chunk that it reads: a harder floor, for those who batch.
import { INFO } from "./messages.js";

let rest = "";
let answers = "";

function echo(params) {
  const content = [{ type: "text", text: params.arguments.text }];
  if (params._meta === undefined) return { content };
  return { content, resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": INFO } };
}

function answer({ method, params }) {
  if (method === "tools/call") return echo(params);
  if (method === "initialize") {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: INFO,
    };
  }
  return undefined;
}

function receive(line) {
  const message = JSON.parse(line);
  const result = answer(message);
  if (result === undefined) return;
  answers += `${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n`;
}

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) receive(line);
  process.stdout.write(answers);
  answers = "";
});
