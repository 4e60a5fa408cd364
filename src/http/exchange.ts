// One HTTP request being answered: what is known of it is found once, and every route reads it here.
import { errorCodes } from "../errors.ts";
import type { Load } from "../limits/loads.ts";
import type { Principal } from "../protocol/model.ts";
import { isPast } from "../protocol/principal.ts";
import type { RequestRow, Revision } from "../protocol/revision.ts";
import { Connection, type Exchange } from "../server/context/connection.ts";
import type { Incoming, RpcError } from "../wire/message.ts";
import type { Tended } from "./edge/heartbeat.ts";
import type { HttpRequest, HttpResponder, RefusalWatch } from "./edge/request.ts";
import type { CountedRequest } from "./rate-limits/rate-limits.ts";
import type { HttpSession } from "./session.ts";
import type { HttpState } from "./state.ts";
import { EventStream } from "./streams/event-stream.ts";

export const versionHeader = "mcp-protocol-version";
export const sessionHeader = "mcp-session-id";

/** Which kinds of answer a client takes. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

/**
 * What the server sees of a request, and more. What a short call never looks at is not made for it. While its answer is waited
 * for it is tended: if that takes long, a stream keeps proxies in between from cutting the connection.
 */
export class HttpExchange implements Exchange, Tended, RefusalWatch {
  readonly state: HttpState;
  readonly request: HttpRequest;
  /** Replaced once, where pages of other origins may read the reply. */
  responder: HttpResponder;
  place: number | undefined;
  /** Whether it came in after the server had begun to close. */
  readonly isLate: boolean;

  /** Who is calling; set once that is known. */
  principal: Principal | undefined;
  /** What the rate limits count it as, where there are any. */
  counted: CountedRequest | undefined;

  /** What the body of a POST weighs, and the message or batch that it holds. */
  load: Load | undefined;
  incoming: Incoming = unread;
  /** The address of the peer: a socket that has been closed no longer knows it. */
  address: string | undefined;
  /** What `classify` has found. */
  era: "modern" | undefined;
  revision: Revision | undefined;
  row: RequestRow | undefined;
  /** Whether it asks for the handshake of the legacy era, in a message that may still be refused. */
  isInitialize = false;
  /** Whether a modern request has all that its `_meta` must have. */
  isComplete = false;
  checkedScopes: readonly string[] | undefined;

  /** The session that it is answered in; its replies can be resumed. */
  session: HttpSession | undefined;
  #connection: Connection | undefined;
  /** Whether events may be sent before the answer, or with it. */
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

  /** The connection of its session, or one that only this request has. */
  get connection(): Connection {
    return (this.#connection ??= this.session?.connection ?? this.#ownConnection());
  }

  set connection(connection: Connection) {
    this.#connection = connection;
  }

  get accepted(): Accepted {
    return (this.#accepted ??= readAccept(this.request.header("accept")));
  }

  /** The headers as handlers see them: a token that authenticates its bearer here is for nobody else. */
  get headers(): Exchange["headers"] {
    return (this.#headers ??= this.#readHeaders());
  }

  /** The revision that the version header names, if the server speaks it. */
  get headerRevision(): Revision | undefined {
    return this.state.server.revisions.find(this.request.header(versionHeader)?.trim());
  }

  get stream(): EventStream | undefined {
    return this.mayStream ? (this.#stream ??= this.#makeStream()) : undefined;
  }

  /** The stream, if it has been opened: the answer goes there. */
  get openStream(): EventStream | undefined {
    return this.#stream === undefined || this.#stream.state === "idle" ? undefined : this.#stream;
  }

  /** Waits for an answer that is not there at once, then sends it. Not a suspended function: it may wait for days. */
  sendLater<T>(
    answering: Promise<T>,
    send: (exchange: HttpExchange, answer: T) => Promise<void> | void,
  ): Promise<void> {
    this.#waitsSince = performance.now();
    // Listen requests are tended by their owner.
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

  /** Whether the client waits for the answer on the connection that it asked on; that of a stream is the stream's to know. */
  get isAwaited(): boolean {
    return this.openStream === undefined && !this.responder.gone;
  }

  /** The server has the message, and may keep less of it. */
  forgetBody(): void {
    this.incoming = unread;
  }

  /** The client has gone: what it asked for need not be done. */
  cancel(): void {
    this.connection.inFlight.cancelAll("The client has gone");
  }

  tend(now: number): boolean {
    const { stream } = this;
    if (stream === undefined) return false;
    const { settings } = this.state;
    if (now - this.#waitsSince >= settings.streamAfterMs) stream.open();
    stream.tend(now, settings);
    return true;
  }

  /** Whether the stream of a listen request has had its time, or the token that opened it. */
  isOver(now: number): boolean {
    return now - this.#waitsSince >= this.state.settings.maxStreamMs || isPast(this.principal?.expiresAt);
  }

  /** Tells `observe` that the endpoint has refused it. No session is named: its id is what the client claims, not what was found. */
  report(status: number, error: RpcError): void {
    const { principal } = this;
    const event = { type: "refusal", transport: "http", status, principal } as const;
    this.state.server.observe?.({ ...event, errorCode: error.code, reason: error.message });
  }

  #ownConnection(): Connection {
    const { principal } = this;
    return new Connection({ transport: "http", principal, caller: this.request.caller });
  }

  #makeStream(): EventStream {
    return this.session === undefined
      ? new EventStream("post", this.responder)
      : this.session.streams.reply(this.responder, this.principal);
  }

  #readHeaders(): Exchange["headers"] {
    const headers = this.request.headers();
    if (this.state.settings.auth === undefined) return headers;
    const { authorization: _, ...others } = headers;
    return others;
  }
}

const unread: Incoming = {
  ok: false,
  id: undefined,
  error: { code: errorCodes.invalidRequest, message: "The body has not been read" },
};

const both: Accepted = { json: true, events: true };

/** Reads an `Accept` header; parameters such as quality are ignored. One that says nothing, or everything, allows both. */
function readAccept(header: string | undefined): Accepted {
  // What nearly every client sends, as the protocol demands.
  if (header === "application/json, text/event-stream") return both;
  if (header === undefined || header.trim() === "") return both;
  const types = new Set(header.split(",").map((part) => part.split(";", 1)[0]?.trim().toLowerCase()));
  const admits = (type: string, group: string): boolean =>
    types.has(type) || types.has(group) || types.has("*/*");
  return { json: admits("application/json", "application/*"), events: admits("text/event-stream", "text/*") };
}
