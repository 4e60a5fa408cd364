// The site of the dashboard: checks the token of each request, and routes it by the end of its path.
import { clip } from "../../base/errors.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { type Logger, stderrLogger } from "../../base/logging/logger.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import type { Site, SiteBodyLimits, SiteReply, SiteRequest } from "../../transports/fetch/index.ts";
import type { Ask } from "../answers.ts";
import { safeHeaders } from "./headers.ts";
import { isPageFile, readPageFile } from "./page-files.ts";
import { isAction, readQuestion } from "./questions.ts";
import type { Token } from "./token.ts";

/** The dashboard behind the site, while it belongs to an endpoint. */
export interface Backing {
  readonly token: Token;
  readonly logger: Logger;
  /** How many proxies are in front of the endpoint. */
  readonly trustedProxies: number;
  /** The origin of the MCP endpoint, if the page may call it. */
  readonly endpointOrigin: string | undefined;
  /** Answers a question of the page; `origin` is the page's own, if it is known. */
  answer(ask: Ask, question: JsonObject, origin: string | undefined): Promise<unknown>;
}

export interface SiteSettings {
  readonly allowedHosts: readonly string[];
  readonly actions: boolean;
}

/** Where the site is: alone on its port, or below a path that its author chose. */
export type Place = "port" | "mount";

/** Bytes of a question. Past it, the dashboard responds with 413. */
const maxQuestionBytes = 64 * 1024;
const limits: SiteBodyLimits = { maxBytes: maxQuestionBytes, maxDepth: 8, maxElements: 5000 };
/** Questions answered at once. A page asks one at a time. Past it, the dashboard responds with 503 and `Retry-After`. */
const maxAsking = 64;

export class DashboardSite implements Site {
  readonly name = "Dashboard";
  readonly allowedHostsOf = "dashboard()";
  readonly allowedHosts: readonly string[];
  readonly #allowsActions: boolean;
  readonly #place: Place;
  readonly #backing: () => Backing | undefined;
  #asking = 0;

  constructor({ allowedHosts, actions }: SiteSettings, place: Place, backing: () => Backing | undefined) {
    this.allowedHosts = allowedHosts;
    this.#allowsActions = actions;
    this.#place = place;
    this.#backing = backing;
  }

  get logger(): Logger {
    return this.#backing()?.logger ?? stderrLogger;
  }

  /** Nothing is in front of a port on loopback. */
  get trustedProxies(): number {
    return this.#place === "port" ? 0 : (this.#backing()?.trustedProxies ?? 0);
  }

  headers(): Readonly<Record<string, string>> {
    return safeHeaders(this.#backing()?.endpointOrigin);
  }

  answer(request: SiteRequest): SiteReply | Promise<SiteReply> {
    const backing = this.#backing();
    if (/(?:^|&)(?:access_)?token=/i.test(request.query)) return { status: 400, problem: queryProblem };
    if (backing === undefined) return { status: 503, problem: noEndpoint };
    const { method, path } = request;
    const segment = segmentOf(path, this.#place);
    if (segment === "ask") return method === "POST" ? this.#ask(request, backing) : wrongMethod("POST");
    const isFile = isPageFile(segment);
    const isFolder = this.#place === "mount" && /^[\w~-]+$/.test(segment ?? "");
    if (!isFile && !isFolder) return { status: 404, problem: "Not found" };
    if (method !== "GET" && method !== "HEAD") return wrongMethod("GET, HEAD");
    // The page names its files relative to itself, so that it works below any path, even if a proxy changes the path.
    if (!isFile) return { status: 307, headers: { location: `./${segment}/` } };
    return readPageFile(segment).then(({ type, text }) => ({
      status: 200,
      headers: { "content-type": type },
      text,
    }));
  }

  async #ask(request: SiteRequest, { token, logger, answer }: Backing): Promise<SiteReply> {
    const refusal = token.check(request.header("authorization"), request.address);
    if (refusal?.retryAfter !== undefined) {
      const address = clip(request.address) || "an unknown address";
      RateLimitedLog.of(logger).warn(`Dashboard: too many wrong tokens from ${address}`);
      const headers = { "retry-after": String(refusal.retryAfter) };
      return { status: 429, problem: refusal.problem, headers };
    }
    if (refusal !== undefined)
      return { status: 401, problem: refusal.problem, headers: { "www-authenticate": "Bearer" } };
    if (this.#asking >= maxAsking) {
      const problem = "Too many questions at once: try again later";
      return { status: 503, problem, headers: { "retry-after": "1" } };
    }
    this.#asking++;
    try {
      const body = await request.json(limits);
      if (!body.ok) return body.reply;
      const asked = readQuestion(body.value);
      if ("problem" in asked) return { status: 400, problem: asked.problem };
      if (isAction(asked.ask) && !this.#allowsActions) return { status: 403, problem: readOnly };
      const answered = await answer(asked.ask, asked.question, request.header("origin"));
      return { status: 200, headers: json, text: JSON.stringify(answered ?? null) };
    } finally {
      this.#asking--;
    }
  }
}

const json = { "content-type": "application/json" };

const queryProblem =
  "A token in the query would stay in logs and in the history of the browser: put it behind #, as in /#token=…";
const noEndpoint =
  "The dashboard has no endpoint: pass it to serveHttp, nodeHandler or fetchHandler as the option dashboard";
const readOnly = "The dashboard is read-only: pass actions: true to dashboard() to allow this";

/** What comes after the last slash of a path; undefined for a path that is not on the port of the dashboard. */
function segmentOf(path: string, place: Place): string | undefined {
  const slash = path.lastIndexOf("/");
  return place === "mount" || slash === 0 ? path.slice(slash + 1) : undefined;
}

function wrongMethod(allow: string): SiteReply {
  return { status: 405, problem: `Method not allowed: use ${allow}`, headers: { allow } };
}
