// Turns a reply without a JSON-RPC message into the error that says what to do.
import { type Later, later } from "../../base/async/later.ts";
import { clip } from "../../base/errors.ts";
import { isObject } from "../../base/wire/message.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { ConnectionLost, HttpFailure, InvalidResponse } from "../settings/errors.ts";
import { printable, shownUrl } from "../settings/shown.ts";

import type { HttpReply } from "./send.ts";

/**
 * Characters of a body that an error shows. Twice as many are read to find the secrets in them. Past it, the rest is left
 * out.
 */
const maxExcerpt = 2000;
const maxRead = 2 * maxExcerpt;
/** The longest time that a server can ask to wait. */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/** The advice of error messages for a status. */
const hints: Readonly<Record<number, string>> = {
  404: "check the path of the URL, which often ends with /mcp",
  405: "check the path of the URL, which often ends with /mcp: it takes no such request",
  406: "the server cannot answer with JSON or events",
  413: "the message is too large for the server",
  415: "the server does not take JSON",
  429: "the server is busy: send fewer requests, or try again later",
  503: "the server is busy or starting: try again later",
};

/**
 * Whether a gateway gave up on the server behind it, which may have run the request: those from 520 on are Cloudflare's. So does
 * a 503 that the server did not send itself: see `isRefusal`.
 */
export function isGatewayLoss(status: number): boolean {
  return (status >= 502 && status <= 504) || (status >= 520 && status <= 527) || status === 530;
}

/** Whether a reply proves that the server did not run the request, but may do so later. */
function isRefusal(reply: HttpReply, body: string): boolean {
  if (reply.status !== 503) return reply.status === 429;
  return readRetryAfter(reply.header("retry-after")) !== undefined || isErrorResponse(body);
}

function isErrorResponse(body: string): boolean {
  try {
    const message: unknown = JSON.parse(body);
    return isObject(message) && message["jsonrpc"] === "2.0" && isObject(message["error"]);
  } catch {
    return false;
  }
}

/** Whether the unchanged request may succeed later. */
export function isTransientFailure(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** The code that reads the bodies of errors, loaded on first use, because most clients meet none. */
export const reading: Later<(body: string) => string> = later(
  () => import("./said.ts"),
  (module) => module.saidBy,
);

/** The error for a reply of that status; reads the start of its body. */
export async function failureOf(
  reply: HttpReply,
  url: string,
  secrets: Secrets,
  text?: string,
  hint: string | undefined = hints[reply.status],
): Promise<HttpFailure | ConnectionLost> {
  const { status } = reply;
  const body = await excerptOf(reply, secrets, text);
  const words = (await reading.get())(body);
  const said = words && `: ${words}`;
  if (isGatewayLoss(status) && !isRefusal(reply, body)) {
    const message = `A gateway before ${shownUrl(url)} lost the server: ${status}${said}`;
    return new ConnectionLost("cut", message, { mayHaveRun: true });
  }
  const retryAfterMs = readRetryAfter(reply.header("retry-after"));
  const message = `${shownUrl(url)} answered ${status}${said}${hint === undefined ? "" : `: ${hint}`}`;
  return new HttpFailure({ status, url, body, retryAfterMs }, message);
}

/** The error for a reply that succeeded, but with a body of the wrong type. */
export async function wrongTypeOf(reply: HttpReply, url: string, secrets: Secrets): Promise<HttpFailure> {
  const { status } = reply;
  const type = await secrets.clean(reply.header("content-type"));
  const body = await excerptOf(reply, secrets);
  const isPage = type?.startsWith("text/html");
  const said = isPage ? (await reading.get())(body) : "";
  const what = isPage
    ? `with a web page${said && ` (${said})`}`
    : type === undefined
      ? "without a content type"
      : `with the content type ${clip(printable(type))}`;
  const remedy = isPage
    ? "check the path of the URL, which often ends with /mcp, and whether a proxy wants you to sign in"
    : "expected application/json or text/event-stream; is it an MCP endpoint?";
  return new HttpFailure({ status, url, body }, `${shownUrl(url)} answered ${status} ${what}: ${remedy}`);
}

/** The time in `Retry-After`: seconds, or a date. */
export function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d+$|^[A-Z]/i.test(value)) return undefined;
  const timeMs = /^\d/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(timeMs) ? undefined : Math.min(Math.max(0, timeMs), maxRetryAfterMs);
}

const enough = Symbol("enough");

/**
 * The start of a body without secrets, because some servers repeat the request in an error. `text`: the body, if it has been
 * read.
 */
async function excerptOf(reply: HttpReply, secrets: Secrets, text?: string): Promise<string> {
  const start = text ?? (await startOf(reply));
  const isCut = start.length >= maxRead;
  const safe = await secrets.clean(isCut ? `${start.slice(0, maxRead)}…` : start);
  return safe.slice(0, maxExcerpt);
}

/** The start of a body. Errors in the rest of it are ignored. */
async function startOf(reply: HttpReply): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    await reply.read((piece) => {
      text += decoder.decode(piece.subarray(0, 4 * maxRead), { stream: true });
      if (text.length >= maxRead) throw enough;
    });
  } catch (error) {
    if (error !== enough && !(error instanceof ConnectionLost) && !(error instanceof InvalidResponse))
      throw error;
  }
  return text;
}
