// Tells from an error that a request was never sent, if nothing else is known of its connection: Node, Bun and Deno say so,
// browsers do not.
import { reasonOf, type Send, type SentRequest } from "../http/send.ts";
import { sendByFetch } from "../http/send-by-fetch.ts";
import { ConnectionLost } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";

/**
 * The codes of failures that an open connection cannot have. Others, such as `EHOSTUNREACH` or `ERR_SSL_…`, can happen at any
 * time: only the system call tells.
 */
const beforeOpen: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_SSL_WRONG_VERSION_NUMBER",
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
/** The messages of such failures without a code: in the `fetch` of Deno and Bun. */
const beforeOpenWords = /before secure TLS|client error \(Connect\)|The TLS handshake failed/;

/** The likely mistake, by the words of the runtime, and what to do. */
const mistakes: readonly (readonly [sign: RegExp, what: (url: URL) => string])[] = [
  [
    /ECONNREFUSED|connection ?refused/i,
    ({ host }) => `nothing listens at ${host}: start the server, or check host and port`,
  ],
  [/ENOTFOUND|dns error/, ({ hostname }) => `there is no host ${hostname}: check how it is spelled`],
  [/EAI_AGAIN/, () => "the name service does not respond: check the network"],
  [
    /wrong.version.number|InvalidContentType|Does the server speak TLS|packet length too long/i,
    () => "it does not speak TLS at this port: write http instead of https",
  ],
  [
    /CERT_HAS_EXPIRED|CertExpired|NOT_YET_VALID/i,
    () => "its certificate is not valid at this time: renew it, or check the clock",
  ],
  [/ALTNAME|NotValidForName/i, ({ hostname }) => `its certificate is not for ${hostname}: check the host`],
  [
    /self.signed|_CERT|VERIFY_LEAF|peer certificate/i,
    () =>
      "its certificate is not trusted here: name that of its issuer in NODE_EXTRA_CA_CERTS, or DENO_CERT in Deno",
  ],
];

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
  return beforeOpen.has(code) || beforeOpenCalls.has(syscall) || beforeOpenWords.test(String(message));
}

/** The error for a request that was never sent. */
export function unreachable(error: unknown, { url }: SentRequest): ConnectionLost {
  const [reason = ""] = reasonOf(error).trim().split("\n", 1);
  const [, mistake] = mistakes.find(([sign]) => sign.test(reason)) ?? [];
  const problem = mistake?.(new URL(url)) ?? "check the address, and that the server runs";
  const text = `Could not reach ${shownUrl(url)}: ${mistake ? problem : `${reason}: ${problem}`}`;
  const code = ((error as SystemError).cause ?? (error as SystemError)).code;
  return new ConnectionLost("unreachable", mistake && code ? `${text} (${String(code)})` : text, {
    mayHaveRun: false,
    cause: error,
  });
}
