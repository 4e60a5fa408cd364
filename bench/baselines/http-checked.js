// The same hand-written server with the checks, lookups and the awaited handler that a correct server cannot skip.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { answerParent } from "../child-commands.js";
import { answerText, echoResult, initializeResult, listTexts, readyAnswerText } from "./http-answers.js";
import { commands, openGetStream, openListenStream } from "./http-streams.js";

const MAX_BODY = 4 * 1024 * 1024;
const MODERN = "2026-07-28";
const LEGACY = new Set(["2025-03-26", "2025-06-18", "2025-11-25"]);
const VERSION_META = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities";
const HOSTS = new Set(["127.0.0.1", "localhost", "[::1]"]);

const { tools } = JSON.parse(process.argv[2]);
const lists = listTexts(tools);
const sessions = new Set();
const handlers = new Map([["echo", { check: isEchoInput, run: async ({ text }) => text }]]);
const methods = new Map([
  ["initialize", initialize],
  ["tools/list", listTools],
  ["tools/call", callTool],
  ["subscriptions/listen", listen],
]);

const refusal = (status, code, message) => ({ status, code, message });

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function isEchoInput(input) {
  return isObject(input) && typeof input.text === "string";
}

function isAllowedHost(host) {
  return host !== undefined && HOSTS.has(host.replace(/:\d+$/, ""));
}

function isAllowedOrigin(origin) {
  return origin === undefined || (URL.canParse(origin) && HOSTS.has(new URL(origin).hostname));
}

function isJson(type) {
  return type !== undefined && type.split(";", 1)[0].trim().toLowerCase() === "application/json";
}

function acceptsBoth(accept = "*/*") {
  const types = new Set(accept.split(",").map((type) => type.split(";", 1)[0].trim()));
  return types.has("*/*") || (types.has("application/json") && types.has("text/event-stream"));
}

function checkHead({ headers, method }) {
  if (!isAllowedHost(headers.host) || !isAllowedOrigin(headers.origin))
    return refusal(403, -32600, "Forbidden");
  if (method === "GET")
    return sessions.has(headers["mcp-session-id"]) ? undefined : refusal(404, -32600, "Session");
  if (method !== "POST") return refusal(405, -32600, "Method not allowed");
  if (!isJson(headers["content-type"])) return refusal(415, -32600, "Content-Type");
  if (!acceptsBoth(headers.accept)) return refusal(406, -32600, "Accept");
  if (Number(headers["content-length"]) > MAX_BODY) return refusal(413, -32600, "Too large");
  return undefined;
}

function checkEnvelope(message) {
  if (!isObject(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string")
    return refusal(400, -32600, "Not a request");
  const { id, params } = message;
  if (id !== undefined && typeof id !== "string" && !Number.isSafeInteger(id))
    return refusal(400, -32600, "id");
  if (params !== undefined && !isObject(params)) return refusal(400, -32602, "params");
  return undefined;
}

function checkModern(headers, { method, params }) {
  const meta = params?._meta;
  if (!isObject(meta) || typeof meta[VERSION_META] !== "string" || !isObject(meta[CAPABILITIES_META]))
    return refusal(400, -32602, "_meta");
  if (headers["mcp-protocol-version"] !== meta[VERSION_META]) return refusal(400, -32020, "version differs");
  if (headers["mcp-method"] !== method) return refusal(400, -32020, "Mcp-Method differs");
  if (method === "tools/call" && headers["mcp-name"] !== params.name)
    return refusal(400, -32020, "Mcp-Name differs");
  return undefined;
}

// A client without a session is served here, as a stateless server serves it.
function checkLegacy(headers, { method }) {
  if (method === "initialize") return undefined;
  const session = headers["mcp-session-id"];
  if (session !== undefined && !sessions.has(session)) return refusal(404, -32600, "Session");
  const version = headers["mcp-protocol-version"] ?? "2025-03-26";
  return LEGACY.has(version) ? undefined : refusal(400, -32600, "version");
}

function sendText(res, text) {
  res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  res.end(text);
}

function refuse(res, id, { status, code, message }) {
  const text = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  res.end(text);
}

function initialize(res, { id, params }) {
  const session = randomUUID();
  sessions.add(session);
  res.setHeader("mcp-session-id", session);
  sendText(res, answerText(id, initializeResult(params)));
}

function listTools(res, { id }, isModern) {
  sendText(res, readyAnswerText(id, isModern ? lists.modern : lists.legacy));
}

function listen(res, message) {
  if (!isObject(message.params?.notifications))
    refuse(res, message.id, refusal(400, -32602, "notifications"));
  else openListenStream(res, message);
}

async function callTool(res, { id, params }, isModern) {
  const handler = handlers.get(params?.name);
  if (handler === undefined) return refuse(res, id, refusal(200, -32602, "Unknown tool"));
  if (!handler.check(params.arguments)) return refuse(res, id, refusal(200, -32602, "Invalid arguments"));
  const text = await handler.run(params.arguments);
  return sendText(res, answerText(id, echoResult(text, isModern)));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function answer(req, res, text) {
  const message = parse(text);
  const isModern = req.headers["mcp-protocol-version"] === MODERN;
  const problem =
    checkEnvelope(message) ??
    (isModern ? checkModern(req.headers, message) : checkLegacy(req.headers, message));
  if (problem) return refuse(res, message?.id, problem);
  if (message.id === undefined) return res.writeHead(202).end();
  const method = methods.get(message.method);
  if (method === undefined)
    return refuse(res, message.id, refusal(isModern ? 404 : 200, -32601, "Unknown method"));
  return method(res, message, isModern);
}

function collect(req, res) {
  const chunks = [];
  let size = 0;
  req.on("data", (chunk) => {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  });
  req.on("end", () => {
    if (size > MAX_BODY) refuse(res, undefined, refusal(413, -32600, "Too large"));
    else void answer(req, res, Buffer.concat(chunks).toString());
  });
}

const server = createServer((req, res) => {
  if (req.url !== "/mcp") return res.writeHead(404).end();
  const problem = checkHead(req);
  if (problem) return refuse(res, undefined, problem);
  return req.method === "GET" ? openGetStream(res) : collect(req, res);
});

server.listen(0, "127.0.0.1", () => answerParent(commands, { port: server.address().port }));
