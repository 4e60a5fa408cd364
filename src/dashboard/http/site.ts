// The site of the dashboard on plain values: guards each request, checks its token, and routes it by the end of its path.
import { internalError, type Logger, stderrLogger } from "../../base/logging/logger.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { clip } from "../../base/errors.ts";
import { Heartbeat } from "../../transports/http/edge/heartbeat.ts";
import { jsonHeaders, refuseWith, replyError } from "../../transports/http/edge/replies.ts";
import type { HttpBody, HttpRequest, HttpResponder } from "../../transports/http/edge/request.ts";
import { Unsent } from "../../transports/http/edge/unsent.ts";
import { refuseContentType } from "../../transports/http/guard.ts";
import { addressKey } from "../../base/addresses.ts";
import { Loads } from "../../base/limits/loads.ts";
import { checkValue, type ParsedJson, parseJson } from "../../base/wire/json.ts";
import type { MessageLimits } from "../../base/wire/limits.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Ask } from "../answers.ts";
import { safeHeaders } from "./headers.ts";
import { isPageFile, type PageFile, readPageFile } from "./page-files.ts";
import { isAction, readQuestion } from "./questions.ts";
import type { Token } from "./token.ts";
import { Visitors } from "./visitors.ts";

/** The dashboard behind the site, while it belongs to an endpoint. */
export interface Backing {
  readonly token: Token;
  readonly logger: Logger;
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
const limits: MessageLimits = { maxBytes: maxQuestionBytes, maxDepth: 8, maxElements: 5000, maxBatch: 1 };
/** Bytes of all questions that are being read. */
const maxLoad = 4 * 1024 * 1024;
/** Questions answered at once. A page asks one at a time. Past it, the dashboard responds with 503 and `Retry-After`. */
const maxAsking = 64;
/** Bytes of answers that all slow readers together have not read, and how long one may read nothing. */
const maxUnsentBytes = 16 * 1024 * 1024;
const stallMs = 30_000;

export class Site {
  readonly unsent: Unsent = new Unsent(
    new Heartbeat(RateLimitedLog.of(stderrLogger)),
    maxUnsentBytes,
    stallMs,
  );
  readonly #visitors: Visitors;
  readonly #allowsActions: boolean;
  readonly #backing: () => Backing | undefined;
  readonly #loads = new Loads(maxLoad);
  #asking = 0;

  constructor({ allowedHosts, actions }: SiteSettings, backing: () => Backing | undefined) {
    this.#visitors = new Visitors(allowedHosts);
    this.#allowsActions = actions;
    this.#backing = backing;
  }

  /** Responds to one request. */
  async handle(request: HttpRequest, responder: HttpResponder, place: Place): Promise<void> {
    const backing = this.#backing();
    responder.corsHeaders = safeHeaders(backing?.endpointOrigin);
    const log = RateLimitedLog.of(backing?.logger ?? stderrLogger);
    const stranger = this.#visitors.check(request);
    if (stranger !== undefined) {
      log.warn(`Dashboard: ${stranger}`);
      return refuseWith(responder, 403, stranger);
    }
    if (/(?:^|&)(?:access_)?token=/i.test(request.query)) return refuseWith(responder, 400, queryProblem);
    if (backing === undefined) return refuseWith(responder, 503, noEndpoint);
    request.caller = addressKey(request.address ?? "");
    try {
      await this.#route(request, responder, place, backing);
    } catch (error) {
      replyError(responder, 500, internalError(log, "The dashboard could not answer", error));
    }
  }

  async #route(
    request: HttpRequest,
    responder: HttpResponder,
    place: Place,
    backing: Backing,
  ): Promise<void> {
    const segment = segmentOf(request.path, place);
    if (segment === "ask") {
      if (request.method !== "POST") return refuseMethod(responder, "POST");
      return this.#ask(request, responder, backing);
    }
    const isFile = isPageFile(segment);
    const isFolder = place === "mount" && /^[\w~-]+$/.test(segment ?? "");
    if (!isFile && !isFolder) return refuseWith(responder, 404, "Not found");
    if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(responder, "GET, HEAD");
    if (isFile) return sendFile(responder, segment);
    // The page names its files relative to itself, so that it works below any path, even if a proxy changes the path.
    responder.reply(307, { location: `./${segment}/` });
  }

  async #ask(
    request: HttpRequest,
    responder: HttpResponder,
    { token, logger, answer }: Backing,
  ): Promise<void> {
    const refusal = token.check(request.header("authorization"), request.caller);
    if (refusal?.retryAfter !== undefined) {
      const address = clip(request.caller) || "an unknown address";
      RateLimitedLog.of(logger).warn(`Dashboard: too many wrong tokens from ${address}`);
      return refuseWith(responder, 429, refusal.problem, { "retry-after": String(refusal.retryAfter) });
    }
    if (refusal !== undefined)
      return refuseWith(responder, 401, refusal.problem, { "www-authenticate": "Bearer" });
    if (refuseContentType(request, responder)) return;
    if (this.#asking >= maxAsking)
      return refuseWith(responder, 503, "Too many questions at once: try again later", {
        "retry-after": "1",
      });
    this.#asking++;
    try {
      const parsed = await this.#read(request, responder);
      if (parsed === undefined) return;
      if (!parsed.ok) return refuseWith(responder, 400, parsed.error.message);
      const asked = readQuestion(parsed.value);
      if ("problem" in asked) return refuseWith(responder, 400, asked.problem);
      if (isAction(asked.ask) && !this.#allowsActions) return refuseWith(responder, 403, readOnly);
      const answered = await answer(asked.ask, asked.question, request.header("origin"));
      responder.reply(200, jsonHeaders, JSON.stringify(answered ?? null));
    } finally {
      this.#asking--;
    }
  }

  /** The body as JSON; undefined if it could not be read, and the request is refused. */
  async #read(request: HttpRequest, responder: HttpResponder): Promise<ParsedJson | undefined> {
    const load = this.#loads.begin(request.caller);
    try {
      const body = await request.body(limits.maxBytes, load);
      if (body.kind === "text") return parseJson(body.text, limits);
      if (body.kind === "parsed") return checkValue(body.value, limits);
      const [status, problem] = unread[body.kind];
      refuseWith(responder, status, problem, { connection: "close" });
      return undefined;
    } finally {
      load.release();
    }
  }
}

const unread: {
  readonly [Kind in Exclude<HttpBody["kind"], "text" | "parsed">]: readonly [status: number, problem: string];
} = {
  "too-large": [413, `The question is larger than ${limits.maxBytes} bytes`],
  "too-heavy": [503, "Too many questions at once: try again later"],
  taken: [400, "Other code has read the question: mount the dashboard before body parsers"],
  broken: [400, "The question ended before it was complete"],
};

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

async function sendFile(responder: HttpResponder, name: PageFile): Promise<void> {
  const { type, text } = await readPageFile(name);
  responder.reply(200, { "content-type": type }, text);
}

function refuseMethod(responder: HttpResponder, allow: string): void {
  refuseWith(responder, 405, `Method not allowed: use ${allow}`, { allow });
}
