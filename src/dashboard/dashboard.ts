// A dashboard: mounted by its author, or on a port of its own for as long as `serveHttp` serves its endpoint.
import { platform } from "#dashboard-platform";
import { guard, outliveStderr } from "../base/logging/logger.ts";
import { RateLimitedLog } from "../base/logging/rate-limited-log.ts";
import { ConfigurationError } from "../base/errors.ts";
import {
  type EndpointDashboard,
  fetchSite,
  type FetchSiteHandler,
  type HttpOptions,
  type ServedEndpoint,
} from "../transports/fetch/index.ts";
import type { NodeDashboardHandler } from "./platform/node-dashboard-handler.ts";
import { randomId } from "../base/wire/crypto.ts";
import { type Backing, DashboardSite, type Place } from "./http/site.ts";
import { Token } from "./http/token.ts";
import { type DashboardSettings, failOption } from "./options.ts";
import type { OwnPort } from "./platform/platform.ts";
import { AttachedEndpoint } from "./attached-endpoint.ts";

/** Bytes of a random token. */
const tokenBytes = 24;

export class OneDashboard implements EndpointDashboard {
  readonly #settings: DashboardSettings;
  readonly #mounted: DashboardSite;
  #nodeHandler: NodeDashboardHandler | undefined;
  #fetchHandler: FetchSiteHandler | undefined;
  /** Set from the beginning of `serve` or `attach` until `detach`. */
  #isTaken = false;
  /** The token of the options, or a random one while `serveHttp` serves the dashboard. */
  #token: Token | undefined;
  #port: OwnPort | undefined;
  #attached: AttachedEndpoint | undefined;

  constructor(settings: DashboardSettings) {
    this.#settings = settings;
    this.#mounted = this.#siteAt("mount");
    this.#token = this.#chosenToken();
  }

  get url(): string | undefined {
    return this.#port && `${originOf(this.#port)}/${this.#token?.fragment ?? ""}`;
  }

  get nodeHandler(): NodeDashboardHandler {
    this.#requireToken("nodeHandler");
    return (this.#nodeHandler ??= platform.nodeHandler(this.#mounted));
  }

  get fetchHandler(): FetchSiteHandler {
    this.#requireToken("fetchHandler");
    return (this.#fetchHandler ??= fetchSite(this.#mounted));
  }

  async serve(options: HttpOptions & { readonly port?: number }): Promise<HttpOptions> {
    this.#take();
    const { port, tryIt } = this.#settings;
    try {
      if (port !== 0 && port === options.port) failOption("port", `is ${port}, ${samePort}`);
      this.#token ??= new Token(randomId(tokenBytes));
      this.#port = await platform.listen(port, this.#siteAt("port"));
    } catch (error) {
      this.#release();
      throw error;
    }
    const opened = this.#port;
    // An endpoint attaches at once, unless its options are invalid.
    setTimeout(() => {
      if (this.#port === opened && this.#attached === undefined) this.#release();
    }, 0);
    return tryIt ? withOrigins(options, opened) : options;
  }

  attach(endpoint: ServedEndpoint): void {
    const isServed = this.#port !== undefined && this.#attached === undefined;
    if (!isServed) {
      if (this.#settings.token === undefined) failOption("token", `is missing: ${tokenRemedy}`);
      if (this.#settings.port !== 0) failOption("port", `is ${this.#settings.port}, ${mountedPort}`);
      this.#take();
    }
    this.#attached = new AttachedEndpoint(endpoint, this.#settings);
  }

  opened(url: string): void {
    this.#attached?.opened(url);
    const { url: page } = this;
    if (page === undefined) return;
    const { onOpen = (address: string) => this.#print(address) } = this.#settings;
    const log = this.#attached && RateLimitedLog.of(this.#attached.window.logger);
    guard(
      () => onOpen(page),
      (error) => log?.error("onOpen() of the dashboard failed", { error }),
    );
  }

  async detach(endpoint: ServedEndpoint): Promise<void> {
    if (endpoint === this.#attached?.endpoint) this.#release();
  }

  /** A dashboard shows one endpoint at a time. */
  #take(): void {
    if (this.#isTaken)
      throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field: "dashboard" }, taken);
    this.#isTaken = true;
  }

  #release(): void {
    this.#attached?.close();
    this.#attached = undefined;
    this.#port?.close();
    this.#port = undefined;
    this.#token = this.#chosenToken();
    this.#isTaken = false;
  }

  #chosenToken(): Token | undefined {
    const { token } = this.#settings;
    return token === undefined ? undefined : new Token(token);
  }

  #requireToken(field: string): void {
    if (this.#settings.token === undefined) failOption(field, noToken);
  }

  /** Prints the address of the page. A token that the author chose may be used for long, so it is left out of logs. */
  #print(page: string): void {
    outliveStderr();
    const isRandom = this.#settings.token === undefined;
    const shown = isRandom ? page : `${page.split("#", 1)[0]} (open it with #token= and your token)`;
    console.error(`Dashboard: ${shown}`);
  }

  #siteAt(place: Place): DashboardSite {
    return new DashboardSite(this.#settings, place, () => this.#backing());
  }

  #backing(): Backing | undefined {
    const token = this.#token;
    const attached = this.#attached;
    if (token === undefined || attached === undefined) return undefined;
    const url = this.#settings.tryIt ? attached.url : undefined;
    return {
      token,
      logger: attached.window.logger,
      trustedProxies: attached.endpoint.trustedProxies,
      endpointOrigin: url && new URL(url).origin,
      answer: (ask, question, origin) => attached.answer(ask, question, origin),
    };
  }
}

const taken = "already shows another endpoint: call dashboard() once for each, or close the other one first";
const mountedPort =
  "but only serveHttp opens a port: leave it out, and mount nodeHandler or fetchHandler of the dashboard";
const samePort = "which is the port of the endpoint: pass another one, or 0 for any free port";
const tokenRemedy =
  "other machines may reach what you mount, so pass dashboard({ token }) with at least 16 characters that only you know";
const noToken = `needs a token: ${tokenRemedy}`;

function originOf({ port }: OwnPort, host = "127.0.0.1"): string {
  return `http://${host}:${port}`;
}

/** The options with which the page may call the endpoint, under each name of its port. */
function withOrigins(options: HttpOptions, port: OwnPort): HttpOptions {
  const origins = [originOf(port), originOf(port, "localhost")];
  return { ...options, cors: { ...options.cors, origins: [...(options.cors?.origins ?? []), ...origins] } };
}
