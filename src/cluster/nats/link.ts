// A node's use of the NATS connection: its requests fail at once while the server is away, and it gets ready again afterwards.
import { pauseInBackground } from "../../base/async/timers.ts";
import type { EngineReceiver } from "../engine/engine.ts";
import type { Logger } from "../../base/logging/logger.ts";
import type { NatsConnection, NatsMessage, NatsSubscription } from "./connection.ts";

/** Milliseconds that a request may take. */
const requestMs = 5000;

/** Milliseconds between attempts to get ready again: the first, and the longest. */
const [firstPauseMs, longestPauseMs] = [50, 2000];

export interface LinkOptions {
  readonly connection: NatsConnection;
  readonly receiver: EngineReceiver;
  readonly logger: Logger;
  /** Creates the streams that this node needs on the server, unless they exist. */
  readonly prepare: () => Promise<void>;
}

export class NatsLink {
  readonly #options: LinkOptions;
  readonly #statuses: AsyncIterable<{ readonly type: string }> & { stop?: () => void };
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #subscriptions = new Set<NatsSubscription>();
  /** Why the engine cannot be used now. */
  #problem: Error | undefined = new Error("The node is joining");
  #isConnected = true;
  #outages = 0;
  /** The outage from which the node recovers. */
  #recovering = -1;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#statuses = options.connection.status();
  }

  /** Resolves when everything that the node needs exists on the server. */
  async open(): Promise<void> {
    void this.#watch();
    void this.#options.connection.closed().then((reason) => {
      if (!this.#isClosed) this.#disconnect(new Error("The NATS connection is closed", { cause: reason }));
    });
    const { prepare } = this.#options;
    const outages = this.#outages;
    await prepare();
    if (outages === this.#outages) this.#problem = undefined;
  }

  /** Throws while the server is away, or lacks what this node needs. */
  check(): void {
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** Sends a request. Rejects after a time, and as soon as the connection is lost. */
  request(subject: string, payload: Uint8Array, headers?: NatsHeaders): Promise<NatsMessage> {
    const connection = this.#connected(payload.length + (headers?.encode().length ?? 0));
    const options = { timeout: requestMs, ...(headers && { headers }) };
    // Without a response the server may be gone, although the connection is open: further requests would only queue up.
    const timer = setTimeout(
      () => this.interrupt(new Error(`NATS did not answer within ${requestMs} ms`)),
      requestMs,
    );
    return this.unlessLost(connection.request(subject, payload, options)).finally(() => clearTimeout(timer));
  }

  /** Rejects as soon as the connection is lost. The NATS client itself would keep waiting. */
  async unlessLost<Result>(work: Promise<Result>): Promise<Result> {
    let reject: (error: Error) => void = () => {};
    const lost = new Promise<never>((_, fail) => {
      reject = fail;
    });
    this.#waiting.add(reject);
    try {
      return await Promise.race([work, lost]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  publish(subject: string, payload: Uint8Array, reply?: string): void {
    this.#connected(payload.length).publish(subject, payload, ...(reply === undefined ? [] : [{ reply }]));
  }

  /** The NATS client subscribes again itself after it has reconnected. */
  subscribe(subject: string, take: (message: NatsMessage) => void): NatsSubscription {
    const { connection, logger } = this.#options;
    // An exception in a callback would stop the NATS client from reading.
    const callback = (error: unknown, message: NatsMessage): void => {
      try {
        if (error)
          logger.error(`NATS rejects the subscription to ${subject}: check the permissions`, { error });
        else take(message);
      } catch (failure) {
        logger.error("A message from NATS could not be handled", { error: failure });
      }
    };
    const subscription = connection.subscribe(subject, { callback });
    this.#subscriptions.add(subscription);
    return {
      unsubscribe: () => {
        if (this.#subscriptions.delete(subscription)) subscription.unsubscribe();
      },
    };
  }

  /** Called when something that the node needs has disappeared from the server, with its data. */
  interrupt(error: Error): void {
    if (this.#problem !== undefined) return;
    this.#lose(error);
    void this.#recover();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isConnected = false;
    this.#outages++;
    this.#problem = new Error("The node has left the cluster");
    this.#statuses.stop?.();
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#subscriptions.clear();
    this.#rejectWaiting(this.#problem);
  }

  /** Throws without a connection, because the NATS client would queue messages, and send them later. */
  #connected(bytes: number): NatsConnection {
    const { connection } = this.#options;
    if (!this.#isConnected) this.check();
    checkSize(connection, bytes);
    return connection;
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#statuses) {
      if (this.#isClosed) return;
      if (type === "disconnect") this.#disconnect(new Error("The connection to the NATS server is lost"));
      if (type !== "reconnect") continue;
      this.#isConnected = true;
      void this.#recover();
    }
  }

  #disconnect(error: Error): void {
    this.#isConnected = false;
    this.#lose(error);
  }

  #lose(error: Error): void {
    const isNews = this.#problem === undefined;
    this.#problem = error;
    this.#outages++;
    this.#rejectWaiting(error);
    if (isNews) this.#options.receiver.lost(error);
  }

  #rejectWaiting(error: Error): void {
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** The NATS client may report several times that it has reconnected. */
  async #recover(): Promise<void> {
    const outage = this.#outages;
    if (this.#recovering === outage) return;
    this.#recovering = outage;
    const isOver = (): boolean => outage !== this.#outages;
    for (let pauseMs = firstPauseMs; !(await this.#isPrepared(pauseMs)); pauseMs = nextPause(pauseMs)) {
      if (isOver()) return;
      await pauseInBackground(pauseMs);
      if (isOver()) return;
    }
    if (isOver()) return;
    this.#problem = undefined;
    this.#options.receiver.back();
  }

  /** The server handles subscriptions and requests in order, so its reply also proves that this node receives again. */
  async #isPrepared(pauseMs: number): Promise<boolean> {
    const { prepare, logger } = this.#options;
    try {
      await prepare();
      return true;
    } catch (error) {
      if (pauseMs === longestPauseMs && this.#isConnected) {
        logger.warn("The NATS server is there again, but cannot be used", { error });
      }
      return false;
    }
  }
}

function nextPause(pauseMs: number): number {
  return Math.min(2 * pauseMs, longestPauseMs);
}

/** Headers in the form of the NATS client, which calls `encode`. */
export interface NatsHeaders {
  encode(): Uint8Array;
}

/** The NATS client would reject it too, but without the numbers in the message. */
function checkSize({ info }: NatsConnection, bytes: number): void {
  if (info === undefined || bytes <= info.max_payload) return;
  throw new RangeError(
    `A message of ${bytes} bytes is too large for NATS, which takes ${info.max_payload}: raise max_payload in the configuration of the server`,
  );
}
