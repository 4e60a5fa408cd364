// Requests to an authorization server: never redirected, never waited for long, never more than so much read.

const maxBytes = 512 * 1024;
const timeoutMs = 5000;

/** What could not be had is not asked for again before that, whatever tokens come. */
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
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  const { status, headers } = response;
  return new Response(size === 0 ? null : text + decoder.decode(), { status, headers });
}
