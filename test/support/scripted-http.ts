// An HTTP server that a test programs: it sends the responses of the script, and records the requests.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Sent } from "./scripted-wire.ts";

/** One request that a client sent. */
export interface Posted {
  readonly verb: string;
  readonly headers: IncomingHttpHeaders;
  /** The message of a POST. */
  readonly message: Sent;
}

/** How a request is answered. */
export interface HttpScript {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | object;
}

/** Answers a request; undefined: never. `reply`: to answer by hand. */
export type OnRequest = (request: Posted, reply: ServerResponse) => HttpScript | undefined;

export interface ScriptedHttp {
  readonly url: string;
  readonly received: Posted[];
  /** The methods of the messages, and the verbs of requests without one, in order. */
  readonly seen: () => string[];
}

/** Serves until the test ends. */
export async function serveScript(onRequest: OnRequest): Promise<ScriptedHttp> {
  const received: Posted[] = [];
  const server = createServer(async (request, reply) => {
    let text = "";
    request.on("error", () => {});
    for await (const piece of request) text += String(piece);
    const message = (text === "" ? {} : JSON.parse(text)) as Sent;
    const posted = { verb: request.method ?? "", headers: request.headers, message };
    received.push(posted);
    const script = onRequest(posted, reply);
    if (script === undefined) return;
    const { status = 200, headers = {}, body = "" } = script;
    const type = typeof body === "string" ? "text/plain" : "application/json";
    reply.writeHead(status, { "content-type": type, ...headers });
    reply.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const seen = (): string[] => received.map(({ verb, message }) => message.method ?? verb);
  return { url: `http://127.0.0.1:${port}/mcp`, received, seen };
}

/** The response to a message, with its result or error. */
export function respond(
  { id }: Sent,
  answer: { readonly result: object } | { readonly error: object },
): HttpScript {
  return { body: { jsonrpc: "2.0", id, ...answer } };
}
