// Sends HTTP requests with `node:http`, which costs less than half of `fetch` and has no hidden timeouts.
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from "node:http";
import type { Socket } from "node:net";
import { urlToHttpOptions } from "node:url";
import { ageOf, type Moment, thisMoment } from "../../base/async/timers.ts";
import { collect, type HttpReply, lossOf, type Send, type SentRequest } from "../http/send.ts";
import { InvalidResponse } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import { isUnsentBy, unreachable } from "./node-unreachable.ts";

/** How long a connection stays open without a request: less than the 5 seconds after which many servers close it. */
const idleMs = 4000;
/** How long the rest of an unwanted body may take before the connection is closed. */
const restMs = 1000;

/** How to send to one kind of server: with or without TLS. */
interface Way {
  readonly request: (options: RequestOptions) => ClientRequest;
  readonly agent: Agent;
  readonly connections: Connections;
  readonly reusing: Reusing;
}

/** The connections of an agent, and whether each is ready: with TLS, after its handshake. */
type Connections = WeakMap<object, boolean>;

/** The requests on a connection that has carried others before. */
type Reusing = WeakSet<ClientRequest>;

/** Sends over its own connections, which stay open between requests. An idle connection does not keep the process running. */
export function nodeSend(): Send {
  const agents = new Set<Agent>();
  /** Whether connections are closed after use, until the next request. */
  let isClosing = false;
  /** When a connection was last kept. Needed because timers may stop while the machine sleeps. */
  let keptAt: Moment | undefined;
  const wayOf = (request: Way["request"], agent: Agent, ready: "connect" | "secureConnect"): Way => {
    const reusing = keepIdleBriefly(agent, () => {
      keptAt = thisMoment();
      return !isClosing;
    });
    agents.add(agent);
    return { request, agent, connections: watchConnections(agent, ready), reusing };
  };
  const closeFree = (): void => {
    for (const { freeSockets } of agents) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
    }
  };
  const plain = wayOf(httpRequest, new Agent({ keepAlive: true }), "connect");
  let secure: Way | undefined;
  // TLS is loaded on demand, because loading it takes longer than connecting without it.
  const loadSecure = async (): Promise<Way> => {
    const { request, Agent: SecureAgent } = await import("node:https");
    return (secure ??= wayOf(request, new SecureAgent({ keepAlive: true }), "secureConnect"));
  };
  let target: { readonly url: string; readonly options: RequestOptions } = { url: "", options: {} };
  const send = async (request: SentRequest): Promise<HttpReply> => {
    const { url } = request;
    if (keptAt && ageOf(keptAt) > idleMs) closeFree();
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

function watchConnections(agent: Agent, ready: "connect" | "secureConnect"): Connections {
  const connections: Connections = new WeakMap();
  const { createConnection } = agent;
  agent.createConnection = (...options) => {
    const socket = createConnection.apply(agent, options);
    if (socket) {
      connections.set(socket, false);
      socket.once(ready, () => connections.set(socket, true));
    }
    return socket;
  };
  return connections;
}

/**
 * Closes a connection that has been idle for `idleMs`, or for the `Keep-Alive` time of the server if that is less. Closes it at
 * once if data arrives on it, which the next request would take for its reply. Returns the requests that reuse a connection.
 */
function keepIdleBriefly(agent: Agent, mayKeep: () => boolean): Reusing {
  const reusing: Reusing = new WeakSet();
  const { keepSocketAlive, reuseSocket } = agent;
  function close(this: Socket): void {
    this.destroy();
  }
  agent.keepSocketAlive = (duplex) => {
    const isKept = mayKeep() && (keepSocketAlive.call(agent, duplex) as unknown as boolean);
    const socket = duplex as Socket;
    if (isKept) socket.on("data", close).setTimeout(Math.min(socket.timeout || idleMs, idleMs), close);
    return isKept;
  };
  agent.reuseSocket = (duplex, request) => {
    (duplex as Socket).off("data", close).setTimeout(0, close);
    reuseSocket.call(agent, duplex, request);
    reusing.add(request);
    // With this mark, Deno repeats a request whose connection closes, even if the client closed it.
    request.reusedSocket = false;
  };
  return reusing;
}

function sendBy(
  { request, agent, connections, reusing }: Way,
  target: RequestOptions,
  asked: SentRequest,
): Promise<HttpReply> {
  const { method, headers, body, signal } = asked;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const sending = request({ ...target, method, headers, agent });
    const abort = (): void => void sending.destroy();
    let isWaiting = true;
    signal?.addEventListener("abort", abort);
    sending.on("close", () => {
      signal?.removeEventListener("abort", abort);
      // A reply that switches to another protocol closes the connection without an error.
      if (isWaiting) reject(lossOf(wasClosed(), asked));
    });
    sending.on("error", (error) => {
      isWaiting = false;
      if (signal?.aborted) return reject(signal.reason as Error);
      // Other runtimes create connections differently, so only the error can tell.
      const wasOpen = connections.get(sending.socket ?? sending) ?? !isUnsentBy(error);
      reject(wasOpen ? lossOf(error, asked) : unreachable(error, asked));
    });
    sending.on("response", (message) => {
      isWaiting = false;
      resolve(new NodeReply(asked, message, reusing.has(sending)));
    });
    sending.end(body);
  });
}

function wasClosed(): Error {
  return new Error("it was closed");
}

class NodeReply implements HttpReply {
  readonly status: number;
  readonly mayBeStray: boolean;
  readonly #asked: SentRequest;
  readonly #message: IncomingMessage;
  readonly #socket: Socket;

  constructor(asked: SentRequest, message: IncomingMessage, mayBeStray: boolean) {
    this.mayBeStray = mayBeStray;
    // The message drops its socket when it ends.
    this.#socket = message.socket;
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
      // The connection may have broken after the headers arrived.
      if (message.destroyed) return fail(lossOf(message.errored ?? wasClosed(), this.#asked, true));
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
        if (!message.readableEnded) fail(lossOf(wasClosed(), this.#asked, true));
      });
    });
  }

  cancel(): void {
    const message = this.#message;
    // Reading the rest of the body keeps the connection for the next request.
    const timer = setTimeout(() => message.destroy(), restMs).unref();
    message.on("close", () => clearTimeout(timer));
    message.on("error", () => {});
    message.resume();
  }

  distrust(): void {
    this.#socket.destroy();
  }
}
