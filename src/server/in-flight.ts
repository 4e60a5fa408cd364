// The calls of one connection that are running, found by id to be cancelled.
import type { RequestId } from "../wire/message.ts";

export interface Cancellable {
  readonly id: RequestId;
  readonly row: { readonly uncancellable?: true };
  cancel(reason: string): void;
}

/** Ids come from the client and need not be unique, so each call is kept for itself. */
export class InFlight {
  #size = 0;
  readonly #calls = new Map<RequestId, Cancellable | Cancellable[]>();

  get size(): number {
    return this.#size;
  }

  has(id: RequestId): boolean {
    return this.#calls.has(id);
  }

  add(call: Cancellable): void {
    const known = this.#calls.get(call.id);
    this.#calls.set(call.id, known === undefined ? call : [known, call].flat());
    this.#size++;
  }

  delete(call: Cancellable): void {
    this.#size--;
    const known = this.#calls.get(call.id);
    if (Array.isArray(known)) {
      const [first, ...others] = known.filter((other) => other !== call);
      if (first !== undefined) this.#calls.set(call.id, others.length === 0 ? first : [first, ...others]);
    } else {
      this.#calls.delete(call.id);
    }
  }

  /** Cancels the call with this id. Two calls with the same id cannot be told apart, so neither is. */
  cancel(id: RequestId, reason: string): "cancelled" | "unknown" | "ambiguous" {
    const known = this.#calls.get(id);
    if (known === undefined) return "unknown";
    if (Array.isArray(known)) return "ambiguous";
    if (known.row.uncancellable) return "unknown";
    known.cancel(reason);
    return "cancelled";
  }

  /** The peer is gone: cancels everything. */
  cancelAll(reason: string): void {
    for (const call of [...this.#calls.values()].flat()) call.cancel(reason);
  }
}
