// The calls of one connection that are running, found by id to be cancelled.
import type { RequestId } from "../../wire/message.ts";

export interface Cancellable {
  readonly id: RequestId;
  readonly row: { readonly uncancellable?: true };
  cancel(reason: string): void;
}

/** Ids come from the client and need not be unique, so each call is kept for itself. */
export class InFlight {
  /** The first call. A connection of one request, as each modern one over HTTP is, needs no more. */
  #first: Cancellable | undefined;
  #others: Map<RequestId, Cancellable[]> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: RequestId): boolean {
    return this.#first?.id === id || this.#others?.has(id) === true;
  }

  add(call: Cancellable): void {
    this.#size++;
    if (this.#first === undefined) {
      this.#first = call;
      return;
    }
    this.#others ??= new Map();
    const same = this.#others.get(call.id);
    if (same === undefined) this.#others.set(call.id, [call]);
    else same.push(call);
  }

  delete(call: Cancellable): void {
    this.#size--;
    if (call === this.#first) {
      this.#first = undefined;
      return;
    }
    const same = this.#others?.get(call.id);
    if (same === undefined || same.length === 1) this.#others?.delete(call.id);
    else same.splice(same.indexOf(call), 1);
  }

  /** Cancels the call with this id. Two calls with the same id cannot be told apart, so neither is. */
  cancel(id: RequestId, reason: string): "cancelled" | "unknown" | "ambiguous" {
    const first = this.#first?.id === id ? [this.#first] : [];
    const [call, ...more] = [...first, ...(this.#others?.get(id) ?? [])];
    if (call === undefined) return "unknown";
    if (more.length > 0) return "ambiguous";
    if (call.row.uncancellable) return "unknown";
    call.cancel(reason);
    return "cancelled";
  }

  /** The peer is gone: cancels everything. */
  cancelAll(reason: string): void {
    const others = [...(this.#others?.values() ?? [])].flat();
    this.#first?.cancel(reason);
    for (const call of others) call.cancel(reason);
  }
}
