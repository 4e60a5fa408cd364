// A load balancer without memory: each request goes to the next node, whichever connection it comes on.
import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as send,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

/** Where requests can go. */
export interface BalancedNode {
  readonly name: string;
  /** Any URL of the node; requests keep their own path. */
  readonly url: string;
}

/** What happens to a request, in this order; `skipped` any number of times, and one of the last three. */
export type RouteEvent = "skipped" | "sent" | "responded" | "finished" | "broken" | "client left";

export interface RoundRobinOptions {
  /** @default {0: any free port} */
  readonly port?: number;
  /** Whether a request can name its node in the header `x-node`; only tests want that. @default {false} */
  readonly isSteerable?: boolean;
  /** Called for each event. While it handles `sent`, it can still listen to the body of the request. */
  readonly observe?: (event: RouteEvent, node: BalancedNode, request: IncomingMessage) => void;
}

/** Headers of one connection, which are not passed on, and the one that is meant for the balancer. */
const ownHeaders = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "x-node"]);

/** As other balancers: what arrived for certain may have had an effect, and only these may be repeated then. */
const repeatable = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);

export class RoundRobin {
  /** Who gets requests. You can replace the list at any time; requests under way stay where they are. */
  nodes: readonly BalancedNode[];
  /** How many requests each node got, by its name. */
  readonly counts: Map<string, number> = new Map();
  readonly #options: RoundRobinOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server;
  readonly #underWay = new Set<ServerResponse>();
  #turn = 0;

  private constructor(nodes: readonly BalancedNode[], options: RoundRobinOptions) {
    this.nodes = nodes;
    this.#options = options;
    const patient = { requestTimeout: 0, keepAliveTimeout: 65_000 };
    this.#server = createServer(patient, (request, response) => {
      response.sendDate = false;
      this.#underWay.add(response);
      response.once("close", () => this.#underWay.delete(response));
      this.#route(request, response, this.#candidates(request));
    });
  }

  static async open(nodes: readonly BalancedNode[], options: RoundRobinOptions = {}): Promise<RoundRobin> {
    const balancer = new RoundRobin(nodes, options);
    balancer.#server.listen(options.port ?? 0, "127.0.0.1");
    await once(balancer.#server, "listening");
    return balancer;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Closes once every response has ended: close or kill the nodes first, and what they still said reaches the clients. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    await Promise.all([...this.#underWay].map((response) => once(response, "close")));
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await closed;
  }

  /** The nodes to try, in order. */
  #candidates(request: IncomingMessage): BalancedNode[] {
    const wanted = this.#options.isSteerable ? request.headers["x-node"] : undefined;
    if (wanted !== undefined) return this.nodes.filter(({ name }) => name === wanted);
    const first = this.#turn++ % Math.max(1, this.nodes.length);
    return [...this.nodes.slice(first), ...this.nodes.slice(0, first)];
  }

  #route(request: IncomingMessage, response: ServerResponse, candidates: readonly BalancedNode[]): void {
    const [node, ...others] = candidates;
    if (node === undefined) return refuse(request, response);
    const observe = (event: RouteEvent): void => this.#options.observe?.(event, node, request);
    const { method = "GET", url = "/" } = request;
    const upstream = send(new URL(node.url).origin, {
      agent: this.#agent,
      method,
      path: url,
      headers: passedOn(request.rawHeaders),
    });
    let isSent = false;
    const leave = (): void => void upstream.destroy();
    response.once("close", leave);
    upstream.once("socket", (socket) => {
      const sendBody = (): void => {
        isSent = true;
        this.counts.set(node.name, (this.counts.get(node.name) ?? 0) + 1);
        request.pipe(upstream);
        observe("sent");
      };
      if (socket.connecting) socket.once("connect", sendBody);
      else sendBody();
    });
    upstream.once("error", () => {
      response.off("close", leave);
      if (response.closed) return observe("client left");
      if (isSent && !repeatable.has(method)) {
        observe("broken");
        return refuse(request, response);
      }
      observe("skipped");
      request.unpipe(upstream);
      this.#route(request, response, others);
    });
    upstream.once("response", (reply) => {
      // From here on a failure is one of the reply.
      upstream.removeAllListeners("error").on("error", () => {});
      response.off("close", leave);
      passReply(reply, response, observe);
    });
  }
}

/** Passes chunks on as they come. If one side breaks, the other does too. */
function passReply(
  reply: IncomingMessage,
  response: ServerResponse,
  observe: (event: RouteEvent) => void,
): void {
  response.writeHead(reply.statusCode ?? 502, reply.statusMessage, passedOn(reply.rawHeaders));
  response.flushHeaders();
  observe("responded");
  // The one that breaks first takes the other with it.
  let cut: RouteEvent | undefined;
  reply.once("error", () => (cut ??= "broken"));
  response.once("close", () => (cut ??= "client left"));
  pipeline(reply, response, (error) => {
    if (!error) return observe("finished");
    setImmediate(() => observe(cut ?? "broken"));
  });
}

/** Tells a client that no node can be reached. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(502, { "content-type": "text/plain" }).end("No node can be reached\n");
}

/** The headers without those of the connection, in the form of `rawHeaders`. */
function passedOn(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !ownHeaders.has(String(rawHeaders[index & ~1]).toLowerCase()));
}
