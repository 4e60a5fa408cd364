// Sends the HTTP requests of a client: adds credentials, retries after a refusal with other ones, and follows redirects.
import { isThenable } from "../../base/async/promises.ts";
import type { CallBudget } from "../channel/channel.ts";
import { ConnectionLost, HttpFailure } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import type { Credentials } from "./auth.ts";
import type { Refused } from "./refusals.ts";

import type { HttpReply, SentRequest, Send } from "./send.ts";

/**
 * Redirects of a request. The client follows them to the same origin only. Past it, the request fails with `HttpFailure`,
 * which says where to.
 */
const maxRedirects = 5;

/** A request to whose headers the requester may add. */
export interface OpenRequest extends SentRequest {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  /** The budget of the call that the request belongs to. @default {a new one} */
  readonly budget?: Pick<CallBudget, "signIns" | "denial"> | undefined;
  /** Whether this is a final message, which is not worth other credentials. */
  readonly isFarewell?: boolean;
}

export class Requester {
  readonly #send: Send;
  readonly #credentials: Credentials;
  /** Whether the server has replied to any request, which proves that the scheme of its address is right. */
  #hasReplied = false;

  constructor(send: Send, credentials: Credentials) {
    this.#send = send;
    this.#credentials = credentials;
  }

  /** Resolves with a reply that is neither a redirect nor a refusal of credentials. */
  async send(asked: OpenRequest): Promise<HttpReply> {
    const hasOwn = "authorization" in asked.headers;
    const budget: Refused["budget"] = asked.budget ?? { signIns: 0 };
    let { url } = asked;
    let refused: string | undefined;
    for (let times = 0, redirects = 0; ;) {
      const given = hasOwn ? undefined : this.#credentials.headers(url, asked.method);
      const fields = isThenable(given) ? await given : given;
      const headers = fields === undefined ? asked.headers : { ...fields, ...asked.headers };
      const isAsAsked = fields === undefined && redirects === 0;
      const reply = await this.#reply(isAsAsked ? asked : { ...asked, url, headers });
      const { status } = reply;
      this.#credentials.replied(reply, url);
      if (status === 401 || status === 403) {
        const { signal } = asked;
        const before = refused;
        refused = JSON.stringify(fields);
        const isFinal = hasOwn || asked.isFarewell || refused === before;
        await this.#credentials.refused(reply, { url, headers, signal, times: times++, isFinal, budget });
      } else if (status >= 300 && status < 400) {
        url = followed(reply, url, ++redirects);
      } else return reply;
    }
  }

  async #reply(asked: SentRequest): Promise<HttpReply> {
    try {
      const reply = await this.#send(asked);
      this.#hasReplied = true;
      return reply;
    } catch (error) {
      throw this.#hasReplied || !asked.url.startsWith("http:") ? error : perhapsTls(error);
    }
  }

  /** Closes idle connections. */
  closeIdle(): void {
    this.#send.closeIdle?.();
  }
}

/** Suggests https: a server with TLS closes a connection without TLS and gives no reason. */
function perhapsTls(error: unknown): unknown {
  if (!(error instanceof ConnectionLost) || error.reason !== "cut") return error;
  const { message, mayHaveRun, cause } = error;
  const hint = "if the server uses TLS, write https instead of http";
  return new ConnectionLost("cut", `${message}: ${hint}`, { mayHaveRun, cause });
}

/** The target of a redirect. Throws unless the redirect keeps method, body and origin. */
function followed(reply: HttpReply, url: string, redirects: number): string {
  const { status } = reply;
  const location = reply.header("location");
  reply.cancel();
  const refuse = (where: string, remedy: string): HttpFailure =>
    new HttpFailure(
      { status, url, body: "" },
      `${shownUrl(url)} redirects to ${where} (${status}): ${remedy}`,
    );
  if (location === undefined || !URL.canParse(location, url)) {
    const where = location === undefined ? "an address that is not visible here" : shownUrl(location);
    throw refuse(where, "connect to the final address instead");
  }
  const target = new URL(location, url);
  if (target.origin !== new URL(url).origin || (status !== 307 && status !== 308)) {
    throw refuse(shownUrl(target.href), "connect to that address if you trust it");
  }
  if (redirects > maxRedirects)
    throw refuse(shownUrl(target.href), `gave up after ${maxRedirects} redirects`);
  return target.href;
}
