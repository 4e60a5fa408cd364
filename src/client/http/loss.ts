// Converts a failure below HTTP to an error that says whether the request may have been sent.
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import { permissionHint } from "./cross-origin.ts";
import type { SentRequest } from "./send.ts";

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
