// A `fetch` that a test answers: exact pieces of bytes, without a socket.
import { metaKeys, newestModern } from "./revisions.ts";

interface Posted {
  readonly id?: string | number;
  readonly method: string;
}

/** Answers `server/discover` itself, and everything else with the response that `answer` returns. */
export function cannedFetch(
  answer: (posted: Posted, request: Request) => Response | Promise<Response>,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const posted = (await request.clone().json()) as Posted;
    if (posted.method !== "server/discover") return answer(posted, request);
    const result = {
      resultType: "complete",
      supportedVersions: [newestModern],
      capabilities: {},
      _meta: { [metaKeys.serverInfo]: { name: "canned", version: "1.0.0" } },
      ttlMs: 0,
      cacheScope: "private",
    };
    return Response.json({ jsonrpc: "2.0", id: posted.id, result });
  };
}

/** A stream of events that arrives in these pieces; `hold` keeps it open after them. */
export function eventsIn(pieces: Iterable<Uint8Array>, { hold = false }: { hold?: boolean } = {}): Response {
  const queue = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = queue.shift();
      if (piece) controller.enqueue(piece);
      else if (!hold) controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
