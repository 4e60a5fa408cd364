// The HTTP+SSE transport of 2024-11-05: one GET stream per client, and a second path for its POSTs.
import { PartKind } from "../../cluster/node/cluster.ts";
import type { Load } from "../../base/limits/loads.ts";
import type { Principal } from "../../protocol/model.ts";
import { identityOf, isGranted, isPast, isSamePrincipal } from "../../protocol/principal.ts";
import { randomId } from "../../base/wire/crypto.ts";
import { encodeTypedEvent, keepAliveComment } from "../../base/wire/sse.ts";
import { Holdings, roomFor } from "../../base/limits/holdings.ts";
import { Pipe } from "../../server/pipe.ts";
import { peerOf, type SessionEnd, type StreamEnd } from "../../server/diagnostics/events.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { isTaken } from "../../server/calls/answer.ts";
import { parseJson } from "../../base/wire/json.ts";
import { type Incoming, isBatch, isSilentMessage } from "../../base/wire/message.ts";
import { incomingOf, parseBody, refuseCrowded } from "./body.ts";
import type { ForwardedMessage, MessageStatus, SseForwarding } from "./legacy-sse-forward.ts";
import type { HttpState } from "./state.ts";
import type { EventSink, HttpBody, HttpRequest, HttpResponder } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";
import type { Filled } from "../../base/options.ts";
import type { LegacySseOptions } from "./options.ts";
import { refuseContentType } from "./guard.ts";
import type { Tended } from "./edge/heartbeat.ts";
import { refuseUnpermitted } from "./permission.ts";
import { accept, eventHeaders, refuseClosing, refuseWith } from "./edge/replies.ts";

/** A client that has a stream of HTTP+SSE. */
export interface LegacySseClient {
  readonly pipe: Pipe;
  readonly sink: EventSink;
  readonly openedAt: number;
  /** Updated with each POST: the stream ends when its newest token expires, since a reconnect would lose the session. */
  principal: Principal | undefined;
  /** Whether the client does not read its stream, so that further responses would pile up. */
  isBehind: boolean;
}

/** Messages that another node than that of the stream has received. */
export const forwardedSse: PartKind<typeof SseForwarding> = new PartKind("sse");

export class LegacySse {
  readonly #state: HttpState;
  readonly #ssePath: string;
  readonly #messagePath: string;
  /** By the random token in the message URL that only this client receives. */
  readonly clients: Map<string, LegacySseClient> = new Map();
  readonly #held: Holdings<LegacySseClient>;
  readonly #id = randomId(3);
  readonly #forwarding: SseForwarding | undefined;
  readonly #stopHearing: (() => void) | undefined;

  constructor(state: HttpState, { ssePath, messagePath }: Filled<LegacySseOptions>) {
    this.#state = state;
    const { cluster } = state.server;
    const Forwarding = cluster.part(forwardedSse);
    this.#forwarding = Forwarding && new Forwarding(cluster);
    this.#stopHearing = this.#forwarding?.onMessage({
      check: (token, sender) =>
        this.#isHere(token) ? statusFor(this.clients.get(token), sender) : undefined,
      take: (message) => this.#hear(message),
    });
    this.#ssePath = ssePath;
    this.#messagePath = messagePath;
    this.#held = new Holdings(state.settings.limits.maxSessions);
  }

  get size(): number {
    return this.clients.size;
  }

  /** Whether this transport serves the path. */
  isAt(path: string): boolean {
    return path === this.#ssePath || path === this.#messagePath;
  }

  /** Responds to a request to one of the two paths. */
  handle(exchange: HttpExchange): Promise<void> | void {
    const { request, responder } = exchange;
    const isStream = request.path === this.#ssePath;
    const allow = isStream ? "GET" : "POST";
    if (request.method !== allow) return refuseWith(responder, 405, "Method not allowed", { allow });
    return isStream ? this.#open(exchange) : this.#receive(exchange);
  }

  /** The client whose token the request carries. */
  clientOf(request: HttpRequest): object | undefined {
    return request.path === this.#messagePath ? this.#find(request) : undefined;
  }

  /** Whether the request is a POST of a message. */
  isMessage({ method, path }: HttpRequest): boolean {
    return method === "POST" && path === this.#messagePath;
  }

  /** Lets running calls finish within `graceMs`, with the answers to their questions, then closes every stream. */
  async close(graceMs: number): Promise<void> {
    const clients = [...this.clients.values()];
    await Promise.all(
      clients.map(async ({ pipe }) => {
        await pipe.drain(graceMs);
        await pipe.end(0);
      }),
    );
    for (const { sink } of clients) sink.end();
    this.clients.clear();
    this.#stopHearing?.();
  }

  #open(exchange: HttpExchange): Promise<void> | void {
    if (!exchange.accepted.events) {
      return refuseWith(exchange.responder, 406, "Accept must allow text/event-stream");
    }
    // The URL for messages contains the id of this node, which it has once it has joined.
    return this.#state.joined.then(() => this.#openHere(exchange));
  }

  #openHere({ request, responder, principal }: HttpExchange): void {
    const { caller } = request;
    if (!this.#makeRoomFor(caller, principal)) {
      return refuseWith(responder, 503, "Too many streams are open", { "retry-after": "10" });
    }
    const token = this.#tokenStart + randomId();
    const sink = responder.stream(eventHeaders);
    // The token ties each POST to this stream, which gets the response.
    sink.write(encodeTypedEvent("endpoint", `${this.#messagePath}?sessionId=${token}`));
    const pipe = new Pipe(
      this.#state.server,
      { write: (text) => this.#write(client, text), destroy: () => sink.destroy() },
      {
        transport: "sse",
        principal: identityOf(principal),
        permits: (scopes) => isGranted(scopes, client.principal),
        caller,
        onResume: () => void (client.isBehind = false),
      },
    );
    sink.onDrain(() => pipe.drained());
    const client: LegacySseClient = { pipe, sink, openedAt: performance.now(), principal, isBehind: false };
    this.#tell(client, "opened");
    this.clients.set(token, client);
    this.#held.add(caller, client);
    this.#state.heartbeat.add(this.#keepAlive(token, client));
    sink.onClose(() => {
      this.clients.delete(token);
      this.#held.delete(caller, client);
      this.#tell(client, "closed", sink.isDestroyed ? "slow" : "cut");
      this.#endLater(client, 0, "left");
    });
  }

  #write({ sink }: LegacySseClient, text: string): boolean {
    return sink.write(encodeTypedEvent("message", text));
  }

  #tell(
    { pipe: { connection }, sink }: LegacySseClient,
    state: "opened" | "closed",
    reason?: StreamEnd,
  ): void {
    const { server } = this.#state;
    const stream = { type: "stream", kind: "sse", state, reason, bytes: 0, backlog: sink.unsent } as const;
    const event = { ...stream, ...peerOf(connection) };
    server.observe?.(event);
    connection.follower?.changed(event);
  }

  /** Lets running calls finish within `graceMs`, then ends the stream, in the background. */
  #endLater({ pipe, sink }: LegacySseClient, graceMs: number, reason: SessionEnd): void {
    logRejection(
      this.#state.server.logger,
      "The end of a stream",
      pipe.end(graceMs, reason).then(() => sink.end()),
    );
  }

  /**
   * Returns whether the caller may open a stream. When the limit is reached, it ends the oldest stream of the caller that has the
   * most, if that is more than this one has.
   */
  #makeRoomFor(caller: string, principal: Principal | undefined): boolean {
    const { maxSessionsPerPrincipal } = this.#state.settings.limits;
    const room = roomFor(this.#held, caller, principal ? maxSessionsPerPrincipal : Number.POSITIVE_INFINITY);
    if (typeof room === "boolean") return room;
    this.#endLater(room, 0, "evicted");
    return true;
  }

  #keepAlive(token: string, client: LegacySseClient): Tended {
    const { keepAliveMs, graceMs } = this.#state.settings;
    const { sink } = client;
    let next = performance.now() + keepAliveMs;
    return {
      tend: (now) => {
        if (!this.clients.has(token)) return false;
        if (isPast(client.principal?.expiresAt)) {
          this.#endLater(client, graceMs, "expired");
          return false;
        }
        sink.watch();
        if (now >= next) {
          sink.write(keepAliveComment);
          next = now + keepAliveMs;
        }
        return true;
      },
    };
  }

  /** Begins every token, so that each node knows which node, and which endpoint of it, has the stream. */
  get #tokenStart(): string {
    const { node } = this.#state.server.cluster;
    return node === "" ? "" : `${node}.${this.#id}.`;
  }

  /** Whether a token is of this endpoint; a process may have several. */
  #isHere(token: string): boolean {
    return token.startsWith(this.#tokenStart);
  }

  #find(request: HttpRequest): LegacySseClient | undefined {
    return this.clients.get(tokenOf(request));
  }

  async #receive(exchange: HttpExchange): Promise<void> {
    const { request, responder, principal } = exchange;
    if (refuseContentType(request, responder)) return;
    const { loads, limits } = this.#state.server;
    const client = this.#find(request);
    const token = tokenOf(request);
    const node = client === undefined ? this.#forwarding?.nodeOf(token) : undefined;
    const status = node === undefined ? statusFor(client, principal) : 202;
    if (status !== 202) return replyTo(responder, status);
    const load = loads.begin(request.caller);
    try {
      const body = await request.body(limits.maxBytes, load);
      const parsed = parseBody(exchange, load, body);
      if (parsed === undefined || refuseCrowded(exchange, load, parsed)) return;
      if (this.#refuseLate(exchange) || (parsed.ok && refuseUnpermitted(exchange, parsed.value))) return;
      if (client !== undefined) this.#pass(client, exchange, load);
      else if (this.#forwarding !== undefined && node !== undefined) {
        const { checkedScopes } = exchange;
        const message = { token, text: textOf(body), caller: request.caller, principal, checkedScopes };
        load.stay();
        return replyTo(responder, await this.#forwarding.forward(node, message));
      }
    } finally {
      load.release();
    }
    accept(responder);
  }

  /** Refuses a message that arrives after the server began to close, and returns whether it did. */
  #refuseLate({ responder, incoming }: HttpExchange): boolean {
    if (!this.#isTooLate(incoming)) return false;
    refuseClosing(responder);
    return true;
  }

  /** A closing server accepts only responses and notifications. */
  #isTooLate(incoming: Incoming): boolean {
    return this.#state.closing && (isBatch(incoming) || !isSilentMessage(incoming));
  }

  /** Takes a message that another node has received. It is never passed on again. */
  #hear(message: ForwardedMessage): MessageStatus | undefined {
    if (!this.#isHere(message.token)) return undefined;
    const client = this.clients.get(message.token);
    const status = statusFor(client, message.principal);
    if (client === undefined || status !== 202) return status;
    const { loads, limits } = this.#state.server;
    const parsed = parseJson(message.text, limits);
    const incoming = incomingOf(parsed);
    if (this.#isTooLate(incoming)) return 503;
    const load = loads.begin(message.caller);
    try {
      if (parsed.ok && !isTaken(load, parsed.weight, incoming)) return 429;
      this.#pass(client, { ...message, incoming }, load);
      return status;
    } finally {
      load.release();
    }
  }

  /** Passes the message to the pipe. It counts for its caller until the pipe has answered it on the stream. */
  #pass(
    client: LegacySseClient,
    { incoming, principal, checkedScopes, counted }: PassedMessage,
    load: Load,
  ): void {
    client.principal = principal;
    counted?.retain();
    const release = load.hold();
    const onDone = (): void => {
      counted?.release();
      release();
    };
    client.isBehind = !client.pipe.receive(incoming, { principal, checkedScopes, load, onDone });
  }
}

/** The parts of a message that the pipe needs. */
type PassedMessage = Pick<HttpExchange, "incoming" | "principal" | "checkedScopes"> &
  Partial<Pick<HttpExchange, "counted">>;

function tokenOf(request: HttpRequest): string {
  return new URLSearchParams(request.query).get("sessionId") ?? "";
}

/** Whether a message of this sender can be passed to the client's stream, as the status of the response. */
function statusFor(client: LegacySseClient | undefined, principal: Principal | undefined): MessageStatus {
  if (client === undefined || !isSamePrincipal(client.principal, principal)) return 404;
  return client.isBehind ? 429 : 202;
}

/** Responds to a message that was passed on, or could not be. */
function replyTo(responder: HttpResponder, status: MessageStatus): void {
  if (status === 202) return accept(responder);
  const [problem, retryAfter] = problems[status];
  refuseWith(responder, status, problem, retryAfter === undefined ? {} : { "retry-after": retryAfter });
}

const problems: Readonly<
  Record<Exclude<MessageStatus, 202>, readonly [problem: string, retryAfter?: string]>
> = {
  404: ["The stream does not exist: connect again"],
  429: ["You do not read your event stream: read it before you send more", "1"],
  503: ["The server that has your event stream does not respond: try again later", "5"],
  504: ["The server that has your event stream has not confirmed the message: it may have run"],
};

/** The text of a body; a framework may have parsed it. */
function textOf(body: HttpBody): string {
  return body.kind === "text" ? body.text : JSON.stringify(body.kind === "parsed" ? body.value : undefined);
}
