// How HTTP requests are sent: the seam between the HTTP transport and the functions of each runtime, the body of a reply, and the
// errors of requests that failed below HTTP.
import type { HeaderFields } from "../settings/auth.ts";
import { bufferOf, type GrowingBuffer } from "../../base/wire/bytes.ts";
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";

/** One HTTP request. */
export interface SentRequest {
  readonly url: string;
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: HeaderFields;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The reply to a request, whose body has not been read. Call `text`, `read` or `cancel`, once. */
export interface HttpReply {
  readonly status: number;
  /** Whether this may be an extra reply to an earlier request: the connection has carried others, or that is unknown. */
  readonly mayBeStray: boolean;
  /** The value of a header; names in lower case. */
  header(name: string): string | undefined;
  /**
   * Resolves with the whole body. Rejects with InvalidResponse past the limit, and with ConnectionLost if the body is cut off.
   */
  text(maxBytes: number): Promise<string>;
  /**
   * Passes on the body piece by piece. Resolves when it ends, and rejects if it is cut off. An exception in `take` cancels the
   * body.
   */
  read(take: (piece: Uint8Array) => void): Promise<void>;
  /** Drops the body. */
  cancel(): void;
  /** Closes the connection if possible, because replies no longer match requests on it. */
  distrust?(): void;
}

/**
 * Sends a request, and resolves with the reply when its headers have arrived. Redirects are not followed. Rejects with
 * ConnectionLost, or with any reason once the signal is aborted.
 */
export interface Send {
  (request: SentRequest): Promise<HttpReply>;
  /** Closes idle connections now, and the others after their requests; until the next request. */
  closeIdle?(): void;
}

const noBytes = new Uint8Array(0);

/** Resolves with the whole body of the reply from `url`. */
export async function collect(
  reply: Pick<HttpReply, "read">,
  url: string,
  maxBytes: number,
): Promise<Uint8Array> {
  let first: Uint8Array | undefined;
  let all: GrowingBuffer | undefined;
  let size = 0;
  await reply.read((piece) => {
    size += piece.length;
    if (size > maxBytes) throw tooLarge(url, maxBytes);
    if (first === undefined) first = piece;
    else (all ??= bufferOf(first)).add(piece);
  });
  return all?.bytes ?? first ?? noBytes;
}

interface SystemError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: SystemError;
}

/** The reason in the words of the runtime. `fetch` hides it in `cause`. */
export function reasonOf(error: unknown): string {
  const { code, message } = ((error as SystemError).cause ?? error) as SystemError;
  const parts = String(message).includes(String(code)) ? [message] : [code, message];
  return parts.filter(Boolean).join(": ");
}

/** The error for a request that got no reply, or whose reply was cut off. */
export function lossOf(error: unknown, request: SentRequest, hasReply = false): ConnectionLost {
  const isOpaque = error instanceof TypeError && error.cause === undefined;
  const hint = isOpaque && !hasReply ? permissionHint(request) : "";
  const text = `The connection to ${shownUrl(request.url)} broke: ${reasonOf(error)}${hint}`;
  return new ConnectionLost("cut", text, { mayHaveRun: true, cause: error });
}

/** The error for a request whose session the server does not know. */
export function sessionLoss(url: string): ConnectionLost {
  const message = `${shownUrl(url)} no longer knows the session (404): it restarted, several servers share this address without a common backplane, name and prefix, or its code calls fetchHandler() or nodeHandler() for each request: call it once`;
  return new ConnectionLost("session-gone", message, { mayHaveRun: false });
}

export function tooLarge(url: string, maxBytes: number): InvalidResponse {
  return new InvalidResponse(
    `${shownUrl(url)} sent more than ${maxBytes} bytes in one message: raise limits.maxBytes if that is meant`,
  );
}

/**
 * The headers that a browser sends without the server's permission. `content-type` is not one of them, because it is JSON here.
 */
const sentFreely = /^accept$|-language$/;

/**
 * Names what the server must allow, for a request that failed without a reason. Empty if the server has the origin of the page.
 */
function permissionHint({ url, headers }: SentRequest): string {
  const page = pageBeyond(url);
  if (!page) return "";
  const names = Object.keys(headers).filter((name) => !sentFreely.test(name));
  // If there are such headers, the browser first sends an OPTIONS request, without credentials.
  const asked = names[0]
    ? `, to OPTIONS without credentials also Access-Control-Allow-Headers: ${names.join(", ")}`
    : "";
  return `: if it runs, it must send Access-Control-Allow-Origin: ${page}${asked}; and connect-src of the page must allow it`;
}

/** The origin of the page, if this runs in a page of another origin than the server. */
export function pageBeyond(url: string): string | undefined {
  const { origin } = (globalThis as { readonly location?: Partial<URL> }).location ?? {};
  return origin === new URL(url).origin ? undefined : origin;
}
