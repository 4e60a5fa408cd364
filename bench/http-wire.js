// HTTP/1.1 by hand over node:net: the bytes of requests, and one keep-alive connection that reads answers and SSE streams.
import { once } from "node:events";
import { connect } from "node:net";
import { legacyCall, modernCall, modernList } from "./baselines/messages.js";

export const BOTH = "application/json, text/event-stream";
const HEADERLESS = "2025-03-26"; // the version header came with the revision after it

/** The head of a request, lines without an end; a POST adds its Content-Length in `post`. */
function head(method, port, fields) {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join("")}`;
}

/** Everything of a POST up to its body of `length` bytes; bodies of the same length share it. */
export function postHead(port, length, { accept = BOTH, ...fields }) {
  const all = { "Content-Type": "application/json", Accept: accept, ...fields, "Content-Length": length };
  return `${head("POST", port, all)}\r\n`;
}

export function post(port, body, fields = {}) {
  return postHead(port, body.length, fields) + body;
}

export function get(port, fields) {
  return `${head("GET", port, { Accept: "text/event-stream", ...fields })}\r\n`;
}

export function modernFields(method, name) {
  const named = name === undefined ? {} : { "Mcp-Name": name };
  return { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...named };
}

/** What a legacy client sends once it has a session, or without one. */
export function legacyFields({ version, id } = { version: "2025-06-18" }) {
  const session = id === undefined ? {} : { "Mcp-Session-Id": id };
  return version === HEADERLESS ? session : { "MCP-Protocol-Version": version, ...session };
}

export function legacyList(id) {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: {} });
}

export const bodies = {
  modern: { call: modernCall, list: modernList },
  legacy: { call: legacyCall, list: legacyList },
};

/** The JSON text of an answer, which an SSE reply carries in its last event. */
export function jsonOf({ type, body }) {
  if (!type.startsWith("text/event-stream")) return body;
  return dataOf(body.slice(body.lastIndexOf("data: ")));
}

/** The data of an SSE event, empty for a comment or an event without any. */
export function dataOf(event) {
  const lines = event.split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => line.slice(6)).join("\n");
}

function field(text, name) {
  return new RegExp(`^${name}: *(.*?)\r?$`, "im").exec(text)?.[1] ?? "";
}

/** Takes chunks of a chunked body apart; returns the whole text once the last one has come. */
function decodeChunks(text) {
  let body = "";
  let at = 0;
  for (;;) {
    const end = text.indexOf("\r\n", at);
    if (end < 0) return { body, rest: text.slice(at), done: false };
    const size = Number.parseInt(text.slice(at, end), 16);
    const next = end + 2 + size + 2;
    if (next > text.length) return { body, rest: text.slice(at), done: false };
    if (size === 0) return { body, rest: text.slice(next), done: true };
    body += text.slice(end + 2, end + 2 + size);
    at = next;
  }
}

/** One connection: one request at a time, or one stream until it is closed. All that is sent here is ASCII. */
export class WireConnection {
  #socket;
  #rest = "";
  #waiter;
  #onEvent;
  #events = "";
  closed = false;

  static async open(port) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    return new WireConnection(socket);
  }

  constructor(socket) {
    this.#socket = socket.setEncoding("latin1");
    socket.on("data", (text) => (this.#onEvent ? this.#readStream(text) : this.#readAnswer(text)));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
      this.#waiter?.reject(new Error(`connection closed after ${JSON.stringify(this.#rest.slice(0, 200))}`));
    });
  }

  /** Sends a whole request and waits for the whole answer. */
  request(text) {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#socket.write(text, "latin1");
    });
  }

  /** Sends a request and gives every SSE event of its answer to `onEvent`; waits for the head only. */
  async stream(text, onEvent) {
    this.#events = "";
    const opened = this.request(text);
    this.#waiter.onEvent = onEvent;
    const { status, type, body } = await opened;
    if (status !== 200 || !type.startsWith("text/event-stream"))
      throw new Error(`no stream but ${status} ${type} ${body}`);
  }

  /** Reads nothing more. */
  pause() {
    this.#socket.pause();
  }

  close() {
    this.#socket.destroy();
  }

  #readAnswer(text) {
    this.#rest += text;
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0) return;
    const top = this.#rest.slice(0, end);
    const content = this.#rest.slice(end + 4);
    const answer = {
      status: Number(top.slice(9, 12)),
      type: field(top, "content-type"),
      head: top,
      body: "",
    };
    const isStream = answer.status === 200 && answer.type.startsWith("text/event-stream");
    if (this.#waiter.onEvent && isStream) this.#becomeStream(answer, content);
    else this.#finish(answer, content);
  }

  #becomeStream(answer, content) {
    this.#onEvent = this.#waiter.onEvent;
    this.#rest = "";
    this.#resolve(answer);
    if (content !== "") this.#readStream(content);
  }

  #finish(answer, content) {
    if (/^transfer-encoding: *chunked/im.test(answer.head)) {
      const { body, done } = decodeChunks(content);
      if (done) this.#resolve({ ...answer, body });
      return;
    }
    const length = Number(field(answer.head, "content-length"));
    if (content.length >= length) this.#resolve({ ...answer, body: content.slice(0, length) });
  }

  #resolve(answer) {
    const { resolve } = this.#waiter;
    this.#waiter = undefined;
    this.#rest = "";
    resolve(answer);
  }

  #readStream(text) {
    const { body, rest } = decodeChunks(this.#rest + text);
    this.#rest = rest;
    const events = (this.#events + body).split("\n\n");
    this.#events = events.pop();
    for (const event of events) this.#onEvent(event);
  }
}

/** The legacy handshake; returns the session's id, undefined where the server keeps none, and its revision. */
export async function openSession(connection, port, messages) {
  const answer = await connection.request(post(port, messages.initialize));
  const version = JSON.parse(jsonOf(answer)).result?.protocolVersion;
  if (version === undefined) throw new Error(`initialize failed: ${answer.status} ${answer.body}`);
  const id = field(answer.head, "mcp-session-id") || undefined;
  const { status } = await connection.request(
    post(port, messages.initialized, legacyFields({ version, id })),
  );
  if (status !== 202) throw new Error(`notifications/initialized was answered with ${status}`);
  return { id, version };
}
