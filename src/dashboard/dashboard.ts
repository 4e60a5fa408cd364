// A dashboard, and what it owns while it belongs to an endpoint: its token, its port, and what answers its page.
import { platform } from "#dashboard-platform";
import { outliveStderr } from "../diagnostics/logger.ts";
import { ConfigurationError } from "../errors.ts";
import { FetchRequest, FetchResponder } from "../fetch/edge.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { EndpointDashboard, HttpOptions } from "../http/options.ts";
import { randomId } from "../protocol/random-id.ts";
import type { JsonObject } from "../wire/message.ts";
import type { About, Ask } from "./answers.ts";
import { type Backing, Site } from "./http/site.ts";
import { Token } from "./http/token.ts";
import { Answering } from "./nodes/answering.ts";
import { type DashboardSettings, failOption } from "./options.ts";
import type { NodeSiteHandler } from "./platform/node-handler.ts";
import type { OwnPort } from "./platform/platform.ts";
import { type NodeOptions, ServedNode } from "./views/served-node.ts";

/** A handler for web-standard requests. */
type FetchSiteHandler = (request: Request) => Promise<Response>;

/** Bytes of a random token. */
const tokenBytes = 24;

export class OneDashboard implements EndpointDashboard {
  readonly #settings: DashboardSettings;
  readonly #site: Site;
  /** The one of the options, or a random one for as long as `serveHttp` serves it. */
  #token: Token | undefined;
  /** From the beginning of `serve` or `attach`. */
  #isTaken = false;
  #port: OwnPort | undefined;
  #endpoint: Endpoint | undefined;
  #answering: Answering | undefined;
  /** The URL of the endpoint, as a browser on this machine reaches it. */
  #endpointUrl: string | undefined;
  #nodeHandler: NodeSiteHandler | undefined;
  #fetchHandler: FetchSiteHandler | undefined;

  constructor(settings: DashboardSettings) {
    this.#settings = settings;
    this.#endpointUrl = settings.endpoint;
    this.#token = settings.token === undefined ? undefined : new Token(settings.token);
    this.#site = new Site(settings, () => this.#backing());
  }

  get url(): string | undefined {
    return this.#port && `${originOf(this.#port)}/${this.#token?.fragment ?? ""}`;
  }

  get nodeHandler(): NodeSiteHandler {
    this.#requireToken("nodeHandler");
    return (this.#nodeHandler ??= platform.nodeHandler(this.#site, () => this.#trustedProxies));
  }

  get fetchHandler(): FetchSiteHandler {
    this.#requireToken("fetchHandler");
    return (this.#fetchHandler ??= (message) => {
      const request = new FetchRequest(message, this.#trustedProxies);
      const responder = new FetchResponder(message.signal, request, this.#site.unsent);
      void this.#site.handle(request, responder, "mount");
      return responder.response;
    });
  }

  async serve(options: HttpOptions & { readonly port?: number }): Promise<HttpOptions> {
    this.#take();
    try {
      const { port } = this.#settings;
      if (port !== 0 && port === options.port)
        failOption(
          "port",
          `is ${port}, which is the port of the endpoint: pass another one, or 0 for any free port`,
        );
      this.#token ??= new Token(randomId(tokenBytes));
      this.#port = await platform.listen(port, this.#site);
    } catch (error) {
      this.#release();
      throw error;
    }
    const opened = this.#port;
    // An endpoint attaches at once, unless its options are wrong.
    setTimeout(() => {
      if (this.#port === opened && this.#endpoint === undefined) this.#release();
    }, 0);
    return this.#settings.tryIt ? withOrigins(options, opened) : options;
  }

  attach(endpoint: object): void {
    if (this.#port === undefined || this.#endpoint !== undefined) {
      this.#requireToken("token");
      this.#take();
    }
    this.#endpoint = endpoint as Endpoint;
    this.#answering = new Answering(
      new ServedNode(this.#endpoint, () => this.#nodeOptions(endpoint as Endpoint)),
    );
  }

  opened(url: string): void {
    this.#endpointUrl ??= reachable(url);
    const { url: page } = this;
    if (page === undefined) return;
    try {
      if (this.#settings.onOpen) this.#settings.onOpen(page);
      else this.#print(page);
    } catch (error) {
      this.#endpoint?.state.rateLimitedLog.error("onOpen() of the dashboard failed", { error });
    }
  }

  async detach(endpoint: object): Promise<void> {
    if (endpoint === this.#endpoint) this.#release();
  }

  /** Prints the address of the page. A token that its author chose may be in use for long, and must not get into logs. */
  #print(page: string): void {
    outliveStderr();
    const { token } = this.#settings;
    const shown =
      token === undefined ? page : `${page.split("#", 1)[0]} (open it with #token= and your token)`;
    console.error(`Dashboard: ${shown}`);
  }

  /** A dashboard shows one endpoint at a time. */
  #take(): void {
    if (this.#isTaken) {
      const where = { subject: "HTTP", field: "dashboard" };
      const problem =
        "already shows another endpoint: call dashboard() once for each, or close the other one first";
      throw new ConfigurationError("INVALID_OPTION", where, problem);
    }
    this.#isTaken = true;
  }

  #release(): void {
    const { token, endpoint } = this.#settings;
    this.#answering?.close();
    this.#answering = undefined;
    this.#port?.close();
    this.#port = undefined;
    this.#endpoint = undefined;
    this.#endpointUrl = endpoint;
    if (token === undefined) this.#token = undefined;
    this.#isTaken = false;
  }

  #requireToken(field: string): void {
    if (this.#settings.token !== undefined) return;
    const remedy = "pass dashboard({ token }), with at least 16 characters that only you know";
    failOption(field, `needs a token, since other machines may reach what you mount: ${remedy}`);
  }

  get #trustedProxies(): number {
    return this.#endpoint?.settings.trustedProxies ?? 0;
  }

  #backing(): Backing | undefined {
    const { tryIt } = this.#settings;
    const [token, endpoint, url] = [this.#token, this.#endpoint, this.#endpointUrl];
    if (token === undefined || endpoint === undefined) return undefined;
    return {
      token,
      logger: endpoint.state.server.logger,
      endpointOrigin: tryIt && url !== undefined ? new URL(url).origin : undefined,
      answer: (ask, question, origin) => this.#answer(endpoint, ask, question, origin),
    };
  }

  async #answer(
    endpoint: Endpoint,
    ask: Ask,
    question: JsonObject,
    origin: string | undefined,
  ): Promise<unknown> {
    const answer = await this.#answering?.answer(ask, question);
    if (ask !== "about" || origin === undefined) return answer;
    // A dashboard that is mounted most likely has the origin of its endpoint.
    return { ...answer, endpoint: (answer as About).endpoint ?? origin + endpoint.settings.path };
  }

  #nodeOptions({ state }: Endpoint): NodeOptions {
    const { node, tryIt, actions, history } = this.#settings;
    const url = this.#endpointUrl;
    const { cluster } = state.server;
    const name = node ?? (url === undefined ? cluster?.node : new URL(url).host);
    return { name: name || "this node", endpoint: url, tryIt, actions, history };
  }
}

function originOf({ port }: OwnPort, host = "127.0.0.1"): string {
  return `http://${host}:${port}`;
}

/** The options with which the page may call the endpoint, under each name of its port. */
function withOrigins(options: HttpOptions, port: OwnPort): HttpOptions {
  const origins = [originOf(port), originOf(port, "localhost")];
  return { ...options, cors: { ...options.cors, origins: [...(options.cors?.origins ?? []), ...origins] } };
}

/** Names for addresses that a browser cannot connect to, or that a Content-Security-Policy cannot name. */
const reachableNames: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "[::]": "localhost",
  "[::1]": "localhost",
};

function reachable(url: string): string {
  const reached = new URL(url);
  reached.hostname = reachableNames[reached.hostname] ?? reached.hostname;
  return reached.href;
}
