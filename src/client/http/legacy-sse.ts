// The HTTP+SSE transport of 2024-11-05 as a wire: a GET stream carries the server's messages, and names the URL for the client's.
import { clip } from "../../base/errors.ts";
import type { Wire } from "../../base/wire/wire.ts";
import type { Channel, Receiver } from "../channel/channel.ts";
import { PipeChannel } from "../channel/pipe-channel.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { ConnectionLost, HttpFailure } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import type { HeaderFields } from "../settings/auth.ts";
import type { ClientLimits } from "../settings/limits.ts";
import { isEventStream, ReceivedStream } from "./event-stream.ts";
import { failureOf, wrongTypeOf } from "./failure.ts";
import { sessionLoss } from "./send.ts";
import type { Requester } from "./requester.ts";
import { Silence } from "./silence.ts";

/** The longest URL for messages, because every message repeats it. */
const maxEndpointLength = 8192;

export interface SseWireParts {
  readonly url: string;
  readonly requester: Requester;
  /** The headers that the user adds to every request. */
  readonly headers: HeaderFields;
  readonly limits: ClientLimits;
}

/** Opens the stream, and resolves when the server has named the URL for messages. */
export async function openLegacySse(
  parts: SseWireParts,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<Channel> {
  const wire = new LegacySseWire(parts, receiver.secrets);
  const stop = (): void => void wire.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await wire.open();
    return new PipeChannel(wire, receiver, parts.limits);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

class LegacySseWire implements Wire {
  onMessage: (text: string) => void = () => {};
  onClose: (reason: Error) => void = () => {};
  readonly #parts: SseWireParts;
  readonly #secrets: Secrets;
  readonly #controller = new AbortController();
  #endpoint: string | undefined;
  #reason = "the server ended the stream";

  constructor(parts: SseWireParts, secrets: Secrets) {
    this.#parts = parts;
    this.#secrets = secrets;
  }

  async open(): Promise<void> {
    const { url, requester, headers: common } = this.#parts;
    const { signal } = this.#controller;
    const headers = { ...common, accept: "text/event-stream" };
    const reply = await requester.send({ url, method: "GET", headers, signal });
    if (reply.status !== 200) throw await failureOf(reply, url, this.#secrets);
    if (!isEventStream(reply)) throw await wrongTypeOf(reply, url, this.#secrets);
    return new Promise((resolve, reject) => {
      const events = new ReceivedStream(url, this.#parts.limits.maxBytes, (data, { type }) => {
        if (type === "message" && this.#endpoint !== undefined) return this.onMessage(data);
        if (type !== "endpoint" || this.#endpoint !== undefined) return;
        this.#endpoint = endpointOf(data, url);
        this.#secrets.addAll(new URL(this.#endpoint).searchParams, "endpoint");
        resolve();
      });
      const silence = new Silence((reason) => {
        this.#reason = reason;
        this.#controller.abort();
      });
      events
        .read(reply, silence)
        .catch((error: unknown) => error)
        .then((error: unknown) => {
          silence.stop();
          const lost = this.#endpoint === undefined ? this.#notOffered(error) : this.#lost(error);
          reject(lost);
          this.onClose(lost);
        });
    });
  }

  async send(text: string): Promise<void> {
    const { requester, headers: common } = this.#parts;
    const { signal } = this.#controller;
    const url = this.#endpoint as string;
    const headers = {
      ...common,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const reply = await requester
      .send({ url, method: "POST", headers, body: text, signal })
      .catch((error) => {
        // The server may have read the message that was being sent when the stream was lost.
        throw signal.aborted ? this.#lost(error) : error;
      });
    if (reply.status === 404) {
      reply.cancel();
      throw sessionLoss(url);
    }
    if (reply.status >= 300) throw await failureOf(reply, url, this.#secrets);
    reply.cancel();
  }

  async close(): Promise<void> {
    this.#controller.abort();
    this.#parts.requester.closeIdle();
  }

  #lost(cause: unknown): ConnectionLost {
    const message = `The connection to ${shownUrl(this.#parts.url)} broke: ${this.#reason}`;
    return new ConnectionLost("cut", message, { mayHaveRun: true, cause });
  }

  /** Converts the end of a stream that never named the URL to an error. */
  #notOffered(error: unknown): Error {
    if (error instanceof Error && !(error instanceof ConnectionLost)) return error;
    const { url } = this.#parts;
    const message = `The stream of ${shownUrl(url)} has no endpoint event: is it an MCP endpoint?`;
    return new HttpFailure({ status: 200, url, body: "" }, message);
  }
}

/** The URL for messages. It must be of the same origin: it gets the credentials of the client. */
function endpointOf(data: string, url: string): string {
  const isShort = data.length <= maxEndpointLength;
  const endpoint = isShort && URL.canParse(data, url) ? new URL(data, url) : undefined;
  if (endpoint?.origin === new URL(url).origin) return endpoint.href;
  const problem = isShort ? "is not of the same origin" : `has more than ${maxEndpointLength} characters`;
  const shown = isShort ? shownUrl(data) : clip(data);
  const message = `${shownUrl(url)} names ${shown} for messages, which ${problem}`;
  throw new HttpFailure({ status: 200, url, body: "" }, message);
}
