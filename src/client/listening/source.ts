// The seam between a listening and the eras: a source subscribes in the way of its era.
import type { Change, ListenFilter } from "./filter.ts";

/** Receives what happens to a subscription. */
export interface Sink {
  /** The server honours this filter. Called again after the subscription was restored. */
  acknowledged(honoured: ListenFilter): void;
  changed(change: Change): void;
  /** Changes may have been missed. */
  gap(): void;
}

/** Subscribes at the server. */
export interface Source {
  /**
   * Resolves when the server has ended the subscription in an orderly way. Rejects when it failed or was lost, and with the
   * reason of `signal`.
   */
  subscribe(wanted: ListenFilter, sink: Sink, signal: AbortSignal): Promise<void>;
}
