// Tells what a failure below HTTP means: the server could not be reached, or the connection broke after the request was sent.
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { permissionHint } from "./cross-origin.ts";
import type { HttpRequest } from "./send.ts";

/** What runtimes call failures that come before the first byte of a request is sent. */
const beforeSending =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|CERT|SELF_SIGNED|UNABLE_TO_|EPROTO|ERR_SSL|ERR_TLS|before secure TLS|\bgetaddrinfo\b|^connect\b/;

interface SystemError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: SystemError;
}

/** The error for a request that got no reply, or whose reply broke off. `fetch` hides the reason in `cause`. */
export function lossOf(error: unknown, request: HttpRequest, hasReply = false): ConnectionLost {
  const { url } = request;
  const { code, message } = ((error as SystemError).cause ?? error) as SystemError;
  const parts = String(message).includes(String(code)) ? [message] : [code, message];
  const what = parts.filter((part) => part !== undefined && part !== "").join(": ");
  const isOpaque = code === undefined && error instanceof TypeError;
  if (!hasReply && (beforeSending.test(String(code)) || beforeSending.test(String(message)))) {
    const text = `Could not reach ${shown(url)}: ${what}: check the address, and that the server runs`;
    return new ConnectionLost("unreachable", text, { mayHaveRun: false, cause: error });
  }
  const hint = isOpaque && !hasReply ? permissionHint(request) : "";
  const text = `The connection to ${shown(url)} broke: ${what}${hint}`;
  return new ConnectionLost("cut", text, { mayHaveRun: true, cause: error });
}

/** A URL without what may be secret in it. */
export function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

export function tooLarge(url: string, maxBytes: number): InvalidResponse {
  return new InvalidResponse(
    `${shown(url)} sent more than ${maxBytes} bytes in one message: raise limits.maxBytes if that is meant`,
  );
}
