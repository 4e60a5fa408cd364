// Fetches what OAuth needs for one MCP server: from addresses that it may lead to, within limits of time and size.
import { platform } from "#oauth-platform";
import * as oauth from "oauth4webapi";
import { untilAborted } from "../../../base/async/promises.ts";
import type { Secrets } from "../../redaction/secrets.ts";
import { GrowingBuffer } from "../../../base/wire/bytes.ts";
import { OAuthError, type OAuthProblem, shown } from "../settings/errors.ts";
import { AddressGuard, type AddressOptions } from "./guard.ts";
import { shownUrl } from "../../settings/shown.ts";

const documentMs = 10_000;
const requestMs = 20_000;
/** Bytes of a document or a response of OAuth. Past it, the client refuses it. */
const maxBytes = 256 * 1024;
const maxRedirects = 3;

/** The longest time for which documents are used again, whatever their `Cache-Control` says. */
const longestFreshMs = 3_600_000;

/** The parameters of a request whose values are secret. */
const secretNames = /(?:^code|secret|verifier|_token|assertion)$/;

/** What may be wrong when a browser hides the reason of a failure. */
export const hiddenReason =
  "it is down, its response (404, too) lacks Access-Control-Allow-Origin, or connect-src of this page forbids it";

/** A document that was fetched as JSON. */
interface Document {
  readonly url: string;
  /** 0 if nothing could be read, in a browser: it does not tell whether the server is down, or says 404 without CORS headers. */
  readonly status: number;
  /** Undefined unless the status is 2xx. */
  readonly json: unknown;
}

export interface NetOptions extends AddressOptions {
  /** The value of `MCP-Protocol-Version` of the request that was refused: sent along while metadata is discovered (not in browsers). */
  readonly revision?: string | undefined;
  /** Aborted when no request waits for documents any longer. */
  readonly signal?: AbortSignal | undefined;
}

type EndpointRequest = oauth.CustomFetchOptions<"POST", URLSearchParams | string>;

/** Fetches for one MCP server: checks every address before it is asked, and limits time and size. */
export class Net {
  readonly #guard: AddressGuard;
  readonly #options: NetOptions;
  readonly #send: (url: string, init: RequestInit) => Promise<Response>;
  /** Until when the documents that were fetched may be used again, by `performance.now()`; undefined if there are none. */
  freshUntil: number | undefined;

  constructor(options: NetOptions) {
    const guard = new AddressGuard(options);
    this.#guard = guard;
    this.#options = options;
    this.#send =
      options.fetch ??
      platform.checkedFetch?.((host, address) => guard.refusalOf(host, address)) ??
      ((url, init) => fetch(url, init));
  }

  /** Rejects with an OAuthError if an address must not be asked. What a name resolves to is checked only when it is asked. */
  check(url: string): Promise<void> {
    return this.#guard.check(url);
  }

  /** Fetches a small JSON document. Rejects with an OAuthError if the address is forbidden, or if it serves no JSON. A 4xx does not reject. */
  async document(url: string): Promise<Document> {
    try {
      return await within(documentMs, this.#options.signal, (signal) => this.#document(url, signal));
    } catch (error) {
      if (isHidden(error)) return { url, status: 0, json: undefined };
      throw failure("metadata", url, error);
    }
  }

  /**
   * Returns the options by which oauth4webapi sends a request with credentials. Rejects like `check`. The request follows no redirect, and
   * what it contains is added to `secrets`. Without a signal it continues when the caller gives up, because its response may be needed later.
   */
  async endpoint(
    url: string,
    secrets: Secrets,
    signal?: AbortSignal,
  ): Promise<oauth.HttpRequestOptions<"POST", URLSearchParams | string>> {
    await this.check(url);
    return {
      [oauth.customFetch]: (target, init) => this.#request(target, init, secrets),
      // The guard permits that only on this machine, and for an origin that the user has named.
      [oauth.allowInsecureRequests]: new URL(url).protocol === "http:",
      ...(signal && { signal }),
    };
  }

  async #request(url: string, init: EndpointRequest, secrets: Secrets): Promise<Response> {
    // The name of a library helps only an attacker.
    const { "user-agent": _, ...headers } = init.headers;
    secrets.addAll(Object.entries(headers));
    if (typeof init.body !== "string")
      for (const [name, value] of init.body) if (secretNames.test(name)) secrets.add("secret", value);
    try {
      return await within(requestMs, init.signal, async (signal) => {
        const [response, text] = await this.#exchange(url, { ...init, headers }, signal);
        if (isRedirect(response))
          throw elsewhere(response, url, "a request with credentials follows no redirect");
        const { status, headers: received } = response;
        return new Response(text === "" ? null : text, { status, headers: received });
      });
    } catch (error) {
      throw failure("token", url, error);
    }
  }

  async #document(first: string, signal: AbortSignal): Promise<Document> {
    const headers: Record<string, string> = { accept: "application/json" };
    const { revision } = this.#options;
    // In a browser, this would take a preflight, which few authorization servers accept.
    if (revision && platform.checkedFetch) headers["mcp-protocol-version"] = revision;
    let url = first;
    for (let redirects = 0; ; redirects++) {
      const [response, text] = await this.#exchange(url, { headers }, signal);
      const { status, ok } = response;
      if (ok) {
        const until = performance.now() + freshMsOf(response);
        this.freshUntil = Math.min(this.freshUntil ?? until, until);
        return { url, status, json: parse(text, response, url) };
      }
      if (isRedirect(response)) url = redirected(response, url, redirects);
      else if (status >= 400 && status < 500) return { url, status, json: undefined };
      else throw new OAuthError("metadata", `${shownUrl(url)} responds with HTTP status ${status}`);
    }
  }

  /** Sends one request, and reads all of the response. */
  async #exchange(url: string, init: RequestInit, signal: AbortSignal): Promise<[Response, string]> {
    await this.check(url);
    const response = await this.#send(url, { ...init, redirect: "manual", signal });
    return [response, await readText(response, url, signal)];
  }
}

/** How long a document may be used again, as its server says; 0 if it does not say. */
function freshMsOf({ headers }: Response): number {
  const control = headers.get("cache-control") ?? "";
  const [, seconds] = /\bmax-age=(\d+)/i.exec(control) ?? [];
  if (seconds === undefined || /\bno-(?:store|cache)\b/i.test(control)) return 0;
  const age = Number.parseInt(headers.get("age") ?? "0", 10) || 0;
  return Math.min((Number(seconds) - age) * 1000, longestFreshMs);
}

/** Runs `work` with a signal that is aborted after `timeMs`, and stops waiting for it then. */
async function within<T>(
  timeMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`it took longer than ${timeMs / 1000} s`)), timeMs);
  const signal = outer ? AbortSignal.any([outer, late.signal]) : late.signal;
  try {
    return await untilAborted(work(signal), signal);
  } finally {
    clearTimeout(timer);
  }
}

async function readText(response: Response, url: string, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const body = new GrowingBuffer();
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return new TextDecoder().decode(body.bytes);
      if (body.length + value.length > maxBytes)
        throw new OAuthError("metadata", `${shownUrl(url)} responds with more than ${maxBytes} bytes`);
      body.add(value);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

/** Where the redirect of a document leads to. */
function redirected(response: Response, url: string, redirects: number): string {
  const location = response.headers.get("location");
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  if (target?.origin !== new URL(url).origin) throw elsewhere(response, url, "serve the document here");
  if (redirects >= maxRedirects) throw elsewhere(response, url, `gave up after ${maxRedirects} redirects`);
  return target.href;
}

function elsewhere({ headers }: Response, url: string, remedy: string): OAuthError {
  const location = headers.get("location");
  const where = location === null ? "an address that is not visible here" : shown(location);
  return new OAuthError("forbidden-address", `${shownUrl(url)} redirects to ${where}: ${remedy}`);
}

function parse(text: string, response: Response, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const what = /^\s*</.test(text) ? "an HTML page" : "a text that is not JSON";
    const type = shown(response.headers.get("content-type"));
    throw new OAuthError(
      "metadata",
      `${shownUrl(url)} responds with ${what} (content-type: ${type}): respond with JSON there, or with 404`,
      { cause },
    );
  }
}

/** Whether a browser hides why a request failed. */
function isHidden(error: unknown): boolean {
  return !platform.checkedFetch && error instanceof TypeError;
}

/** The error of a request that failed. `fetch` hides the reason in `cause`. */
function failure(problem: OAuthProblem, url: string, error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const { message, cause } = error as { message?: unknown; cause?: unknown };
  const said = cause instanceof Error && cause.message !== "" ? cause.message : String(message);
  const reason = isHidden(error) ? hiddenReason : said;
  return new OAuthError(problem, `Could not fetch ${shownUrl(url)}: ${reason}`, { cause: error });
}
