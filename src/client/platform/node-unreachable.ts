// Tells by an error that a request was never sent, where nothing is known of its connection: Node, Bun and Deno say so, browsers do not.
import { reasonOf } from "../http/loss.ts";
import { sendByFetch } from "../http/send-by-fetch.ts";
import type { HttpRequest, Send } from "../http/send.ts";
import { ConnectionLost } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";

/**
 * What runtimes call failures that an open connection cannot have. Others, such as `EHOSTUNREACH` or `ERR_SSL_…`, can come at any time:
 * only the system call tells.
 */
const beforeOpen: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
const beforeOpenCalls: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly message?: unknown;
  readonly cause?: SystemError;
}

/** Sends with your own `fetch`. */
export function nodeSendByFetch(fetch: typeof globalThis.fetch): Send {
  return sendByFetch(fetch, (error, request) =>
    isUnsentBy(error) ? unreachable(error, request) : undefined,
  );
}

/** Whether an error proves that the connection for a request was never open. */
export function isUnsentBy(error: unknown): boolean {
  const { code, syscall, message } = ((error as SystemError).cause ?? error) as SystemError;
  return (
    beforeOpen.has(code) || beforeOpenCalls.has(syscall) || String(message).includes("before secure TLS")
  );
}

/** The error for a request that was never sent. */
export function unreachable(error: unknown, { url }: HttpRequest): ConnectionLost {
  const text = `Could not reach ${shownUrl(url)}: ${reasonOf(error)}: check the address, and that the server runs`;
  return new ConnectionLost("unreachable", text, { mayHaveRun: false, cause: error });
}
