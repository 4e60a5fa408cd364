// How HTTP requests are sent: the seam between the transport over HTTP and what each runtime offers for it.
import type { HeaderFields } from "../settings/auth.ts";

/** One HTTP request. */
export interface HttpRequest {
  readonly url: string;
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: HeaderFields;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The reply to it, whose body has not been read. Read it with one of `text` and `read`, or `cancel` it. */
export interface HttpReply {
  readonly status: number;
  /** Whether it may be one that the server sent beyond those of earlier requests: its connection carried some, or that is unknown. */
  readonly mayBeStray: boolean;
  /** The value of a header; names in lower case. */
  header(name: string): string | undefined;
  /** Resolves with the whole body; rejects with InvalidResponse past the limit, and with ConnectionLost when the body breaks off. */
  text(maxBytes: number): Promise<string>;
  /** Passes on the body piece by piece; resolves when it ends, rejects when it breaks off. What `take` throws cancels the body. */
  read(take: (piece: Uint8Array) => void): Promise<void>;
  /** Drops the body. */
  cancel(): void;
  /** Closes the connection, where that is possible: replies and requests no longer match on it. */
  distrust?(): void;
}

/**
 * Sends a request, and resolves with the reply when its headers have arrived. Redirects are not followed. Rejects with ConnectionLost,
 * or with anything once the signal is aborted.
 */
export interface Send {
  (request: HttpRequest): Promise<HttpReply>;
  /** Closes the connections that carry nothing, and the others when they have carried what they do; until the next request. */
  closeIdle?(): void;
}
