// The endpoint that a dashboard is attached to: its URL for browsers, its name for other nodes, and the answers about it.
import { platform } from "#dashboard-platform";
import type { ServedEndpoint } from "../transports/fetch/index.ts";
import type { JsonObject } from "../base/wire/message.ts";
import type { About, Ask } from "./answers.ts";
import { Answering } from "./nodes/answering.ts";
import type { DashboardSettings } from "./options.ts";
import { type ServerWindow, windowOf } from "../window/index.ts";
import { type NodeOptions, ServedNode } from "./views/served-node.ts";

export class AttachedEndpoint {
  readonly endpoint: ServedEndpoint;
  readonly window: ServerWindow;
  readonly #settings: DashboardSettings;
  readonly #answering: Answering;
  /** Where `serveHttp` listens. */
  #listensAt: URL | undefined;

  constructor(endpoint: ServedEndpoint, settings: DashboardSettings) {
    this.endpoint = endpoint;
    this.#settings = settings;
    this.window = windowOf(endpoint.server);
    // Begins to count calls, so that a page has the last minutes when it is opened.
    this.window.recent();
    this.#answering = new Answering(new ServedNode(this.window, () => this.#nodeOptions()));
  }

  opened(url: string): void {
    this.#listensAt = new URL(url);
  }

  /** The URL that the page calls; undefined if the endpoint is mounted, and its author did not name it. */
  get url(): string | undefined {
    return this.#settings.endpoint ?? (this.#listensAt && reachable(this.#listensAt));
  }

  /** Answers a question of the page. Its origin is unknown if a program asks. */
  async answer(ask: Ask, question: JsonObject, origin: string | undefined): Promise<unknown> {
    const answer = await this.#answering.answer(ask, question);
    if (ask !== "about" || origin === undefined) return answer;
    // A mounted dashboard most likely has the origin of its endpoint.
    return { ...answer, endpoint: (answer as About).endpoint ?? origin + this.endpoint.path };
  }

  close(): void {
    this.#answering.close();
  }

  #nodeOptions(): NodeOptions {
    const { tryIt, actions, history } = this.#settings;
    return { name: this.#name, endpoint: this.url, tryIt, actions, history };
  }

  /** The same after a restart, and another one on each node. */
  get #name(): string {
    const { node } = this.#settings;
    if (node !== undefined) return node;
    const at = this.#listensAt;
    if (at === undefined) return this.window.nodes.self || "this node";
    return everyAddress.has(at.hostname) ? `${platform.hostName()}:${at.port}` : at.host;
  }
}

const everyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/** Names for addresses that a browser cannot connect to, or that a Content-Security-Policy cannot name. */
const reachableNames: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["[::]", "localhost"],
  ["[::1]", "localhost"],
]);

function reachable(url: URL): string {
  const reached = new URL(url);
  reached.hostname = reachableNames.get(url.hostname) ?? url.hostname;
  return reached.href;
}
