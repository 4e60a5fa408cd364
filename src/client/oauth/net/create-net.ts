// Fetches what OAuth needs for one MCP server: from addresses that it may lead to, within limits of time and size.
import { platform } from "#oauth-platform";
import { untilAborted } from "../../../async/promises.ts";
import { GrowingBuffer } from "../../../wire/bytes.ts";
import { OAuthError, type OAuthProblem } from "../settings/errors.ts";
import { Guard } from "./guard.ts";
import type { Document, Net, NetOptions } from "./net.ts";
import { shown } from "./shown.ts";
import { shownUrl } from "../../settings/shown.ts";

const documentMs = 10_000;
const requestMs = 20_000;
/** Bytes of a document or a response of OAuth. Past it, the client refuses it. */
const maxBytes = 256 * 1024;
const maxRedirects = 3;

/** What can be wrong where a browser does not say it. */
export const hiddenReason =
  "it is down, its response (404, too) lacks Access-Control-Allow-Origin, or connect-src of this page forbids it";

export function createNet(options: NetOptions): Net {
  const guard = new Guard(options);
  const send: Net["fetch"] =
    options.fetch ??
    platform.checkedFetch?.((host, address) => guard.refusalOf(host, address)) ??
    ((url, init) => fetch(url, init));

  /** Sends one request, and reads all of the response. */
  const exchange = async (
    url: string,
    init: RequestInit,
    signal: AbortSignal,
  ): Promise<[Response, string]> => {
    await guard.check(url);
    const response = await send(url, { ...init, redirect: "manual", signal });
    return [response, await readText(response, url, signal)];
  };

  const document = async (first: string, signal: AbortSignal): Promise<Document> => {
    const headers: Record<string, string> = { accept: "application/json" };
    // In a browser, this would take a preflight, which few authorization servers accept.
    if (options.revision && platform.checkedFetch) headers["mcp-protocol-version"] = options.revision;
    let url = first;
    for (let redirects = 0; ; redirects++) {
      const [response, text] = await exchange(url, { headers }, signal);
      const { status, ok } = response;
      if (ok) return { url, status, json: parse(text, response, url) };
      if (isRedirect(response)) url = redirected(response, url, redirects);
      else if (status >= 400 && status < 500) return { url, status, json: undefined };
      else throw new OAuthError("metadata", `${shownUrl(url)} responds with HTTP status ${status}`);
    }
  };

  return {
    check: (url) => guard.check(url),
    document: (url) =>
      within(documentMs, options.signal, (signal) => document(url, signal)).catch((error: unknown) => {
        if (isHidden(error)) return { url, status: 0, json: undefined };
        throw failure("metadata", url, error);
      }),
    fetch: (url, init) =>
      within(requestMs, init.signal ?? undefined, async (signal) => {
        const [response, text] = await exchange(url, init, signal);
        if (isRedirect(response))
          throw elsewhere(response, url, "a request with credentials follows no redirect");
        const { status, headers } = response;
        return new Response(text === "" ? null : text, { status, headers });
      }).catch((error: unknown) => {
        throw failure("token", url, error);
      }),
  };
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
