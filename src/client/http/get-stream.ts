// Streams that GET opens: one connection, from the start or after the last event; and the stream of a legacy session, which is
// reopened after a loss.
import type { CallBudget } from "../channel/channel.ts";
import { ConnectionLost, InvalidResponse } from "../settings/errors.ts";
import { isEventStream, ReceivedStream } from "./event-stream.ts";
import { isTransientFailure, readRetryAfter } from "./failure.ts";
import type { HttpLink } from "./link.ts";
import type { HttpReply } from "./send.ts";
import { Silence } from "./silence.ts";
import { Attempts, backoffPause } from "../channel/backoff.ts";
import { readIncomingText } from "../channel/incoming.ts";

/** The outcome of a connection. */
export interface GetOutcome {
  /** `ended` after it opened, `failed` for now, or `refused` because the server does not offer it. */
  readonly kind: "ended" | "failed" | "refused";
  readonly reason: string;
  readonly status?: number;
  /** How long the server asks to wait. */
  readonly floorMs?: number | undefined;
}

export interface GetOptions {
  readonly signal: AbortSignal;
  readonly budget?: CallBudget | undefined;
  /** Watches the connection from the request on, because the headers of its reply may never arrive. */
  readonly silence?: Silence;
  readonly onOpen?: () => void;
}

/** Rejects only when the signal is aborted. */
export async function readByGet(
  link: HttpLink,
  events: ReceivedStream,
  options: GetOptions,
): Promise<GetOutcome> {
  const { signal, budget, silence, onOpen } = options;
  const { lastId } = events;
  let isOpen = false;
  try {
    const headers = link.headers.ofGet(lastId);
    const reply = await link.requester.send({ url: link.url, method: "GET", headers, signal, budget });
    if (reply.status !== 200 || !isEventStream(reply)) return refusalOf(reply);
    isOpen = true;
    silence?.heard();
    onOpen?.();
    await events.read(reply, silence);
    return { kind: "ended", reason: "the server ended it" };
  } catch (error) {
    if (signal.aborted) throw error;
    const { message: reason, status } = error as Error & { status?: number };
    if (error instanceof InvalidResponse) link.receiver.ignored(reason);
    const isTransientLoss = error instanceof ConnectionLost;
    return {
      kind: isTransientLoss ? (isOpen ? "ended" : "failed") : "refused",
      reason,
      ...(status && { status }),
    };
  }
}

function refusalOf(reply: HttpReply): GetOutcome {
  const { status } = reply;
  const floorMs = readRetryAfter(reply.header("retry-after"));
  reply.cancel();
  // A success without an event stream may be an extra reply to an earlier request on the same connection.
  const isStray = status < 300 && reply.mayBeStray;
  if (isStray) reply.distrust?.();
  const kind = isStray || isTransientFailure(status) ? "failed" : "refused";
  return { kind, status, floorMs, reason: `the server answered ${status}` };
}

const name = "get";

/**
 * If a connection lasted this long, its end does not count as a failed attempt: some gateways cut every connection after a
 * minute.
 */
const longLivedMs = 30_000;

/** An abort reason without the cost of a stack trace. */
const closed = Symbol("closed");

export class GetStream {
  readonly #link: HttpLink;
  readonly #events: ReceivedStream;
  readonly #attempts: Attempts;
  readonly #whole = new AbortController();
  /** Aborts the open connection, or the next one. */
  #connection = new AbortController();
  #silentFor: string | undefined;
  #wasOpen = false;
  #mayHaveMissed = false;
  #openedAt = 0;
  #givenUpAt: number | undefined;
  #settle: () => void = () => {};
  isOpen = false;

  constructor(link: HttpLink) {
    this.#link = link;
    this.#attempts = new Attempts(link.backoff, true);
    this.#events = new ReceivedStream(link.url, link.limits.maxBytes, (data, { type }) => {
      if (type === "message") this.#take(data);
    });
  }

  /** Resolves when the stream is open, or could not be opened at first. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#run().catch(() => {});
    });
  }

  /**
   * Tries a stream that was given up once more, because the server has just responded to another request. At most once per
   * `maxMs`.
   */
  revive(): void {
    if (this.#givenUpAt === undefined || this.#whole.signal.aborted) return;
    if (performance.now() - this.#givenUpAt < this.#link.backoff.maxMs) return;
    this.#givenUpAt = undefined;
    void this.start();
  }

  stop(): void {
    this.#whole.abort(closed);
    this.#connection.abort(closed);
    this.isOpen = false;
  }

  async #run(): Promise<void> {
    while (!this.#whole.signal.aborted) {
      const outcome = await this.#connect();
      this.#settle();
      if (this.#whole.signal.aborted) return;
      const floorMs = Math.max(outcome.floorMs ?? 0, this.#events.retryMs);
      const waitMs = this.#nextWait(outcome, floorMs);
      if (waitMs === undefined) return;
      await backoffPause(waitMs, this.#whole.signal, floorMs);
    }
  }

  /** Reads one connection to its end. */
  async #connect(): Promise<GetOutcome> {
    this.#connection = new AbortController();
    this.#silentFor = undefined;
    const { signal } = this.#connection;
    const silence = new Silence((reason) => {
      this.#silentFor = reason;
      this.#connection.abort(closed);
    });
    try {
      const onOpen = (): void => this.#opened();
      return await readByGet(this.#link, this.#events, { signal, silence, onOpen });
    } catch {
      return { kind: this.isOpen ? "ended" : "failed", reason: this.#silentFor ?? "it was closed" };
    } finally {
      silence.stop();
      this.isOpen = false;
    }
  }

  #opened(): void {
    const { receiver } = this.#link;
    const isGap = this.#mayHaveMissed || (this.#wasOpen && this.#events.lastId === undefined);
    receiver.stream(this.#wasOpen ? "resumed" : "opened", name);
    this.isOpen = this.#wasOpen = true;
    this.#mayHaveMissed = false;
    this.#openedAt = performance.now();
    this.#settle();
    if (isGap) receiver.gap();
  }

  /** How long to wait before the next connection, at least `floorMs`; undefined if the client gives up. */
  #nextWait({ kind, reason, status }: GetOutcome, floorMs: number): number | undefined {
    const { receiver, hasSession } = this.#link;
    if (kind === "refused") {
      if (status === 404 && this.#wasOpen && hasSession) {
        receiver.ended(this.#link.sessionGone());
        return undefined;
      }
      // A server without the stream refuses the first attempt.
      if (!this.#wasOpen) {
        receiver.stream("given-up", name, reason);
        return undefined;
      }
      this.#mayHaveMissed = true;
      this.#events.forget();
    }
    if (kind === "ended" && performance.now() - this.#openedAt > longLivedMs) this.#attempts.reset();
    const waitMs = this.#attempts.next(floorMs);
    if (kind === "ended" || waitMs === undefined) {
      receiver.stream(waitMs === undefined ? "given-up" : "lost", name, reason);
    }
    if (waitMs === undefined) this.#givenUpAt = performance.now();
    return waitMs;
  }

  #take(text: string): void {
    const { receiver, limits } = this.#link;
    this.#attempts.reset();
    receiver.tap?.("received", name, text);
    readIncomingText(text, limits, {
      message: (message) => receiver.message(message, name),
      response: (response) => void this.#link.respond(response),
      invalid: (problem) => receiver.ignored(problem),
    });
  }
}
