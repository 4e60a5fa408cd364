// Subscriptions at a modern server: one `subscriptions/listen` stream each, whose messages carry the id of their request.
import { clip, errorCodes } from "../../base/errors.ts";
import { metaKeys } from "../../protocol/meta.ts";
import { isObject, type RequestId, type RpcNotification } from "../../base/wire/message.ts";
import type { ClientCore } from "../calls/core.ts";
import { CallTimeout, ConnectionLost, InvalidResponse, RpcRejection } from "../settings/errors.ts";
import {
  changeNotifications,
  changeOf,
  isEmpty,
  type ListenFilter,
  nothingOffered,
  readAcknowledged,
  toListenParams,
} from "./filter.ts";
import type { Sink, Source } from "./listening.ts";

const method = "subscriptions/listen";
const acknowledged = "notifications/subscriptions/acknowledged";

/** One open stream. */
interface ListenStream {
  readonly wanted: ListenFilter;
  readonly sink: Sink;
  readonly stop: AbortController;
  honoured: ListenFilter | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class ListenStreams implements Source {
  readonly #core: ClientCore;
  readonly #timeoutMs: number;
  readonly #open = new Map<unknown, ListenStream>();
  #isRouting = false;

  /** `timeoutMs`: how long a server may take to acknowledge a subscription. */
  constructor(core: ClientCore, timeoutMs: number) {
    this.#core = core;
    this.#timeoutMs = timeoutMs;
  }

  async subscribe(wanted: ListenFilter, sink: Sink, signal: AbortSignal): Promise<void> {
    this.#route();
    const stop = new AbortController();
    const forward = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", forward);
    const stream: ListenStream = { wanted, sink, stop, honoured: undefined, timer: undefined };
    let id: RequestId | undefined;
    const onSent = (sent: RequestId): void => {
      this.#open.delete(id);
      this.#open.set((id = sent), stream);
      stream.timer ??= setTimeout(
        () => stop.abort(new CallTimeout("timeoutMs", this.#timeoutMs, method)),
        this.#timeoutMs,
      );
    };
    try {
      const params = toListenParams(wanted, this.#core.peer.revision);
      await this.#core.request(method, params, { isStream: true, signal: stop.signal, onSent });
      if (!stream.honoured)
        throw new InvalidResponse(`The server ended ${method} without an acknowledgement`);
    } catch (error) {
      if (error instanceof RpcRejection && error.code === errorCodes.methodNotFound)
        throw nothingOffered(wanted, this.#core.peer.address, error);
      if (!(error instanceof EndedByServer)) throw error;
    } finally {
      clearTimeout(stream.timer);
      signal.removeEventListener("abort", forward);
      this.#open.delete(id);
    }
  }

  /** Called by the first subscription: routes each message to the stream that it names. */
  #route(): void {
    if (this.#isRouting) return;
    this.#isRouting = true;
    const on = (name: string, take: (stream: ListenStream, message: RpcNotification) => void): void =>
      void this.#core.onNotification(name, (message) => {
        if (this.#core.peer.revision.era !== "modern") return;
        const meta = message.params?.["_meta"];
        const id = isObject(meta) ? meta[metaKeys.subscriptionId] : undefined;
        const stream = this.#open.get(id);
        if (stream) take(stream, message);
        else this.#ignore(`${name} names no open subscription: ${clip(JSON.stringify(id) ?? "missing")}`);
      });
    on(acknowledged, (stream, message) => this.#acknowledge(stream, message));
    for (const name of changeNotifications.keys()) {
      on(name, (stream, message) => this.#change(stream, message));
    }
    // Ends the streams of the previous connection, so that later messages on it are ignored.
    this.#core.onReopened(() => {
      const lost = new ConnectionLost("cut", "The client has a new connection", { mayHaveRun: true });
      for (const { stop } of this.#open.values()) stop.abort(lost);
    });
    this.#core.onNotification("notifications/cancelled", ({ params }) =>
      this.#open.get(params?.["requestId"])?.stop.abort(new EndedByServer()),
    );
  }

  #acknowledge(stream: ListenStream, { params }: RpcNotification): void {
    if (stream.honoured) return this.#ignore("A subscription was acknowledged twice");
    clearTimeout(stream.timer);
    const { honoured, unasked } = readAcknowledged(
      params?.["notifications"],
      stream.wanted,
      this.#core.peer.revision,
    );
    if (unasked.length > 0)
      this.#ignore(
        `The server acknowledged members that the client did not request: ${clip(unasked.join(", "))}`,
      );
    if (isEmpty(honoured)) return stream.stop.abort(nothingOffered(stream.wanted, this.#core.peer.address));
    stream.honoured = honoured;
    stream.sink.acknowledged(honoured);
  }

  #change({ wanted, honoured, sink }: ListenStream, { method: name, params }: RpcNotification): void {
    const change = changeOf(wanted, name, params);
    if (!change) return this.#ignore(`${name} was not subscribed to`);
    if (!honoured) this.#ignore(`${name} came before the acknowledgement of its subscription`);
    sink.changed(change);
  }

  #ignore(reason: string): void {
    this.#core.observe({ type: "ignored", reason });
  }
}

/** The server has cancelled a subscription, which is an orderly end. */
class EndedByServer extends Error {}
