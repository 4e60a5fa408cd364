// Fetches from an authorization server without redirects, with a timeout and a size limit.

const maxBytes = 512 * 1024;
const timeoutMs = 5000;

/** Milliseconds before a failed request is tried again, whatever tokens arrive. */
export const retryMs = 1000;

/** Like `fetch`, for small JSON documents. */
export async function boundedFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, {
    ...init,
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`The response is larger than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  const { status, headers } = response;
  return new Response(size === 0 ? null : text + decoder.decode(), { status, headers });
}
