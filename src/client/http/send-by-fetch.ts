// Sends HTTP requests with `fetch`, the global one or your own.
import { collect, type HttpReply, lossOf, type Send, type SentRequest } from "./send.ts";

const decoder = new TextDecoder();

/** `unreachableBy` returns the error for a request that was never sent, if the runtime can tell. */
export function sendByFetch(
  fetch: typeof globalThis.fetch,
  unreachableBy?: (error: unknown, request: SentRequest) => Error | undefined,
): Send {
  return async (request) => {
    const { url, method, headers, body, signal } = request;
    try {
      const response = await fetch(url, {
        method,
        headers,
        body: body ?? null,
        signal: signal ?? null,
        redirect: "manual",
      });
      return new FetchReply(request, response);
    } catch (error) {
      throw signal?.aborted ? error : (unreachableBy?.(error, request) ?? lossOf(error, request));
    }
  };
}

class FetchReply implements HttpReply {
  readonly mayBeStray = true;
  readonly #request: SentRequest;
  readonly #response: Response;

  constructor(request: SentRequest, response: Response) {
    this.#request = request;
    this.#response = response;
  }

  get status(): number {
    // Browsers hide the status and target of a redirect that they do not follow.
    return this.#response.type === "opaqueredirect" ? 302 : this.#response.status;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  async text(maxBytes: number): Promise<string> {
    return decoder.decode(await collect(this, this.#request.url, maxBytes));
  }

  async read(take: (piece: Uint8Array) => void): Promise<void> {
    const reader = this.#response.body?.getReader();
    if (reader === undefined) return;
    let isTaking = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        isTaking = true;
        take(value);
        isTaking = false;
      }
    } catch (error) {
      if (!isTaking) throw this.#request.signal?.aborted ? error : lossOf(error, this.#request, true);
      reader.cancel().catch(() => {});
      throw error;
    }
  }

  cancel(): void {
    this.#response.body?.cancel().catch(() => {});
  }
}
