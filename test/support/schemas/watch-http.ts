// Passes what HTTP returns to a witness: bodies and event streams, with or without a session.
import { Conversation } from "./witness.ts";

/** What was sent. */
export interface WatchedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** What came back; its text grows while it is open. */
export interface WatchedReply {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly textSoFar: string;
  isOver(): boolean;
}

interface Open {
  readonly reply: WatchedReply;
  readonly conversation: Conversation;
  /** How much of the text has been read. */
  read: number;
}

let open: Open[] = [];
/** By the id of the session. */
const sessions = new Map<string, Conversation>();

/** Only where messages are exchanged: other paths have documents. */
const endpoints = /^\/(?:mcp|sse|messages)\b/;

export function watchHttp(request: WatchedRequest, reply: WatchedReply): void {
  if (!endpoints.test(request.path)) return;
  const conversation = conversationOf(request, reply);
  conversation.said(request.body);
  open.push({ reply, conversation, read: 0 });
}

/** That of the session, if there is one; over HTTP+SSE that of the stream which named the path. */
function conversationOf(request: WatchedRequest, reply: WatchedReply): Conversation {
  if (request.path.startsWith("/messages")) {
    const named = open.find((one) =>
      one.reply.textSoFar.startsWith(`event: endpoint\ndata: ${request.path}\n`),
    );
    if (named !== undefined) return named.conversation;
  }
  const session = reply.headers["mcp-session-id"] ?? request.headers["mcp-session-id"];
  const known = sessions.get(String(session));
  if (known !== undefined) return known;
  const conversation = new Conversation(revisionOf(request));
  if (session !== undefined) sessions.set(String(session), conversation);
  return conversation;
}

/** Tells what has arrived since the last time. */
export function reportHttp(): void {
  for (const one of open) {
    if (String(one.reply.headers["content-type"]).startsWith("text/event-stream")) reportEvents(one);
    else if (one.reply.isOver()) one.conversation.heard(one.reply.textSoFar);
  }
  open = open.filter(({ reply }) => !reply.isOver());
}

function reportEvents(one: Open): void {
  const text = one.reply.textSoFar;
  const end = text.lastIndexOf("\n\n");
  if (end < one.read) return;
  const blocks = text.slice(one.read, end).split("\n\n");
  one.read = end + 2;
  for (const block of blocks) {
    const data = /^data: ?(.*)$/m.exec(block)?.[1] ?? "";
    if (!/^event: ?endpoint$/m.test(block)) one.conversation.heard(data);
  }
}

/** What the request states, or what it is without; a session says better, once it has begun. */
function revisionOf({ path, headers }: WatchedRequest): string {
  if (!path.startsWith("/mcp")) return "2024-11-05";
  const header = headers["mcp-protocol-version"];
  return typeof header === "string" ? header : "2025-03-26";
}
