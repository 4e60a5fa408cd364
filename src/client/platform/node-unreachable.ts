// Tells that a server could not be reached, so that it cannot have run the request: Node, Bun and Deno say so, browsers do not.
import { reasonOf } from "../http/loss.ts";
import { sendByFetch } from "../http/send-by-fetch.ts";
import type { HttpRequest, Send } from "../http/send.ts";
import { ConnectionLost } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";

/** What runtimes call failures that come before the first byte of a request is sent. */
const beforeSending =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|CERT|SELF_SIGNED|UNABLE_TO_|EPROTO|ERR_SSL|ERR_TLS|before secure TLS|\bgetaddrinfo\b|(?:^|: )connect\b/;

/** Sends with your own `fetch`. */
export function nodeSendByFetch(fetch: typeof globalThis.fetch): Send {
  return sendByFetch(fetch, unreachableBy);
}

/** The error for a request that got no reply, if it was never sent. */
export function unreachableBy(error: unknown, { url }: HttpRequest): ConnectionLost | undefined {
  const reason = reasonOf(error);
  if (!beforeSending.test(reason)) return undefined;
  const text = `Could not reach ${shownUrl(url)}: ${reason}: check the address, and that the server runs`;
  return new ConnectionLost("unreachable", text, { mayHaveRun: false, cause: error });
}
