// The calls of one connection that are running, found by id to be cancelled.
import type { RequestId } from "../../wire/message.ts";

export interface Cancellable {
  readonly id: RequestId;
  readonly row: { readonly uncancellable?: true };
  cancel(reason: string): void;
  /** Ends it with its closing result; set while it is an open listen request. */
  endListen: (() => void) | undefined;
}

/** Ids come from the client and need not be unique, so each call is kept for itself. */
export class InFlight {
  /** The first call. A connection of one request, as each modern one over HTTP is, needs no more. */
  #first: Cancellable | undefined;
  #others: Map<RequestId, Cancellable[]> | undefined;
  #size = 0;
  #listens = 0;

  get size(): number {
    return this.#size;
  }

  /** How many of them are open listen requests. */
  get listens(): number {
    return this.#listens;
  }

  /** The call is an open listen request from now on. */
  openListen(call: Cancellable, end: () => void): void {
    call.endListen = end;
    this.#listens++;
  }

  /** It is no longer one. False when it was none. */
  closeListen(call: Cancellable): boolean {
    if (call.endListen === undefined) return false;
    call.endListen = undefined;
    this.#listens--;
    return true;
  }

  /** Ends the open listen requests, or those with this id; returns the ids of those that were open. */
  endListens(id?: RequestId): RequestId[] {
    const open = this.#all().filter((call) => call.endListen !== undefined && (id ?? call.id) === call.id);
    for (const call of open) call.endListen?.();
    return open.map((call) => call.id);
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
    for (const call of this.#all()) call.cancel(reason);
  }

  #all(): Cancellable[] {
    const others = [...(this.#others?.values() ?? [])].flat();
    return this.#first === undefined ? others : [this.#first, ...others];
  }
}
