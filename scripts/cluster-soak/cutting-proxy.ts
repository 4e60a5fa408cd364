// An HTTP proxy before one process that breaks connections off: both halves at once, or one of them some time before the other.
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as send,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** The longest time, in milliseconds, that one half of a cut connection outlives the other. */
const longestHalfMs = 2000;

/** A request under way, from its client to the server and back. */
interface Passage {
  readonly method: string | undefined;
  /** Breaks the half of the client. */
  leaveClient(): void;
  /** Breaks the half of the server. */
  leaveServer(): void;
}

export class CuttingProxy {
  readonly #server: Server;
  readonly #underWay = new Set<Passage>();

  private constructor(target: string) {
    this.#server = createServer({ requestTimeout: 0 }, (request, response) =>
      this.#pass(new URL(target), request, response),
    );
  }

  static async open(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts the connection of one request with that method. Returns false if none is under way. */
  cut(method: "GET" | "POST"): boolean {
    const candidates = [...this.#underWay].filter((passage) => passage.method === method);
    const passage = candidates[Math.floor(Math.random() * candidates.length)];
    if (passage === undefined) return false;
    this.#underWay.delete(passage);
    const laterMs = Math.random() * longestHalfMs;
    const kind = Math.floor(Math.random() * 3);
    // The server still believes that the client is there, or the client that the server is, or neither.
    setTimeout(() => passage.leaveServer(), kind === 0 ? laterMs : 0);
    setTimeout(() => passage.leaveClient(), kind === 1 ? laterMs : 0);
    return true;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #pass(target: URL, request: IncomingMessage, response: ServerResponse): void {
    const { method } = request;
    const headers = { ...request.headers, connection: "close" };
    const upstream = send(target, { method, headers, agent: false });
    const passage: Passage = {
      method,
      leaveClient: () => void request.socket.destroy(),
      leaveServer: () => void upstream.destroy(),
    };
    this.#underWay.add(passage);
    /** Without a cut, the half that ends first takes the other with it. */
    const endsWith = (leave: () => void): void => {
      if (this.#underWay.delete(passage)) leave();
    };
    request.pipe(upstream);
    upstream.on("error", () => endsWith(passage.leaveClient));
    response.on("close", () => endsWith(passage.leaveServer));
    upstream.on("response", (reply) => {
      response.writeHead(reply.statusCode ?? 502, { ...reply.headers, connection: "keep-alive" });
      response.flushHeaders();
      // Read to its end, so that a server whose client has gone does not notice that before the cut of its own half.
      reply.on("data", (chunk: Buffer) => {
        if (!response.write(chunk) && !response.destroyed) pauseUntilDrained(reply, response);
      });
      reply.on("end", () => {
        if (this.#underWay.has(passage)) response.end();
      });
      reply.on("error", () => endsWith(passage.leaveClient));
    });
  }
}

function pauseUntilDrained(reply: IncomingMessage, response: ServerResponse): void {
  reply.pause();
  response.once("drain", () => reply.resume());
  response.once("close", () => reply.resume());
}
