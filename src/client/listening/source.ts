// The seam between a listening and the eras: a source subscribes at the server, in the way of its era.
import type { Change, ListenFilter } from "./filter.ts";

/** Receives what happens to a subscription. */
export interface Sink {
  /** The server honours this much; called again if the subscription had to be restored. */
  acknowledged(honoured: ListenFilter): void;
  changed(change: Change): void;
  /** Changes may have been missed. */
  gap(): void;
}

/** Subscribes at the server. */
export interface Source {
  /**
   * Resolves when the server has ended the subscription in good order; rejects when it failed or was lost, and with the reason
   * of `signal`.
   */
  subscribe(wanted: ListenFilter, sink: Sink, signal: AbortSignal): Promise<void>;
}
