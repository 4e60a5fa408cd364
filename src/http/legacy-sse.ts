// The HTTP+SSE transport of 2024-11-05: one GET stream per client, and a second path for its POSTs.
import type { Load } from "../limits/loads.ts";
import type { Principal } from "../protocol/model.ts";
import { identityOf, isPast, isSamePrincipal } from "../protocol/principal.ts";
import { randomId } from "../protocol/random-id.ts";
import { isGranted } from "../protocol/scopes.ts";
import { encodeTypedEvent, keepAliveComment } from "../wire/sse.ts";
import { Holdings, roomFor } from "../limits/holdings.ts";
import { Pipe } from "../pipe/pipe.ts";
import { logRejection } from "../diagnostics/rate-limited-log.ts";
import type { SessionEnd } from "../server/calls/notifications.ts";
import { isBatch, isSilentMessage } from "../wire/message.ts";
import { parseBody, refuseCrowded } from "./body.ts";
import type { HttpState } from "./state.ts";
import type { EventSink, HttpRequest } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";
import type { LegacySseOptions } from "./options.ts";
import { refuseContentType } from "./guard/guard.ts";
import type { Tended } from "./edge/heartbeat.ts";
import { refuseUnpermitted } from "./permission.ts";
import { accept, eventHeaders, refuse, refuseClosing } from "./edge/replies.ts";

interface Client {
  readonly pipe: Pipe;
  readonly sink: EventSink;
  /** Updated with each POST: the stream ends when its newest token expires, since a reconnect would lose the session. */
  principal: Principal | undefined;
  /** Whether the client does not read its stream, so that further responses would pile up. */
  isBehind: boolean;
}

export class LegacySse {
  readonly #state: HttpState;
  readonly #ssePath: string;
  readonly #messagePath: string;
  /** By the random token in the message URL that only this client receives. */
  readonly #clients = new Map<string, Client>();
  readonly #held: Holdings<Client>;

  constructor(state: HttpState, { ssePath, messagePath }: Required<LegacySseOptions>) {
    this.#state = state;
    this.#ssePath = ssePath;
    this.#messagePath = messagePath;
    this.#held = new Holdings(state.settings.limits.maxSessions);
  }

  get size(): number {
    return this.#clients.size;
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
    if (request.method !== allow) return refuse(responder, 405, "Method not allowed", { allow });
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
    const clients = [...this.#clients.values()];
    await Promise.all(
      clients.map(async ({ pipe }) => {
        await pipe.drain(graceMs);
        await pipe.end(0);
      }),
    );
    for (const { sink } of clients) sink.end();
    this.#clients.clear();
  }

  #open({ request, responder, principal, accepted }: HttpExchange): void {
    if (!accepted.events) return refuse(responder, 406, "Accept must allow text/event-stream");
    const { caller } = request;
    if (!this.#makeRoomFor(caller, principal)) {
      return refuse(responder, 503, "Too many streams are open", { "retry-after": "10" });
    }
    const token = randomId();
    const sink = responder.stream(eventHeaders);
    // The token ties each POST to this stream, which gets the response.
    sink.write(encodeTypedEvent("endpoint", `${this.#messagePath}?sessionId=${token}`));
    const pipe = new Pipe(
      this.#state.server,
      { write: (text) => sink.write(encodeTypedEvent("message", text)), destroy: () => sink.destroy() },
      {
        transport: "sse",
        principal: identityOf(principal),
        permits: (scopes) => isGranted(scopes, client.principal),
        caller,
        onResume: () => void (client.isBehind = false),
      },
    );
    sink.onDrain(() => pipe.drained());
    const client: Client = { pipe, sink, principal, isBehind: false };
    this.#clients.set(token, client);
    this.#held.add(caller, client);
    this.#state.heartbeat.add(this.#keepAlive(token, client));
    sink.onClose(() => {
      this.#clients.delete(token);
      this.#held.delete(caller, client);
      this.#endLater(client, 0, "left");
    });
  }

  /** Lets running calls finish within `graceMs`, then ends the stream, in the background. */
  #endLater({ pipe, sink }: Client, graceMs: number, reason: SessionEnd): void {
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

  #keepAlive(token: string, client: Client): Tended {
    const { keepAliveMs, graceMs } = this.#state.settings;
    const { sink } = client;
    let next = performance.now() + keepAliveMs;
    return {
      tend: (now) => {
        if (!this.#clients.has(token)) return false;
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

  #find(request: HttpRequest): Client | undefined {
    return this.#clients.get(new URLSearchParams(request.query).get("sessionId") ?? "");
  }

  async #receive(exchange: HttpExchange): Promise<void> {
    const { request, responder, principal } = exchange;
    if (refuseContentType(request, responder)) return;
    const client = this.#find(request);
    const isOwn = isSamePrincipal(client?.principal, principal);
    if (client === undefined || !isOwn)
      return refuse(responder, 404, "The stream does not exist: connect again");
    if (client.isBehind) {
      return refuse(responder, 429, "You do not read your event stream: read it before you send more", {
        "retry-after": "1",
      });
    }
    const { loads, limits } = this.#state.server;
    const load = loads.begin(request.caller);
    try {
      const parsed = parseBody(exchange, load, await request.body(limits.maxBytes, load));
      if (parsed === undefined || refuseCrowded(exchange, load, parsed)) return;
      if (this.#refuseLate(exchange) || (parsed.ok && refuseUnpermitted(exchange, parsed.value))) return;
      client.principal = principal;
      this.#pass(client, exchange, load);
    } finally {
      load.release();
    }
    accept(responder);
  }

  /** A closing server accepts only responses and notifications. Refuses any other message, and returns whether it did. */
  #refuseLate({ responder, incoming }: HttpExchange): boolean {
    if (!this.#state.closing || (!isBatch(incoming) && isSilentMessage(incoming))) return false;
    refuseClosing(responder);
    return true;
  }

  /** Passes the message to the pipe. It counts for its caller until the pipe has answered it on the stream. */
  #pass(client: Client, { incoming, principal, checkedScopes, counted }: HttpExchange, load: Load): void {
    counted?.retain();
    const release = load.hold();
    const onDone = (): void => {
      counted?.release();
      release();
    };
    client.isBehind = !client.pipe.receive(incoming, { principal, checkedScopes, load, onDone });
  }
}
