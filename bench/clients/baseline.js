// What a client needs at least, by hand: `fetch`, JSON.stringify and JSON.parse. It checks the status, the type and the id, and no more.
import { INFO } from "../baselines/messages.js";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const ACCEPT = "application/json, text/event-stream";

/** `capabilities`: what the client can be asked for. */
const metaOf = (capabilities) => ({
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": INFO,
  "io.modelcontextprotocol/clientCapabilities": capabilities,
});

class Baseline {
  #url;
  #fetch;
  #isModern;
  #meta;
  #elicit;
  #session;
  #lastId = 0;

  constructor({ url, fetch = globalThis.fetch, era = "modern", elicit }) {
    this.#url = url;
    this.#fetch = fetch;
    this.#isModern = era === "modern";
    this.#elicit = elicit;
    this.#meta = metaOf(elicit ? { elicitation: { form: {} } } : {});
  }

  async connect() {
    if (this.#isModern) return void (await this.#request("server/discover", {}));
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: INFO };
    await this.#request("initialize", params);
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    const response = await this.#post(body, "notifications/initialized");
    await response.body?.cancel();
  }

  async call(text) {
    const { content } = await this.#request("tools/call", { name: "echo", arguments: { text } }, "echo");
    return content[0].text;
  }

  async callWithProgress(text, onProgress) {
    const params = { name: "echo", arguments: { text } };
    const { content } = await this.#request("tools/call", params, "echo", onProgress);
    return content[0].text;
  }

  /** A call that the server answers with questions, until it has all answers. */
  async callWithRounds(text) {
    const params = { name: "ask", arguments: { text } };
    for (let answers = {}; ;) {
      const result = await this.#request("tools/call", { ...params, ...answers }, "ask");
      if (result.resultType !== "input_required") return result.content[0].text;
      const inputResponses = {};
      for (const [key, { params: question }] of Object.entries(result.inputRequests))
        inputResponses[key] = this.#elicit(question);
      answers = { inputResponses, requestState: result.requestState };
    }
  }

  async list() {
    return (await this.#request("tools/list", {})).tools.length;
  }

  async listen(uri, onChange) {
    const params = { notifications: { resourceSubscriptions: [uri] } };
    await this.#request("subscriptions/listen", params, undefined, ({ method }) => {
      if (method === "notifications/resources/updated") onChange();
    });
  }

  async close() {}

  async #request(method, params, name, onNotification) {
    const id = ++this.#lastId;
    const meta = this.#isModern ? this.#meta : undefined;
    const _meta = onNotification ? { ...meta, progressToken: id } : meta;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
    const response = await this.#post(body, method, name);
    if (response.status !== 200) throw new Error(`${method}: ${response.status}`);
    const type = response.headers.get("content-type");
    if (method === "initialize") this.#session = response.headers.get("mcp-session-id") ?? undefined;
    const message = type.startsWith("application/json")
      ? JSON.parse(await response.text())
      : await readEvents(response, id, onNotification);
    if (message.id !== id) throw new Error(`${method}: the response has the id ${message.id}`);
    if (message.error) throw new Error(message.error.message);
    return message.result;
  }

  #post(body, method, name) {
    const headers = { accept: ACCEPT, "content-type": "application/json" };
    if (this.#isModern) {
      headers["mcp-protocol-version"] = MODERN;
      headers["mcp-method"] = method;
      if (name !== undefined) headers["mcp-name"] = name;
    } else if (method !== "initialize") headers["mcp-protocol-version"] = LEGACY;
    if (this.#session !== undefined) headers["mcp-session-id"] = this.#session;
    return this.#fetch(this.#url, { method: "POST", headers, body });
  }
}

/** Reads to the end, beyond the response: otherwise the connection cannot carry the next request. */
async function readEvents(response, id, onNotification) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let found;
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done && found === undefined) throw new Error("the stream ended without a response");
    if (done) return found;
    const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const message = JSON.parse(event.slice(event.indexOf("data: ") + "data: ".length));
      if (message.id === id && message.method === undefined) found = message;
      else onNotification?.(message);
    }
  }
}

/** Connects: `{ url, fetch, era, elicit }`. */
export async function connectBaseline(options) {
  const client = new Baseline(options);
  if (!options.remembered) await client.connect();
  return client;
}
