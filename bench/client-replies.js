// A `fetch` that answers from ready-made texts, so that nothing but the client costs time: no server, no socket.
import { INFO } from "./baselines/messages.js";
import { toolDefinitions } from "./baselines/tools.js";

export const URL_OF_NOBODY = "http://bench.invalid/mcp";
export const TOOLS = 100;
export const EVENTS = 10_000;
export const NOTE = "note:///a";
const EVENTS_IN_A_PIECE = 10;

const serverInfo = { "io.modelcontextprotocol/serverInfo": INFO };
const modern = { resultType: "complete", _meta: serverInfo };
const capabilities = { tools: {}, resources: { subscribe: true } };
const content = (text) => [{ type: "text", text }];

const results = {
  "server/discover": {
    supportedVersions: ["2026-07-28"],
    capabilities,
    ...modern,
    ttlMs: 60_000,
    cacheScope: "public",
  },
  initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo: INFO },
  "tools/list": {
    tools: [
      {
        name: "echo",
        description: "Echoes the text",
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
      ...toolDefinitions(TOOLS - 1),
    ],
    ...modern,
    ttlMs: 3_600_000,
    cacheScope: "public",
  },
  "tools/call": { content: content("hello halyard"), ...modern },
};

const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Which colour?",
    requestedSchema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
  },
};
const askAgain = (round) => ({
  resultType: "input_required",
  inputRequests: { colour: question },
  requestState: `round-${round}`,
  _meta: serverInfo,
});
const rounds = {
  first: JSON.stringify(askAgain(1)),
  second: JSON.stringify(askAgain(2)),
  last: JSON.stringify(results["tools/call"]),
};

const texts = Object.fromEntries(
  Object.entries(results).map(([method, result]) => [method, JSON.stringify(result)]),
);
const bytesOfTexts = Object.fromEntries(
  Object.entries(texts).map(([method, text]) => [method, Buffer.byteLength(text)]),
);

/** The value after `name` in the body, as it is written there: a number, or a string with its quotes. */
function written(body, name) {
  const start = body.indexOf(name);
  if (start < 0) return undefined;
  const from = start + name.length;
  let to = from;
  for (let unit = body.charCodeAt(to); unit !== 0x2c && unit !== 0x7d; unit = body.charCodeAt(++to));
  return body.slice(from, to);
}

const response = (id, result) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;

function json(id, result, bytes = Buffer.byteLength(result)) {
  const length = bytes + '{"jsonrpc":"2.0","id":,"result":}'.length + id.length;
  const headers = { "content-type": "application/json", "content-length": String(length) };
  return new Response(response(id, result), { headers });
}

const eventStream = { headers: { "content-type": "text/event-stream" } };
const event = (data) => `event: message\ndata: ${data}\n\n`;

/** A call with one notification of progress before its response. */
function progressReply(body, id) {
  const token = written(body, '"progressToken":') ?? id;
  const params = `{"progressToken":${token},"progress":1,"total":2,"message":"half"}`;
  const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
  return new Response(event(progress) + event(response(id, texts["tools/call"])), eventStream);
}

function roundsReply(body, id) {
  const state = written(body, '"requestState":');
  const isFirst = state === undefined;
  return json(id, isFirst ? rounds.first : state === '"round-1"' ? rounds.second : rounds.last);
}

const encoder = new TextEncoder();

/** The acknowledgement, all events, and the end. */
function listenReply(id) {
  const _meta = { "io.modelcontextprotocol/subscriptionId": JSON.parse(id) };
  const notification = (method, params) =>
    event(JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, _meta } }));
  const piece = encoder.encode(
    notification("notifications/resources/updated", { uri: NOTE }).repeat(EVENTS_IN_A_PIECE),
  );
  let left = EVENTS / EVENTS_IN_A_PIECE;
  const acknowledged = notification("notifications/subscriptions/acknowledged", {
    notifications: { resourceSubscriptions: [NOTE] },
  });
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(acknowledged)),
    pull: (controller) => {
      if (left-- > 0) controller.enqueue(piece);
      else {
        const end = JSON.stringify({ ...modern, _meta: { ...serverInfo, ..._meta } });
        controller.enqueue(encoder.encode(event(response(id, end))));
        controller.close();
      }
    },
  });
  return new Response(body, eventStream);
}

/** `calls`: how it answers calls, with `json`, `progress` or `rounds`. */
export function readyFetch(calls = "json") {
  return async (_url, { method: verb, body }) => {
    if (verb !== "POST") return new Response(null, { status: 405 });
    const method = written(body, '"method":').slice(1, -1);
    const id = written(body, '"id":');
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === "subscriptions/listen") return listenReply(id);
    if (method !== "tools/call" || calls === "json") return json(id, texts[method], bytesOfTexts[method]);
    return calls === "progress" ? progressReply(body, id) : roundsReply(body, id);
  };
}
