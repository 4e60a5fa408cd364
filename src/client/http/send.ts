// How HTTP requests are sent: the seam between the HTTP transport and the functions of each runtime.
import type { HeaderFields } from "../settings/auth.ts";

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
