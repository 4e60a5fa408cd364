// An HTTP server, wherever it runs: its inputs go over sockets, and its sessions are ended when it has to rest.
import { type EventReply, send } from "../support/event-reply.ts";
import { sendModern, SessionClient } from "../support/sessions.ts";
import type { Input, Live } from "./input.ts";
import { hangMs, sendOverSocket } from "./socket.ts";
import type { Running } from "./target.ts";

/** The part of a target that all HTTP servers share. */
export class HttpPeer {
  readonly url: string;
  readonly #sessions = new Set<string>();
  #client: SessionClient | undefined;
  #event = "none";
  #sse: EventReply | undefined;
  #stream = "none";

  constructor(url: string) {
    this.url = url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** What inputs can refer to. Some of them end the session, so that a new one is begun. */
  async refresh(): Promise<void> {
    if (this.#client === undefined || (await this.#isGone(this.#client))) await this.#begin();
    if (this.#sse === undefined || this.#sse.end !== undefined) await this.#openSse();
  }

  async send(input: Input): Promise<string | undefined> {
    const { text, problem } = await sendOverSocket(this.port, input, this.#live());
    for (const [, id = ""] of text.matchAll(/\nmcp-session-id: (\S+)/gi)) this.#sessions.add(id);
    return problem;
  }

  async check(): Promise<string | undefined> {
    const started = performance.now();
    const reply = await sendModern(this.url, "tools/list").catch((error: unknown) => String(error));
    if (typeof reply === "string") return `a good call fails: ${reply}`;
    const text = await reply.text();
    if (reply.status !== 200 || !text.includes('"tools"')) return `a good call gets ${reply.status} ${text}`;
    const took = performance.now() - started;
    return took > hangMs ? `a good call takes ${Math.round(took)} ms` : undefined;
  }

  /** Ends everything that inputs have begun. */
  async endAll(): Promise<void> {
    this.#sse?.cut();
    await this.#sse?.closed;
    this.#sse = undefined;
    this.#client = undefined;
    for (const id of this.#sessions) await new SessionClient(this.url, id).delete();
    this.#sessions.clear();
  }

  #live(): Live {
    return { session: this.#client?.id ?? "none", event: this.#event, stream: this.#stream };
  }

  async #isGone(client: SessionClient): Promise<boolean> {
    const reply = await client.start("ping");
    await reply.closed;
    return reply.status !== 200;
  }

  async #begin(): Promise<void> {
    const capabilities = { elicitation: {}, sampling: {} };
    this.#client = await SessionClient.open(this, { capabilities });
    this.#sessions.add(this.#client.id);
    const stream = await this.#client.get();
    while (stream.lastEventId === undefined) await new Promise((resolve) => setImmediate(resolve));
    this.#event = stream.lastEventId;
    stream.cut();
  }

  /** A client of HTTP+SSE, where the server has it. */
  async #openSse(): Promise<void> {
    const reply = await send(new URL("/sse", this.url).href, { method: "GET" });
    if (reply.status !== 200) return;
    this.#sse = reply;
    while (reply.events.length === 0) await new Promise((resolve) => setImmediate(resolve));
    this.#stream = /sessionId=(\S+)/.exec(reply.textSoFar)?.[1] ?? "none";
  }
}

/** What every HTTP target does the same. */
export function overHttp(peer: HttpPeer): Pick<Running, "send" | "check"> {
  return {
    send: (input) => peer.send(input),
    async check() {
      const problem = await peer.check();
      if (problem === undefined) await peer.refresh();
      return problem;
    },
  };
}
