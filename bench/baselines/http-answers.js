// What the hand-written HTTP servers answer.
import { INFO } from "./messages.js";
import { toolDefinitions } from "./tools.js";

const stamp = { resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": INFO } };

/** The result of the echo tool. */
export function echoResult(text, isModern) {
  const content = [{ type: "text", text }];
  return isModern ? { content, ...stamp } : { content };
}

export function initializeResult({ protocolVersion }) {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} };
  return { protocolVersion, capabilities, serverInfo: INFO };
}

/** The ready-made texts of a `tools/list` result, for both eras. */
export function listTexts(count) {
  const tools = toolDefinitions(count);
  const modern = JSON.stringify({ tools, ...stamp, ttlMs: 0, cacheScope: "private" });
  return { modern, legacy: JSON.stringify({ tools }) };
}

/** The text of an answer whose result is an object. */
export function answerText(id, result) {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** The text of an answer whose result is text already. */
export function readyAnswerText(id, resultText) {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultText}}`;
}
