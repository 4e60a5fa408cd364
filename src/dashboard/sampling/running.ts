// The running calls, and the clients of listen requests. The server updates this while a page is open.
import type { Implementation } from "../../protocol/model.ts";
import type { Call } from "../../server/calls/call.ts";
import { keptClientOf } from "./peers.ts";

export class Running extends Map<Call, number> {
  /** The clients of listen requests by their connections, because a call drops its client when its stream is open. */
  readonly #listening = new WeakMap<object, Implementation>();

  override set(call: Call, startedAt: number): this {
    const { client } = call.row.stream ? call : { client: undefined };
    if (client !== undefined) this.#listening.set(call.exchange.connection, keptClientOf(client));
    return super.set(call, startedAt);
  }

  /** The client whose listen request has this connection, if it was opened while a page was open. */
  clientOf(connection: object): Implementation | undefined {
    return this.#listening.get(connection);
  }

  /** The calls that run, without listen requests, which stay open. */
  *calls(): IterableIterator<[call: Call, startedAt: number]> {
    for (const entry of this.entries()) if (!entry[0].row.stream) yield entry;
  }
}
