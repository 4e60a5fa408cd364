// One request to the server: posts it, and reads the response from the reply or from a resumed stream.
import { later } from "../../base/async/later.ts";
import { inBackground } from "../../base/async/timers.ts";
import type { RpcNotification, RpcRequest, RpcResponse } from "../../base/wire/message.ts";
import { Attempts, backoffPause } from "../channel/backoff.ts";
import type { ChannelRequest } from "../channel/channel.ts";
import { type IncomingSink, readIncomingText, withoutKnownSecrets } from "../channel/incoming.ts";
import { ConnectionLost, HttpFailure, InvalidResponse } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import { isEventStream, ReceivedStream } from "./event-stream.ts";
import { isGatewayLoss, wrongTypeOf } from "./failure.ts";
import type { HttpLink } from "./link.ts";
import type { HttpReply } from "./send.ts";
import { Silence } from "./silence.ts";

/** How long a stream may stay open after the response. */
const lingerMs = 1000;

/** An abort reason without the cost of a stack trace. */
const over = Symbol("over");

const resuming = later(
  () => import("./get-stream.ts"),
  ({ readByGet }) => readByGet,
);

export class Post implements IncomingSink {
  readonly outgoing: ChannelRequest;
  readonly #link: HttpLink;
  readonly #resolve: (response: RpcResponse | Promise<RpcResponse>) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #controller = new AbortController();
  #isSettled = false;
  #attempts: Attempts | undefined;
  #silentFor: string | undefined;
  #problem: string | undefined;
  /** Whether a response arrived that no request waits for. */
  #hasStray = false;

  constructor(
    link: HttpLink,
    outgoing: ChannelRequest,
    resolve: (response: RpcResponse | Promise<RpcResponse>) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#link = link;
    this.outgoing = outgoing;
    this.#resolve = resolve;
    this.#reject = reject;
    outgoing.onAbandoned = (reason) => this.#abandon(reason);
  }

  async start(): Promise<void> {
    try {
      const link = this.#link;
      const { outgoing } = this;
      const { url, receiver } = link;
      const { signal } = this.#controller;
      const headers = link.headers.ofRequest(outgoing);
      receiver.tap?.("sent", this.#name, outgoing.text);
      const { text: body, budget } = outgoing;
      const reply = await link.requester.send({ url, method: "POST", headers, body, signal, budget });
      if (this.#isSettled) return reply.cancel();
      const type = reply.header("content-type");
      if (reply.status !== 200) return await this.#refuse(reply, type);
      if (outgoing.method === "initialize") link.takeSession(reply);
      if (isJson(type)) {
        this.#receive(await reply.text(link.limits.maxBytes));
        if (!this.#isSettled)
          this.fail((this.#hasStray && this.#strayed(reply, this.#missing)) || this.#noResponse());
      } else if (isEventStream(reply)) await this.#readStream(reply);
      else this.fail(await wrongTypeOf(reply, url, receiver.secrets));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the request without a response. */
  fail(reason: unknown): void {
    if (!this.#settle()) return;
    this.#reject(reason);
    this.#controller.abort(over);
  }

  /** Ends the request with its response, or passes a response on to another request. */
  response(response: RpcResponse): void {
    const { id } = response;
    const isOurs = id === this.outgoing.id || (id == null && "error" in response);
    if (isOurs) {
      if (this.#settle()) this.#resolve(withoutKnownSecrets(response, this.#link.receiver.secrets));
    } else if (!this.#link.respond(response)) this.#hasStray = true;
  }

  /** Ends the request with a response from the stream of another request. Its own reply will have none. */
  respondedElsewhere(response: RpcResponse): void {
    this.response(response);
    this.#controller.abort(over);
  }

  message(message: RpcRequest | RpcNotification): void {
    this.#link.receiver.message(message, this.#name);
  }

  invalid(problem: string): void {
    this.#problem = problem;
    this.#link.receiver.ignored(`${this.#name}: ${problem}`);
  }

  get #name(): string {
    const { id, isStream } = this.outgoing;
    return `${isStream ? "listen" : "post"}-${id}`;
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#link.settled(this.outgoing.id);
    return true;
  }

  #abandon(reason: unknown): void {
    if (this.#isSettled) return;
    const { id, isUncancellable } = this.outgoing;
    this.fail(reason);
    if (this.#link.isLegacy && !isUncancellable) this.#link.cancel(id);
  }

  #receive(text: string): void {
    const { receiver, limits } = this.#link;
    receiver.tap?.("received", this.#name, text);
    readIncomingText(text, limits, this);
  }

  #noResponse(): InvalidResponse {
    const { method, isUncancellable } = this.outgoing;
    // Only the requests of the handshake cannot be cancelled.
    const doubt = isUncancellable ? `, from ${shownUrl(this.#link.url)}: is it an MCP endpoint?` : "";
    return new InvalidResponse(`${method}: ${this.#problem ?? this.#missing}${doubt}`);
  }

  get #missing(): string {
    return `the reply has no response with the id ${JSON.stringify(this.outgoing.id)}`;
  }

  /** The error for a reply to another request, if the connection may have carried an extra reply to an earlier one. */
  #strayed(reply: HttpReply, problem: string): ConnectionLost | undefined {
    if (!reply.mayBeStray) return undefined;
    reply.distrust?.();
    return this.#cut(problem);
  }

  /** Handles a status other than 200, whose body may still have the response. */
  async #refuse(reply: HttpReply, type: string | undefined): Promise<void> {
    const link = this.#link;
    const { status } = reply;
    const isSessionGone = status === 404 && link.hasSession && this.outgoing.method !== "initialize";
    if (isSessionGone) {
      reply.cancel();
      return this.fail(link.sessionGone());
    }
    if (status < 300) {
      reply.cancel();
      const { method } = this.outgoing;
      const message = `${shownUrl(link.url)} answered ${method} with ${status}, and no response: is it an MCP endpoint?`;
      const failure = new HttpFailure({ status, url: link.url, body: "" }, message);
      return this.fail(this.#strayed(reply, `the reply is ${status}, without a response`) ?? failure);
    }
    const mayRespond = isJson(type) && status !== 429 && !isGatewayLoss(status);
    const text = mayRespond ? await reply.text(link.limits.maxBytes) : undefined;
    if (text !== undefined) {
      link.receiver.tap?.("received", this.#name, text);
      // Most bodies of errors are not messages.
      readIncomingText(text, link.limits, {
        message: (message) => this.message(message),
        response: (response) => {
          // A 404 or 405 usually means that the address takes no such requests, so its error counts only with the id of this
          // request.
          if ((status !== 404 && status !== 405) || response.id === this.outgoing.id) this.response(response);
        },
        invalid: () => {},
      });
    }
    if (!this.#isSettled) this.fail(await link.failureOf(reply, text));
  }

  async #readStream(reply: HttpReply): Promise<void> {
    const { url, limits, isLegacy, receiver } = this.#link;
    const { isStream } = this.outgoing;
    let linger: ReturnType<typeof setTimeout> | undefined;
    const events = new ReceivedStream(url, limits.maxBytes, (text, { type }) => {
      if (type !== "message") return;
      this.#attempts?.reset();
      this.#receive(text);
      if (this.#isSettled) linger ??= inBackground(setTimeout(() => this.#controller.abort(over), lingerMs));
    });
    const silence = isStream ? new Silence((reason) => this.#die(reason)) : undefined;
    let cause: unknown;
    if (isStream) receiver.stream("opened", this.#name);
    try {
      await events.read(reply, silence);
    } catch (error) {
      if (error instanceof InvalidResponse) return this.fail(error);
      cause = error;
    } finally {
      clearTimeout(linger);
      silence?.stop();
    }
    if (this.#isSettled) return;
    if (this.#hasStray && reply.mayBeStray) reply.distrust?.();
    if (isLegacy && events.lastId !== undefined) return this.#resume(events);
    if (isStream) receiver.stream("lost", this.#name, this.#silentFor);
    this.fail(this.#cut(this.#silentFor ?? "the stream ended", cause));
  }

  /** Resumes the stream after its last event, as often as needed. */
  async #resume(events: ReceivedStream): Promise<void> {
    this.#attempts = new Attempts(this.#link.backoff, true);
    const { signal } = this.#controller;
    const readByGet = await resuming.get();
    for (let floorMs = 0; ;) {
      floorMs = Math.max(floorMs, events.retryMs);
      const waitMs = this.#attempts.next(floorMs);
      if (waitMs === undefined) return this.fail(this.#cut("the stream could not be resumed"));
      await backoffPause(waitMs, signal, floorMs);
      const outcome = await readByGet(this.#link, events, { signal, budget: this.outgoing.budget });
      if (this.#isSettled) return;
      if (outcome.kind === "refused") return this.fail(this.#cut(outcome.reason));
      floorMs = outcome.floorMs ?? 0;
    }
  }

  /** Ends the request, because its stream stays open without any data. */
  #die(reason: string): void {
    this.#silentFor = reason;
    this.#controller.abort(over);
  }

  #cut(what: string, cause?: unknown): ConnectionLost {
    const message = `The connection to ${shownUrl(this.#link.url)} broke before the response: ${what}`;
    return new ConnectionLost("cut", message, { mayHaveRun: true, cause });
  }
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\b/i.test(type);
}
