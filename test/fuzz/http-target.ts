// An HTTP server, wherever it runs: its inputs go over sockets, and its sessions are ended when it has to rest.
import type { JsonObject } from "halyard";
import { type EventReply, send } from "../support/event-reply.ts";
import { mirrored } from "../support/http.ts";
import { metaKeys, modernMeta } from "../support/raw.ts";
import { sendModern, SessionClient } from "../support/sessions.ts";
import type { Input, Live } from "./input.ts";
import { hangMs, sendOverSocket } from "./socket.ts";
import type { Running } from "./target.ts";

const askingMeta = {
  [metaKeys.clientCapabilities]: {
    elicitation: {},
    sampling: {},
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
};

function defined(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The part of a target that all HTTP servers share. */
export class HttpPeer {
  readonly url: string;
  readonly #sessions = new Set<string>();
  #client: SessionClient | undefined;
  #event = "none";
  #sse: EventReply | undefined;
  #stream = "none";
  #task = "none";
  #coreTask = "none";
  #state = "none";

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
    await this.#ask();
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
    return {
      session: this.#client?.id ?? "none",
      event: this.#event,
      stream: this.#stream,
      task: this.#task,
      coreTask: this.#coreTask,
      state: this.#state,
    };
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

  /** A call that asks, and tasks of both forms: what they are answered with is there to be answered, or to be misused. */
  async #ask(): Promise<void> {
    const call = async (name: string, args: JsonObject): Promise<JsonObject> => {
      const params = { name, arguments: args, _meta: modernMeta(askingMeta) };
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      const headers = { "content-type": "application/json", ...defined(mirrored(message)) };
      const reply = await send(this.url, { headers, body: JSON.stringify(message) });
      return ((await reply.json())["result"] ?? {}) as JsonObject;
    };
    const asked = await call("test_input_required_result_elicitation", {});
    this.#state = String(asked["requestState"] ?? "none");
    this.#task = String((await call("slow_compute", { seconds: 0.5 }))["taskId"] ?? "none");
    const task = await this.#client?.request("tools/call", {
      name: "slow_compute",
      arguments: { seconds: 0.5 },
      task: {},
    });
    const created = ((task?.["result"] as JsonObject | undefined)?.["task"] ?? {}) as JsonObject;
    this.#coreTask = String(created["taskId"] ?? "none");
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
