// Answers of a stand-in for an HTTP server: a table by path, which a test replaces row by row.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

/** One request, as a stand-in keeps it. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** What is answered; a body that is not a text is sent as JSON. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An answer, or a function that makes it; undefined leaves it to the server. */
export type Answering<R extends Request = Request> =
  | Answer
  | ((request: R) => Answer | undefined | Promise<Answer | undefined>);

export function readHead(request: IncomingMessage): Request {
  const { method = "", url = "", headers } = request;
  const { pathname, searchParams } = new URL(url, "http://stand-in");
  return { method, path: pathname, query: searchParams, headers };
}

/** Any page may ask, and read every header. */
const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*, authorization",
  "access-control-expose-headers": "*, www-authenticate",
};

export function sendAnswer(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  const isText = body === undefined || typeof body === "string";
  const type = isText ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...cors, ...type, ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
