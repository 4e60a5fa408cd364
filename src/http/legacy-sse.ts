// The HTTP+SSE transport of 2024-11-05: one stream per client, and a second path that takes its messages.
import type { Load } from "../limits/loads.ts";
import type { Principal } from "../protocol/model.ts";
import { identityOf, isPast, isSamePrincipal } from "../protocol/principal.ts";
import { randomId } from "../protocol/random-id.ts";
import { isGranted } from "../protocol/scopes.ts";
import { encodeTypedEvent, keepAliveComment } from "../wire/sse.ts";
import { Holdings } from "../limits/holdings.ts";
import { Pipe } from "../pipe/pipe.ts";
import { logRejection } from "../diagnostics/rate-limited-log.ts";
import type { SessionEnd } from "../server/calls/notifications.ts";
import { isBatch, isSilentMessage } from "../wire/message.ts";
import { parseBody, refuseCrowded } from "./body.ts";
import type { HttpState } from "./state.ts";
import type { EventSink, HttpRequest } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";
import { contentTypeRefusal } from "./guard/guard.ts";
import type { Tended } from "./edge/heartbeat.ts";
import { refuseUnpermitted } from "./permission.ts";
import { accept, eventHeaders, refuse, refuseClosing } from "./edge/replies.ts";

interface Client {
  readonly pipe: Pipe;
  readonly sink: EventSink;
  /** Whoever opened the stream, with the freshest token they have shown: to come back would cost them their session. */
  principal: Principal | undefined;
  /** Its stream is not being read: answers to more messages would only pile up. */
  isBehind: boolean;
}

export class LegacySse {
  readonly #state: HttpState;
  readonly #paths: { readonly ssePath: string; readonly messagePath: string };
  /** By the token that only the client of the stream is told. */
  readonly #clients = new Map<string, Client>();
  readonly #held: Holdings<Client>;

  constructor(state: HttpState, paths: { readonly ssePath: string; readonly messagePath: string }) {
    this.#state = state;
    this.#paths = paths;
    this.#held = new Holdings(state.settings.limits.maxSessions);
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Whether it answers requests to this path. */
  isAt(path: string): boolean {
    return path === this.#paths.ssePath || path === this.#paths.messagePath;
  }

  /** Answers a request to one of the two paths. */
  handle(exchange: HttpExchange): Promise<void> | void {
    const { request, responder } = exchange;
    const isStream = request.path === this.#paths.ssePath;
    const allow = isStream ? "GET" : "POST";
    if (request.method !== allow) return refuse(responder, 405, "Method not allowed", { allow });
    return isStream ? this.#open(exchange) : this.#receive(exchange);
  }

  /** The client whose token a message carries. */
  clientOf(request: HttpRequest): object | undefined {
    return request.path === this.#paths.messagePath ? this.#find(request) : undefined;
  }

  /** Whether a request brings a message of a client that is connected. */
  isMessage({ method, path }: HttpRequest): boolean {
    return method === "POST" && path === this.#paths.messagePath;
  }

  /** Running calls may finish within `graceMs`, and hear what they ask; then every stream is closed. */
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
    // The token is what ties a message to its stream: replies go nowhere else.
    sink.write(encodeTypedEvent("endpoint", `${this.#paths.messagePath}?sessionId=${token}`));
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

  /** Lets running calls finish within that time, then ends the stream; nobody waits for it. */
  #endLater({ pipe, sink }: Client, graceMs: number, reason: SessionEnd): void {
    logRejection(
      this.#state.server.logger,
      "The end of a stream",
      pipe.end(graceMs, reason).then(() => sink.end()),
    );
  }

  /** Every stream has a client. When all are taken, the oldest of whoever has the most ends, if that is more than the newcomer has. */
  #makeRoomFor(caller: string, principal: Principal | undefined): boolean {
    const { maxSessions, maxSessionsPerPrincipal } = this.#state.settings.limits;
    const { shares } = this.#held;
    if (principal !== undefined && shares.of(caller) >= maxSessionsPerPrincipal) return false;
    if (shares.total < maxSessions) return true;
    const ending = this.#held.oldestBefore(caller);
    if (ending === undefined) return false;
    this.#endLater(ending, 0, "evicted");
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
    const refusal = contentTypeRefusal(request.header("content-type"));
    if (refusal !== undefined) return refuse(responder, refusal.status, refusal.reason);
    const client = this.#find(request);
    const isOwn = isSamePrincipal(client?.principal, principal);
    if (client === undefined || !isOwn)
      return refuse(responder, 404, "There is no such stream: connect again");
    if (client.isBehind) {
      return refuse(responder, 429, "Read what waits on the stream first", { "retry-after": "1" });
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

  /** A server that is closing takes only what running calls may wait for. True when it has refused the message. */
  #refuseLate({ responder, incoming }: HttpExchange): boolean {
    if (!this.#state.closing || (!isBatch(incoming) && isSilentMessage(incoming))) return false;
    refuseClosing(responder);
    return true;
  }

  /** Gives the message to the pipe. The answer comes on the stream: until then it is weighed and counted. */
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
