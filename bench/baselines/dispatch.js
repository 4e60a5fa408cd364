// Hand-written code that parses a message, answers it and does nothing more: the floor that dispatch is measured against.
import { INFO } from "./messages.js";

/** Answers a modern `tools/call` of the echo tool. */
export function answerCall(text) {
  const request = JSON.parse(text);
  return JSON.stringify({
    jsonrpc: "2.0",
    id: request.id,
    result: {
      content: [{ type: "text", text: request.params.arguments.text }],
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": INFO },
    },
  });
}

/** Answers a `tools/list` with the ready-made text of its result. */
export function answerList(text, readyResult) {
  const request = JSON.parse(text);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${readyResult}}`;
}
