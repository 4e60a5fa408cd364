// One HTTP request being answered: each fact about it is found once and stored here for every route.
import { plainHeaders } from "./edge/header-names.ts";
import type { Load } from "../../base/limits/loads.ts";
import type { Principal } from "../../protocol/model.ts";
import { isPast } from "../../protocol/principal.ts";
import type { RequestRow, Revision } from "../../protocol/revision.ts";
import { Connection, type Exchange, ownOptions } from "../../server/context/connection.ts";
import {
  type Incoming,
  isBatch,
  type ReadMessage,
  readMessage,
  type RequestId,
  type RpcError,
  type RpcResponse,
} from "../../base/wire/message.ts";
import type { Answer } from "../../server/calls/answer.ts";
import type { Answering } from "../../server/calls/dispatch.ts";
import type { Tended } from "./edge/heartbeat.ts";
import type { HttpHeaders, HttpRequest, HttpResponder, RefusalWatch } from "./edge/request.ts";
import type { CountedRequest } from "./rate-limits.ts";
import type { HttpSession } from "./session.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./streams/event-stream.ts";

export const versionHeader = "mcp-protocol-version";
export const sessionHeader = "mcp-session-id";

/** The content types that a client accepts. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

/**
 * The exchange that the server sees, and what the routes know of the request. Most members are made when they are first read, so
 * that a short call does not pay for them. If an answer takes longer than `streamAfterMs`, `tend` opens a stream, whose comments
 * keep proxies from closing the connection.
 */
export class HttpExchange implements Exchange, Tended, RefusalWatch {
  readonly state: HttpState;
  readonly request: HttpRequest;
  readonly responder: HttpResponder;
  place: number | undefined;
  /** Whether it arrived after the server began to close. */
  readonly isLate: boolean;

  /** The caller, once `auth` has identified it. */
  principal: Principal | undefined;
  /** Its count in the rate limits, if there are any. */
  counted: CountedRequest | undefined;

  /** The estimated memory of the body. */
  load: Load | undefined;
  /** The message or batch in the body. */
  incoming: Incoming = noMessages;
  /** The address of the client, copied because a closed socket no longer has it. */
  address: string | undefined;
  /** Set by `classify`, like the members below. */
  era: "modern" | undefined;
  revision: Revision | undefined;
  row: RequestRow | undefined;
  /** Whether it is an `initialize` request, valid or not. */
  isInitialize = false;
  /** Whether a modern request has every required member of `_meta`. */
  isComplete = false;
  checkedScopes: readonly string[] | undefined;

  /** Its legacy session, if it has one; streams of a session can be resumed. */
  session: HttpSession | undefined;
  #connection: Connection | undefined;
  /** Whether the reply may be an event stream. */
  mayStream = false;
  #stream: EventStream | undefined;
  #headers: Exchange["headers"];
  #accepted: Accepted | undefined;
  #waitsSince = 0;

  constructor(state: HttpState, request: HttpRequest, responder: HttpResponder) {
    this.state = state;
    this.request = request;
    this.responder = responder;
    this.isLate = state.closing;
  }

  /** The connection of its session, or one for this request alone. */
  get connection(): Connection {
    return (this.#connection ??=
      this.session?.connection ??
      new Connection(
        { transport: "http", principal: this.principal, caller: this.request.caller },
        ownOptions,
      ));
  }

  set connection(connection: Connection) {
    this.#connection = connection;
  }

  get accepted(): Accepted {
    return (this.#accepted ??= readAccept(this.request.header("accept")));
  }

  /** The headers as handlers see them: without the token, if `auth` has checked it. */
  get headers(): Exchange["headers"] {
    return (this.#headers ??= this.#readHeaders());
  }

  /** The revision that the `MCP-Protocol-Version` header names, if the server supports it. */
  get headerRevision(): Revision | undefined {
    return this.state.server.revisions.find(this.request.header(versionHeader)?.trim());
  }

  get stream(): EventStream | undefined {
    return this.mayStream ? (this.#stream ??= this.#makeStream()) : undefined;
  }

  /** The stream if it has been opened, which then gets the response. */
  get openStream(): EventStream | undefined {
    return this.#stream === undefined || this.#stream.state === "idle" ? undefined : this.#stream;
  }

  /** Passes a message or batch of the client to the server. */
  answer(message: ReadMessage): Answering<RpcResponse>;
  answer(incoming: Incoming): Answering<Answer>;
  answer(incoming: Incoming): Answering<Answer> {
    return this.state.server.answer(incoming, this);
  }

  /** Sends the whole reply. */
  reply(status: number, headers: HttpHeaders, text: string): void {
    this.connection.follower?.wrote(text);
    this.responder.reply(status, headers, text);
  }

  /** Waits for the answer and sends it. Not async: a suspended function would hold more memory, possibly for days. */
  sendLater<T>(
    answering: Promise<T>,
    send: (exchange: HttpExchange, answer: T) => Promise<void> | void,
  ): Promise<void> {
    this.#waitsSince = performance.now();
    // Listen requests are tended by `Listens`.
    if (this.mayStream && !this.row?.stream) this.state.heartbeat.add(this);
    this.session?.beginCall(this);
    return answering.then(
      (answer) => {
        this.#stopWaiting();
        return send(this, answer);
      },
      (error: unknown) => {
        this.#stopWaiting();
        throw error;
      },
    );
  }

  #stopWaiting(): void {
    this.state.heartbeat.delete(this);
    this.session?.endCall(this);
  }

  /** Whether the client still waits for a plain reply; an open stream knows its own connection. */
  get isAwaited(): boolean {
    return this.openStream === undefined && !this.responder.gone;
  }

  /** Drops the message, which the server has by now, to free its memory. */
  forgetBody(): void {
    this.incoming = noMessages;
  }

  /** Cancels the call because the client has disconnected. */
  cancel(): void {
    this.connection.inFlight.cancelAll("The client has disconnected");
  }

  tend(now: number): boolean {
    const { stream } = this;
    if (stream === undefined) return false;
    const { settings } = this.state;
    if (now - this.#waitsSince >= settings.streamAfterMs) stream.open();
    stream.tend(now, settings);
    return true;
  }

  /** Whether a listen stream has reached `maxStreamMs`, or its token has expired. */
  isOver(now: number): boolean {
    return now - this.#waitsSince >= this.state.settings.maxStreamMs || isPast(this.principal?.expiresAt);
  }

  /** Reports a refusal to `observe`, without a session: the id is only what the client claims. */
  report(status: number, error: RpcError): void {
    const { principal } = this;
    const event = { type: "refusal", transport: "http", status, principal } as const;
    this.state.server.observe?.({ ...event, errorCode: error.code, reason: error.message });
  }

  #makeStream(): EventStream {
    return this.session === undefined
      ? new EventStream(this.row?.stream ? "listen" : "post", this.responder, {
          host: this.state,
          connection: this.connection,
        })
      : this.session.streams.reply(this.responder, this.principal, () => requestIds(this.incoming));
  }

  #readHeaders(): Exchange["headers"] {
    const headers = this.request.headers();
    if (this.state.settings.auth === undefined) return plainHeaders(headers);
    const { authorization: _, ...others } = headers;
    return plainHeaders(others);
  }
}

/** The ids of the requests in a message or batch. */
function requestIds(incoming: Incoming): RequestId[] {
  const messages = isBatch(incoming) ? incoming.map(readMessage) : [incoming];
  return messages.flatMap((read) => (read.ok && read.kind === "request" ? [read.message.id] : []));
}

/** Stands for a body that has not been read, or was dropped. */
const noMessages: Incoming = [];

const both: Accepted = { json: true, events: true };

/** Reads an `Accept` header, without its parameters. A missing or empty one accepts everything. */
function readAccept(header: string | undefined): Accepted {
  // The value that the protocol requires, and nearly every client sends.
  if (header === "application/json, text/event-stream") return both;
  if (header === undefined || header.trim() === "") return both;
  const types = new Set(header.split(",").map((part) => part.split(";", 1)[0]?.trim().toLowerCase()));
  const admits = (type: string, group: string): boolean =>
    types.has(type) || types.has(group) || types.has("*/*");
  return { json: admits("application/json", "application/*"), events: admits("text/event-stream", "text/*") };
}
