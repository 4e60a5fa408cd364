// Sends HTTP requests with `node:http`: less than half of the cost of `fetch`, and no hidden limits of time.
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from "node:http";
import type { Socket } from "node:net";
import { urlToHttpOptions } from "node:url";
import { collect } from "../http/body.ts";
import { lossOf } from "../http/loss.ts";
import type { HttpReply, HttpRequest, Send } from "../http/send.ts";
import { InvalidResponse } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import { unreachableBy } from "./node-unreachable.ts";

/** How long a connection stays open without a request: less than the 5 seconds after which many servers close it. */
const idleMs = 4000;
/** How long the rest of an unwanted body may take before its connection is closed. */
const restMs = 1000;

/** A way to send to one kind of server: with or without TLS. */
interface Way {
  readonly request: (options: RequestOptions) => ClientRequest;
  readonly agent: Agent;
}

/** Sends over connections of its own, which it keeps open between requests. An idle connection does not keep the process running. */
export function nodeSend(): Send {
  const agents = new Set<Agent>();
  /** Whether no connection is kept, until the next request. */
  let isClosing = false;
  /** When a connection was last kept, by the clock on the wall: it goes on while the machine sleeps, and timers do not. */
  let keptAt = 0;
  const wayOf = (request: Way["request"], agent: Agent): Way => {
    keepIdleBriefly(agent, () => {
      keptAt = Date.now();
      return !isClosing;
    });
    agents.add(agent);
    return { request, agent };
  };
  const closeFree = (): void => {
    for (const { freeSockets } of agents) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
    }
  };
  const plain = wayOf(httpRequest, new Agent({ keepAlive: true }));
  let secure: Way | undefined;
  // Loading TLS takes longer than connecting without it.
  const loadSecure = async (): Promise<Way> => {
    const { request, Agent: SecureAgent } = await import("node:https");
    return (secure ??= wayOf(request, new SecureAgent({ keepAlive: true })));
  };
  let target: { readonly url: string; readonly options: RequestOptions } = { url: "", options: {} };
  const send = async (request: HttpRequest): Promise<HttpReply> => {
    const { url } = request;
    if (Date.now() - keptAt > idleMs) closeFree();
    isClosing = false;
    if (target.url !== url) target = { url, options: urlToHttpOptions(new URL(url)) };
    const way = url.startsWith("https:") ? (secure ?? (await loadSecure())) : plain;
    return sendBy(way, target.options, request);
  };
  const closeIdle = (): void => {
    isClosing = true;
    closeFree();
  };
  return Object.assign(send, { closeIdle });
}

/** Closes a connection that has been idle for `idleMs`, or for what the server says in `Keep-Alive` if that is less. */
function keepIdleBriefly(agent: Agent, mayKeep: () => boolean): void {
  const { keepSocketAlive, reuseSocket } = agent;
  function close(this: Socket): void {
    this.destroy();
  }
  agent.keepSocketAlive = (duplex) => {
    const isKept = mayKeep() && (keepSocketAlive.call(agent, duplex) as unknown as boolean);
    const socket = duplex as Socket;
    if (isKept) socket.setTimeout(Math.min(socket.timeout || idleMs, idleMs), close);
    return isKept;
  };
  agent.reuseSocket = (duplex, request) => {
    (duplex as Socket).setTimeout(0, close);
    reuseSocket.call(agent, duplex, request);
  };
}

function sendBy({ request, agent }: Way, target: RequestOptions, asked: HttpRequest): Promise<HttpReply> {
  const { method, headers, body, signal } = asked;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const sending = request({ ...target, method, headers, agent });
    const abort = (): void => void sending.destroy();
    signal?.addEventListener("abort", abort);
    sending.on("close", () => signal?.removeEventListener("abort", abort));
    sending.on("error", (error) =>
      reject(
        signal?.aborted ? (signal.reason as Error) : (unreachableBy(error, asked) ?? lossOf(error, asked)),
      ),
    );
    sending.on("response", (message) => resolve(new NodeReply(asked, message)));
    sending.end(body);
  });
}

class NodeReply implements HttpReply {
  readonly status: number;
  readonly #asked: HttpRequest;
  readonly #message: IncomingMessage;

  constructor(asked: HttpRequest, message: IncomingMessage) {
    this.#asked = asked;
    this.#message = message;
    this.status = message.statusCode ?? 0;
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  async text(maxBytes: number): Promise<string> {
    const { buffer, byteOffset, length } = await collect(this, this.#asked.url, maxBytes);
    return Buffer.from(buffer, byteOffset, length).toString();
  }

  read(take: (piece: Uint8Array) => void): Promise<void> {
    const message = this.#message;
    const coding = this.header("content-encoding") ?? "identity";
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        reject(error as Error);
        message.destroy();
      };
      if (coding !== "identity") {
        return fail(
          new InvalidResponse(
            `${shownUrl(this.#asked.url)} sent the body as ${coding}, which the client did not accept`,
          ),
        );
      }
      message.on("data", (piece: Buffer) => {
        try {
          take(piece);
        } catch (error) {
          fail(error);
        }
      });
      message.on("end", resolve);
      message.on("error", (error) => fail(lossOf(error, this.#asked, true)));
      message.on("close", () => {
        if (!message.readableEnded) fail(lossOf(new Error("it was closed"), this.#asked, true));
      });
    });
  }

  cancel(): void {
    const message = this.#message;
    // Reading the rest keeps the connection for the next request.
    const timer = setTimeout(() => message.destroy(), restMs).unref();
    message.on("close", () => clearTimeout(timer));
    message.on("error", () => {});
    message.resume();
  }
}
