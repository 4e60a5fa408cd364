// The transport for servers that a wire reaches: in the same process, or over a transport of your own.
import { untilAborted } from "../../base/async/promises.ts";
import { HalyardError } from "../../base/errors.ts";
import { Secrets } from "../redaction/secrets.ts";
import { ConnectionLost } from "../settings/errors.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { Channel, Receiver, Transport } from "./channel.ts";
import { PipeChannel } from "./pipe-channel.ts";
import type { WireSource } from "../../base/wire/wire.ts";

export class WireTransport implements Transport {
  readonly kind = "wire";
  readonly hasHeaders = false;
  readonly address = "wire";
  readonly secrets: Secrets = new Secrets();
  readonly reopens: boolean;
  readonly #source: WireSource;
  readonly #limits: ClientLimits;

  constructor(source: WireSource, limits: ClientLimits) {
    this.#source = source;
    this.#limits = limits;
    this.reopens = source.reopens ?? true;
  }

  async open(receiver: Receiver, signal: AbortSignal): Promise<Channel> {
    const opening = this.#open(receiver);
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      // If the wire opens after the failure, it is closed.
      opening.then((channel) => channel.close()).catch(() => {});
      if (signal.aborted || error instanceof HalyardError) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      throw new ConnectionLost("unreachable", `${this.address}: ${problem}`, {
        mayHaveRun: false,
        cause: error,
      });
    }
  }

  async #open(receiver: Receiver): Promise<Channel> {
    return new PipeChannel(await this.#source.openWire(), receiver, this.#limits);
  }
}
