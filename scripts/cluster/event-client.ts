// A small legacy client that resumes its streams itself, so that what it prints hides nothing.
import { setTimeout as sleep } from "node:timers/promises";

export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly data?: unknown };
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** What a stream tells its reader. */
export interface Reader {
  message(message: Message): void;
  /** The connection broke off; the stream is being resumed. */
  broken(): void;
  /** The stream goes on, on a new connection, after the event with this id. */
  resumed(cursor: string, ms: number): void;
  /** The stream cannot be resumed. */
  lost(error: unknown): void;
}

/** What the stream of a call tells; that it is lost, the promise of the call says. */
export type CallReader = Pick<Reader, "broken" | "resumed">;

const silent: CallReader = { broken() {}, resumed() {} };

const accept = "application/json, text/event-stream";

export class EventClient {
  readonly #url: string;
  readonly #session: string;
  #isOpen = true;
  #ids = 1;

  private constructor(url: string, session: string) {
    this.#url = url;
    this.#session = session;
  }

  /** Begins a session. */
  static async open(url: string): Promise<EventClient> {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "kill", version: "1.0.0" },
    };
    const response = await fetch(url, {
      method: "POST",
      headers: { accept, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    });
    await response.text();
    const session = response.headers.get("mcp-session-id");
    if (session === null) throw new Error(`initialize brought no session, but status ${response.status}`);
    const client = new EventClient(url, session);
    await (await client.#post({ method: "notifications/initialized" })).text();
    return client;
  }

  /** Opens the GET stream on that node. Resolves once it is open; it is then read, and resumed anywhere, until {@link close}. */
  async listen(node: string, reader: Reader): Promise<void> {
    const first = await this.#get({ "x-node": node });
    this.#follow(first, reader, () => !this.#isOpen).catch(reader.lost);
  }

  /** Calls a tool on that node. Resolves with the response, which may come on a resumed stream. */
  async call(node: string, name: string, args: object, reader?: CallReader): Promise<Message> {
    const id = ++this.#ids;
    const params = { name, arguments: args, _meta: { progressToken: id } };
    const response = await this.#post({ id, method: "tools/call", params }, { "x-node": node });
    if (response.headers.get("content-type") !== "text/event-stream") {
      return (await response.json()) as Message;
    }
    let answer: Message | undefined;
    const message = (heard: Message): void => {
      if (heard.id === id) answer = heard;
    };
    await this.#follow(response, { ...(reader ?? silent), message }, () => answer !== undefined);
    if (answer === undefined) throw new Error("The stream of the call ended without a response");
    return answer;
  }

  close(): void {
    this.#isOpen = false;
  }

  async #follow(first: Response, reader: Omit<Reader, "lost">, isDone: () => boolean): Promise<void> {
    let response = first;
    let cursor = "";
    for (;;) {
      await readEvents(response, ({ id, data }) => {
        cursor = id ?? cursor;
        if (data) reader.message(JSON.parse(data) as Message);
      });
      if (isDone()) return;
      const since = performance.now();
      reader.broken();
      response = await this.#get({ "last-event-id": cursor });
      reader.resumed(cursor, Math.round(performance.now() - since));
    }
  }

  /** Like any client, it tries again where the balancer found nobody or a node asks for patience. */
  async #get(headers: Record<string, string>): Promise<Response> {
    for (;;) {
      const response = await fetch(this.#url, { headers: { ...this.#headers(), ...headers } });
      if (response.status === 200) return response;
      const text = await response.text();
      if (response.status !== 502 && response.status !== 503) {
        throw new Error(`The GET stream got ${response.status}: ${text}`);
      }
      await sleep(100);
    }
  }

  #post(message: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.#url, {
      method: "POST",
      headers: { ...this.#headers(), "content-type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  }

  #headers(): Record<string, string> {
    return { accept, "mcp-session-id": this.#session, "mcp-protocol-version": "2025-11-25" };
  }
}

interface SseEvent {
  readonly id?: string | undefined;
  readonly data?: string | undefined;
}

/** Reads events until the response ends or breaks. */
async function readEvents(response: Response, onEvent: (event: SseEvent) => void): Promise<void> {
  let rest = "";
  try {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) onEvent({ id: field(event, "id"), data: field(event, "data") });
    }
  } catch {
    // It broke off, which the caller treats as an end.
  }
}

function field(event: string, name: string): string | undefined {
  return event
    .split("\n")
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);
}
