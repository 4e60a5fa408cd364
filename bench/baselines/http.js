// A hand-written node:http server: collects and parses the body, answers with Content-Length, checks nothing.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { answerParent } from "../child-commands.js";
import { answerText, echoResult, initializeResult, listTexts, readyAnswerText } from "./http-answers.js";
import { commands, openGetStream, openListenStream } from "./http-streams.js";

const { tools } = JSON.parse(process.argv[2]);
const lists = listTexts(tools);
const sessions = new Set();

function send(res, text) {
  res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  res.end(text);
}

function sendInitialize(res, { id, params }) {
  const session = randomUUID();
  sessions.add(session);
  res.setHeader("mcp-session-id", session);
  send(res, answerText(id, initializeResult(params)));
}

function answer(res, message) {
  const { id, method, params } = message;
  if (id === undefined) return res.writeHead(202).end();
  if (method === "initialize") return sendInitialize(res, message);
  if (method === "subscriptions/listen") return openListenStream(res, message);
  const isModern = params._meta !== undefined;
  if (method === "tools/list") return send(res, readyAnswerText(id, isModern ? lists.modern : lists.legacy));
  return send(res, answerText(id, echoResult(params.arguments.text, isModern)));
}

const server = createServer((req, res) => {
  if (req.method === "GET") return openGetStream(res);
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => answer(res, JSON.parse(Buffer.concat(chunks).toString())));
});

server.listen(0, "127.0.0.1", () => answerParent(commands, { port: server.address().port }));
