// The running calls of one connection, by id, to cancel them.
import type { RequestId } from "../../base/wire/message.ts";

export interface Cancellable {
  readonly id: RequestId;
  readonly row: { readonly uncancellable?: true };
  cancel(reason: string): void;
  /** Ends an open listen request with its closing result. Set only while it is open. */
  endListen: (() => void) | undefined;
}

/** Keeps each call apart: clients choose the ids, which need not be unique. */
export class InFlight {
  /** The first call, stored without a map: a modern HTTP connection has only one request. */
  #first: Cancellable | undefined;
  #others: Map<RequestId, Cancellable[]> | undefined;
  #size = 0;
  #listens = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of open listen requests. */
  get listens(): number {
    return this.#listens;
  }

  /** Marks the call as an open listen request. */
  openListen(call: Cancellable, end: () => void): void {
    call.endListen = end;
    this.#listens++;
  }

  /** Removes that mark. Returns false if there was none. */
  closeListen(call: Cancellable): boolean {
    if (!call.endListen) return false;
    call.endListen = undefined;
    this.#listens--;
    return true;
  }

  /** Ends the open listen requests, or those with this id, and returns their ids. */
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
    if (!this.#first) {
      this.#first = call;
      return;
    }
    this.#others ??= new Map();
    const same = this.#others.get(call.id);
    if (!same) this.#others.set(call.id, [call]);
    else same.push(call);
  }

  delete(call: Cancellable): void {
    this.#size--;
    if (call === this.#first) {
      this.#first = undefined;
      return;
    }
    const same = this.#others?.get(call.id);
    if (!same || same.length === 1) this.#others?.delete(call.id);
    else same.splice(same.indexOf(call), 1);
  }

  /** Cancels the call with this id. If several calls have the id, cancels none of them. */
  cancel(id: RequestId, reason: string): "cancelled" | "unknown" | "ambiguous" {
    const first = this.#first?.id === id ? [this.#first] : [];
    const [call, ...more] = [...first, ...(this.#others?.get(id) ?? [])];
    if (!call) return "unknown";
    if (more.length > 0) return "ambiguous";
    if (call.row.uncancellable) return "unknown";
    call.cancel(reason);
    return "cancelled";
  }

  /** Cancels all calls, because the peer has disconnected. */
  cancelAll(reason: string): void {
    for (const call of this.#all()) call.cancel(reason);
  }

  #all(): Cancellable[] {
    const others = [...(this.#others?.values() ?? [])].flat();
    return this.#first ? [this.#first, ...others] : others;
  }
}
