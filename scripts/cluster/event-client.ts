// A small legacy client that resumes its streams itself, so that what it prints hides nothing.
import { setTimeout as sleep } from "node:timers/promises";

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly data?: unknown; readonly logger?: string };
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** Receives the events of a stream. */
export interface Reader {
  message(message: Message): void;
  /** The connection broke off; the stream is being resumed. */
  broken(): void;
  /** The stream continues on a new connection, after the event with this id. */
  resumed(cursor: string, ms: number): void;
  /** The stream cannot be resumed. */
  lost(error: unknown): void;
}

/** Receives the events of a call's stream. If the stream is lost, the promise of the call rejects instead. */
export type CallReader = Pick<Reader, "broken" | "resumed">;

const silent: CallReader = { broken() {}, resumed() {} };

/** Answers a question of the server with a result. */
export type Answer = (question: Message) => object;

/** The connection broke before the client had an event id from which to resume, or no node took the request. */
export class Disconnected extends Error {
  /** Whether a node asks the client to send the request again. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

const accept = "application/json, text/event-stream";

export class EventClient {
  readonly session: string;
  readonly #url: string;
  readonly #answer: Answer | undefined;
  #isOpen = true;
  #ids = 1;

  private constructor(url: string, session: string, answer: Answer | undefined) {
    this.#url = url;
    this.session = session;
    this.#answer = answer;
  }

  /** Begins a session, of a client that can be asked if it can answer. */
  static async open(url: string, answer?: Answer): Promise<EventClient> {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: answer ? { elicitation: {} } : {},
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
    const client = new EventClient(url, session, answer);
    await (await client.#post({ method: "notifications/initialized" })).text();
    return client;
  }

  /**
   * Opens the GET stream on that node, or on any. Resolves once it is open; it is then read, and resumed anywhere, until
   * {@link close}.
   */
  async listen(node: string | undefined, reader: Reader): Promise<void> {
    const first = await this.#get(steering(node));
    this.#follow(first, reader, () => !this.#isOpen).catch(reader.lost);
  }

  /** Opens a GET stream without an id, on any node, and leaves it to the caller to read it. */
  openGet(): Promise<Response> {
    return this.#get({});
  }

  /** Calls a tool on that node, or on any. Resolves with the response, which may come on a resumed stream. */
  async call(node: string | undefined, name: string, args: object, reader?: CallReader): Promise<Message> {
    const id = ++this.#ids;
    const params = { name, arguments: args, _meta: { progressToken: id } };
    const response = await this.#post({ id, method: "tools/call", params }, steering(node)).catch(
      disconnected,
    );
    if (response.status >= 500) {
      throw new Disconnected(await response.text().catch(String), response.status === 503);
    }
    if (response.headers.get("content-type") !== "text/event-stream") {
      return (await response.json().catch(disconnected)) as Message;
    }
    const answers: Message[] = [];
    const message = (heard: Message): void => {
      if (heard.id === id && heard.method === undefined) answers.push(heard);
    };
    await this.#follow(response, { ...(reader ?? silent), message }, () => answers.length > 0);
    const [answer, another] = answers;
    if (answer === undefined) throw new Error("The stream of the call ended without a response");
    if (another !== undefined) throw new Error("The call got two responses");
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
        const message = data ? (JSON.parse(data) as Message) : undefined;
        if (message !== undefined) reader.message(message);
        if (message?.id !== undefined && message.method !== undefined) void this.#respond(message);
      });
      if (isDone()) return;
      if (cursor === "") throw new Disconnected("The stream broke before its first event id");
      const since = performance.now();
      reader.broken();
      response = await this.#get({ "last-event-id": cursor });
      reader.resumed(cursor, Math.round(performance.now() - since));
    }
  }

  /** Like any client, it tries again if the connection breaks, the balancer finds no node, or a node responds with 503. */
  async #get(headers: Record<string, string>): Promise<Response> {
    for (;;) {
      const response = await fetch(this.#url, { headers: { ...this.#headers(), ...headers } }).catch(
        () => {},
      );
      if (response?.status === 200) return response;
      const text = await response?.text().catch(() => "");
      if (response !== undefined && response.status < 500)
        throw new Error(`The GET stream got ${response.status}: ${text}`);
      await sleep(100);
    }
  }

  /** Answers a question, again and again until a node has taken the answer. */
  async #respond(question: Message): Promise<void> {
    const result = this.#answer?.(question);
    if (result === undefined) return;
    const { id } = question;
    while (this.#isOpen) {
      const status = await this.#post({ id, result }).then(statusOf, () => 0);
      if (status > 0 && status < 500) return;
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
    return { accept, "mcp-session-id": this.session, "mcp-protocol-version": "2025-11-25" };
  }
}

/** A balancer that can be steered sends a request with this header to that node. */
function steering(node: string | undefined): Record<string, string> {
  return node === undefined ? {} : { "x-node": node };
}

function disconnected(error: unknown): never {
  throw new Disconnected(String(error));
}

/** Reads the response to its end, so that its connection can be used again. */
async function statusOf(response: Response): Promise<number> {
  await response.text();
  return response.status;
}

interface SseEvent {
  readonly id?: string | undefined;
  readonly data?: string | undefined;
}

/** Reads events until the response ends or breaks. */
export async function readEvents(response: Response, onEvent: (event: SseEvent) => void): Promise<void> {
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
