// A channel over Streamable HTTP: each message is a POST, and messages outside requests arrive on a stream that GET opens.
import { Ending } from "../../base/async/ending.ts";
import { later } from "../../base/async/later.ts";
import { ignoreRejection } from "../../base/async/promises.ts";
import { inBackground, within } from "../../base/async/timers.ts";
import type { Revision } from "../../protocol/revision.ts";
import { encodeNotification, type RequestId, type RpcResponse } from "../../base/wire/message.ts";
import type { Channel, ChannelRequest, Receiver } from "../channel/channel.ts";
import { answersNothing } from "../channel/incoming.ts";
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import type { HeaderFields } from "../settings/auth.ts";
import type { Backoff, ClientLimits } from "../settings/limits.ts";
import { refusals } from "./auth.ts";
import { failureOf } from "./failure.ts";
import type { GetStream } from "./get-stream.ts";
import { ChannelHeaders, isSessionId } from "./headers.ts";
import type { HttpLink } from "./link.ts";
import { type HttpReply, sessionLoss } from "./send.ts";
import { Post } from "./post.ts";
import type { Requester } from "./requester.ts";

/** How long a server may take to accept a notification, or an answer to its question. */
const acceptMs = 60_000;
/** How long a final message may take, which ends a session or cancels a request. */
const farewellMs = 2000;
/** How long connecting waits for the stream of a legacy session to open. */
const openingMs = 1000;

const getStream = later(
  () => import("./get-stream.ts"),
  ({ GetStream }) => GetStream,
);

export interface HttpChannelOptions {
  readonly url: string;
  readonly requester: Requester;
  /** The headers that the user adds to every request. */
  readonly headers: HeaderFields;
  readonly limits: ClientLimits;
  readonly backoff: Backoff;
}

export class HttpChannel implements Channel, HttpLink {
  readonly url: string;
  readonly requester: Requester;
  readonly headers: ChannelHeaders;
  readonly receiver: Receiver;
  readonly limits: ClientLimits;
  readonly backoff: Backoff;
  readonly #posts = new Map<RequestId, Post>();
  /** The messages that the server has not accepted yet. */
  readonly #sendings = new Set<AbortController>();
  readonly #closing = new Ending(wasClosed);
  #revision: Revision | undefined;
  #sessionId: string | undefined;
  #stream: GetStream | undefined;
  #sessionEnd: ConnectionLost | undefined;

  constructor(options: HttpChannelOptions, receiver: Receiver) {
    this.url = options.url;
    this.requester = options.requester;
    this.limits = options.limits;
    this.backoff = options.backoff;
    this.headers = new ChannelHeaders(options.headers, receiver.secrets);
    this.receiver = receiver;
  }

  get isLegacy(): boolean {
    return this.#revision?.era === "legacy";
  }

  /** True even after the session is gone, so that each running request gets its own 404. */
  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  /** Why no more requests can be sent. */
  get #end(): Error | undefined {
    return this.#sessionEnd ?? (this.#closing.isOver ? this.#closing.reason : undefined);
  }

  get isListening(): boolean {
    return this.#stream?.isOpen ?? false;
  }

  request(outgoing: ChannelRequest): Promise<RpcResponse> {
    return new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end);
      const post = new Post(this, outgoing, resolve, reject);
      this.#posts.set(outgoing.id, post);
      void post.start();
    });
  }

  async send(text: string): Promise<void> {
    if (this.#end) throw this.#end;
    const { url } = this;
    const sending = new AbortController();
    const timer = inBackground(setTimeout(() => sending.abort(notAccepted(url)), acceptMs));
    this.#sendings.add(sending);
    this.receiver.tap?.("sent", "post", text);
    try {
      const headers = this.headers.ofMessage(text);
      const { signal } = sending;
      const reply = await this.requester.send({ url, method: "POST", headers, body: text, signal });
      if (reply.status === 404 && this.hasSession) {
        reply.cancel();
        throw this.sessionGone();
      }
      if (reply.status >= 300) throw await this.failureOf(reply);
      reply.cancel();
    } finally {
      clearTimeout(timer);
      this.#sendings.delete(sending);
    }
  }

  speak(revision: Revision): void {
    this.#revision = revision;
    this.headers.use(revision, this.#sessionId);
  }

  async listen(): Promise<void> {
    if (!this.isLegacy) return;
    await this.#listen().catch((error: unknown) => this.receiver.stream("given-up", "get", String(error)));
  }

  async close(): Promise<void> {
    if (this.#closing.isOver) return;
    const isGone = this.#sessionEnd !== undefined;
    this.#closing.end();
    this.#stream?.stop();
    for (const post of this.#posts.values()) post.fail(this.#closing.reason);
    for (const sending of this.#sendings) sending.abort(this.#closing.reason);
    if (this.hasSession && !isGone) await this.#farewell("DELETE", this.headers.ofDelete());
    this.requester.closeIdle();
  }

  takeSession(reply: HttpReply): void {
    const id = reply.header("mcp-session-id");
    if (id === undefined) return;
    if (!isSessionId(id)) {
      reply.cancel();
      throw new InvalidResponse(
        `${shownUrl(this.url)} sent a session id with characters that are not visible ASCII`,
      );
    }
    this.#sessionId = id;
    this.receiver.secrets.add("mcp-session-id", id);
  }

  async failureOf(reply: HttpReply, text?: string): Promise<Error> {
    const isUnknown = this.isLegacy && !this.hasSession && reply.status === 400;
    const { url } = this;
    const hint = isUnknown ? (await refusals.get()).exposureHint(reply, url, "Mcp-Session-Id") : undefined;
    return failureOf(reply, url, this.receiver.secrets, text, hint);
  }

  sessionGone(): ConnectionLost {
    this.#sessionEnd ??= sessionLoss(this.url);
    this.#stream?.stop();
    return this.#sessionEnd;
  }

  cancel(id: RequestId): void {
    if (this.#end) return;
    const text = encodeNotification("notifications/cancelled", { requestId: id });
    this.receiver.tap?.("sent", "post", text);
    void this.#farewell("POST", this.headers.ofMessage(text), text);
  }

  settled(id: RequestId): void {
    this.#posts.delete(id);
    this.#stream?.revive();
  }

  respond(response: RpcResponse): boolean {
    const post = response.id == null || !this.isLegacy ? undefined : this.#posts.get(response.id);
    if (post) post.respondedElsewhere(response);
    else this.receiver.ignored(answersNothing(response));
    return post !== undefined;
  }

  async #listen(): Promise<void> {
    const GetStream = await getStream.get();
    if (this.#stream || this.#end) return;
    this.#stream = new GetStream(this);
    // Some servers drop messages before this stream is open. Others send no headers before they have a message to send.
    await within(openingMs, this.#stream.start());
  }

  /** Sends a final message, and ignores whether it arrives. */
  async #farewell(method: "POST" | "DELETE", headers: Record<string, string>, body?: string): Promise<void> {
    const signal = AbortSignal.timeout(farewellMs);
    const { url } = this;
    const sending = this.requester.send({ url, method, headers, body, signal, isFarewell: true });
    await ignoreRejection(sending).then(
      (reply) => reply.cancel(),
      () => {},
    );
  }
}

function wasClosed(): ConnectionLost {
  return new ConnectionLost("closed", "The client was closed", { mayHaveRun: true });
}

function notAccepted(url: string): ConnectionLost {
  const message = `${shownUrl(url)} did not accept a message within ${acceptMs / 1000} s`;
  return new ConnectionLost("cut", message, { mayHaveRun: true });
}
