// The calls of one connection that are running: found by id to be cancelled, and waited for at the end.
import type { RequestId } from "../wire/message.ts";

export interface Cancellable {
  readonly id: RequestId;
  cancel(reason: string): void;
}

/** Ids come from the client and need not be unique, so each call is kept for itself. */
export class InFlight {
  readonly #calls = new Map<RequestId, Cancellable | Cancellable[]>();
  #size = 0;
  #idle: (() => void)[] = [];

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
    const known = this.#calls.get(call.id);
    const rest = Array.isArray(known) ? known.filter((other) => other !== call) : [];
    if (rest.length === 0) this.#calls.delete(call.id);
    else this.#calls.set(call.id, rest.length === 1 && rest[0] ? rest[0] : rest);
    if (--this.#size === 0) for (const wake of this.#idle.splice(0)) wake();
  }

  /** Cancels the call with this id. Two calls with the same id cannot be told apart, so neither is. */
  cancel(id: RequestId, reason: string): "cancelled" | "unknown" | "ambiguous" {
    const known = this.#calls.get(id);
    if (known === undefined) return "unknown";
    if (Array.isArray(known)) return "ambiguous";
    known.cancel(reason);
    return "cancelled";
  }

  /** The peer is gone: cancels everything. */
  cancelAll(reason: string): void {
    for (const call of [...this.#calls.values()].flat()) call.cancel(reason);
  }

  /** Resolves once nothing runs. */
  idle(): Promise<void> {
    return this.#size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}
