// Serves pages of your own, such as those of a dashboard: guards each request, reads its body, and writes the reply.
import { clip } from "../../base/errors.ts";
import { addressKey } from "../../base/addresses.ts";
import { Loads } from "../../base/limits/loads.ts";
import { checkValue, type ParsedJson, parseJson } from "../../base/wire/json.ts";
import { internalError, type Logger, stderrLogger } from "../../base/logging/logger.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { Heartbeat } from "./edge/heartbeat.ts";
import { refuseWith, replyError } from "./edge/replies.ts";
import type { HttpBody, HttpHeaders, HttpRequest, HttpResponder } from "./edge/request.ts";
import { Unsent } from "./edge/unsent.ts";
import { RequestGuard, hostsFor } from "./guard.ts";

/**
 * Pages of your own, behind a guard like that of an endpoint: only browsers that use a known host and show one of these pages may
 * send requests. Authenticate them yourself.
 */
export interface Site {
  /** Begins the log messages about refused requests. */
  readonly name: string;
  /** The host names, with or without a port, that browsers use besides the loopback ones; `*` for any. */
  readonly allowedHosts: readonly string[];
  /** Where `allowedHosts` is set, for the message about another host. */
  readonly allowedHostsOf: string;
  /** Read for each request. @default {writes to standard error} */
  readonly logger?: Logger | undefined;
  /** How many proxies are in front of it; read for each request. @default {0} */
  readonly trustedProxies?: number | undefined;
  /** Added to the headers of every response. */
  headers(): Readonly<Record<string, string>>;
  /** What it throws is logged, and responded to with 500 and an error id. */
  answer(request: SiteRequest): SiteReply | Promise<SiteReply>;
}

/** A request that the guard has let through. */
export interface SiteRequest {
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query, without the question mark. */
  readonly query: string;
  /** The address of the client, as limits count it; empty if it is unknown. */
  readonly address: string;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
  /** Reads the body as JSON, or returns the reply that refuses it. */
  json(limits: SiteBodyLimits): Promise<SiteBody>;
}

/** The limits of a body. */
export interface SiteBodyLimits {
  /** In UTF-8 bytes. Past it, the site responds with 413. */
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxElements: number;
}

/** A body as JSON, or the reply that refuses it. */
export type SiteBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reply: SiteReply };

/** The response to a request: a text, or an error whose message is sent as JSON. */
export type SiteReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text?: string }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly problem: string;
    };

/** Bytes of all bodies that are being read. */
const maxLoad = 4 * 1024 * 1024;
/** Bytes of replies that all slow readers together have not read, and how long one may read nothing. */
const maxUnsentBytes = 16 * 1024 * 1024;
const stallMs = 30_000;

export class SiteServer {
  readonly unsent: Unsent = new Unsent(
    new Heartbeat(RateLimitedLog.of(stderrLogger)),
    maxUnsentBytes,
    stallMs,
  );
  readonly #site: Site;
  readonly #guard: RequestGuard;
  readonly #loads = new Loads(maxLoad);

  constructor(site: Site) {
    const { allowedHosts } = site;
    this.#site = site;
    // The guard would admit the pages of every allowed host, at any port; here only the page itself may send requests.
    this.#guard = new RequestGuard({ allowedHosts: hostsFor([], { allowedHosts }), allowedOrigins: ["*"] });
  }

  get trustedProxies(): number {
    return this.#site.trustedProxies ?? 0;
  }

  /** Responds to one request. */
  async handle(request: HttpRequest, responder: HttpResponder): Promise<void> {
    const site = this.#site;
    responder.corsHeaders = site.headers();
    const log = RateLimitedLog.of(site.logger ?? stderrLogger);
    const stranger = this.#strangerProblem(request);
    if (stranger !== undefined) {
      log.warn(`${site.name}: ${stranger}`);
      return refuseWith(responder, 403, stranger);
    }
    request.caller = addressKey(request.address ?? "");
    try {
      send(responder, await site.answer(this.#requestOf(request)));
    } catch (error) {
      replyError(responder, 500, internalError(log, `${site.name} could not answer`, error));
    }
  }

  #strangerProblem(request: HttpRequest): string | undefined {
    const problem = this.#guard.check(request);
    if (problem === undefined) return originProblem(request, this.#site.name);
    return problem.endsWith("allowedHosts") ? `${problem} of ${this.#site.allowedHostsOf}` : problem;
  }

  #requestOf(request: HttpRequest): SiteRequest {
    const { method, path, query, caller: address } = request;
    return {
      method,
      path,
      query,
      address,
      header: (name) => request.header(name),
      json: (limits) => this.#read(request, limits),
    };
  }

  async #read(request: HttpRequest, limits: SiteBodyLimits): Promise<SiteBody> {
    if (!isJson(request)) return refused(415, "Content-Type must be application/json");
    const load = this.#loads.begin(request.caller);
    try {
      const body = await request.body(limits.maxBytes, load);
      const all = { ...limits, maxBatch: 1 };
      if (body.kind === "text") return readBody(parseJson(body.text, all));
      if (body.kind === "parsed") return readBody(checkValue(body.value, all));
      const [status, problem] = unread[body.kind];
      return refused(status, problem, { connection: "close" });
    } finally {
      load.release();
    }
  }
}

const unread: {
  readonly [Kind in Exclude<HttpBody["kind"], "text" | "parsed">]: readonly [status: number, problem: string];
} = {
  "too-large": [413, "The body is too large"],
  "too-heavy": [503, "Too many requests at once: try again later"],
  taken: [400, "Other code has read the body: mount the site before body parsers"],
  broken: [400, "The body ended before it was complete"],
};

function isJson(request: HttpRequest): boolean {
  const type = request.header("content-type")?.split(";", 1)[0];
  return type?.trim().toLowerCase() === "application/json";
}

function readBody(parsed: ParsedJson): SiteBody {
  return parsed.ok ? parsed : refused(400, parsed.error.message);
}

function refused(status: number, problem: string, headers: HttpHeaders = {}): SiteBody {
  return { ok: false, reply: { status, problem, headers } };
}

function send(responder: HttpResponder, reply: SiteReply): void {
  const { status, headers = {} } = reply;
  if ("problem" in reply) refuseWith(responder, status, reply.problem, headers);
  else responder.reply(status, headers, reply.text);
}

function originProblem(request: HttpRequest, name: string): string | undefined {
  const origin = request.header("origin");
  if (origin === undefined) return isOfOtherSite(request) ? "Another site may not load this" : undefined;
  const host = request.authority ?? request.header("host") ?? "";
  const ofOrigin = /^https?:\/\/(.+)$/i.exec(origin)?.[1];
  if (ofOrigin?.toLowerCase() === host.toLowerCase()) return undefined;
  const remedy = "if a proxy is in between, it must pass on the Host header";
  return `Origin ${clip(origin)} is not that of the ${name.toLowerCase()} at ${clip(host)}: ${remedy}`;
}

/** Browsers name the site of requests without an origin. A link to the page is allowed, but not a frame with it. */
function isOfOtherSite(request: HttpRequest): boolean {
  const site = request.header("sec-fetch-site") ?? "none";
  if (site === "none" || site === "same-origin") return false;
  return request.header("sec-fetch-mode") !== "navigate" || request.header("sec-fetch-dest") !== "document";
}
