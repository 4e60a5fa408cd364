// Fetches from an authorization server without redirects, with a timeout and a size limit.
import { GrowingBuffer } from "../base/wire/bytes.ts";

/** Bytes of an answer. An authorization server sends it. Past it, the server responds with 503. */
const maxBytes = 512 * 1024;
const timeoutMs = 5000;

/** Milliseconds before a failed request is tried again, whatever tokens arrive. */
export const retryMs = 1000;

/** The packages that call it pass `body: undefined`, which `RequestInit` does not allow. */
type BoundedInit = Omit<RequestInit, "body"> & { readonly body?: RequestInit["body"] | undefined };

/** Like `fetch`, for small JSON documents. */
export async function boundedFetch(url: string, init: BoundedInit = {}): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = { ...init, body: init.body ?? null };
  const response = await fetch(url, { ...sent, redirect: "manual", signal }).catch(sayWhy);
  const body = new GrowingBuffer();
  for await (const chunk of response.body ?? []) {
    if (body.length + chunk.length > maxBytes)
      throw new Error(`The response is larger than ${maxBytes} bytes`);
    body.add(chunk);
  }
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body.bytes, { status, headers });
}

/** Node's error only says "fetch failed", and has the reason in its cause. */
function sayWhy(error: unknown): never {
  const { cause } = error as { readonly cause?: { readonly message?: string; readonly code?: string } };
  const reason = cause?.message || cause?.code;
  throw reason === undefined ? error : new Error(reason, { cause: error });
}
