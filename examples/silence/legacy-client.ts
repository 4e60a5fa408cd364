// A legacy client by hand, so that it can do what a good client does not: read nothing, hang up, and come back too late.
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";

const revision = "2025-11-25";
const accept = "application/json, text/event-stream";

export class LegacyClient {
  readonly #url: string;
  readonly #session: string;
  #get: ClientRequest | undefined;
  /** The id of the first event: a place that is soon out of date. */
  #cursor: string | undefined;
  #lastId = 1;

  private constructor(url: string, session: string) {
    this.#url = url;
    this.#session = session;
  }

  /** Shakes hands under that name. */
  static async open(url: string, name: string): Promise<LegacyClient> {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name, version: "1.0.0" } };
    const response = await post(url, { id: 1, method: "initialize", params });
    const client = new LegacyClient(url, response.headers.get("mcp-session-id") ?? "");
    await post(url, { method: "notifications/initialized" }, client.#headers);
    return client;
  }

  get session(): string {
    return this.#session;
  }

  async subscribe(uri: string): Promise<void> {
    const message = { id: ++this.#lastId, method: "resources/subscribe", params: { uri } };
    await post(this.#url, message, this.#headers);
  }

  /** Opens the stream of the session, or resumes it: this client asks for everything after the first event. */
  async listen({ reads }: { readonly reads: boolean }): Promise<void> {
    const cursor = this.#cursor === undefined ? {} : { "last-event-id": this.#cursor };
    const get = request(this.#url, { headers: { accept, ...this.#headers, ...cursor }, agent: false });
    get.on("error", () => {}).end();
    this.#get = get;
    const [response] = (await once(get, "response")) as [IncomingMessage];
    response.on("error", () => {});
    if (!reads) return void response.socket.pause();
    response.setEncoding("utf8").on("data", (text: string) => {
      this.#cursor ??= /^id: (.+)$/m.exec(text)?.[1];
    });
  }

  /** Loses the connection of the stream. */
  hangUp(): void {
    this.#get?.destroy();
  }

  get #headers(): Record<string, string> {
    return { "mcp-session-id": this.#session, "mcp-protocol-version": revision };
  }
}

async function post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: { accept, "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  await response.text();
  return response;
}
