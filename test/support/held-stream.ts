// A stream that the test holds in its hands: it says itself whether its reader is behind, and when that has caught up.
import type { Stream } from "halyard/transport";
import type { Received } from "halyard/testing";

export class HeldStream implements Stream {
  /** Every message, in order. */
  readonly written: Received[] = [];
  /** Why it was destroyed, if it was. */
  destroyed: string | undefined;
  congested = false;
  readonly #drains = new Set<() => void>();

  write(text: string): boolean {
    this.written.push(JSON.parse(text) as Received);
    return !this.congested;
  }

  onDrain(callback: () => void): () => void {
    // Registrations of other code count, too.
    const own = (): void => callback();
    this.#drains.add(own);
    return () => void this.#drains.delete(own);
  }

  onLost(): () => void {
    return () => {};
  }

  destroy(reason: string): void {
    this.destroyed = reason;
  }

  /** How many want to hear that the reader has caught up. */
  get waiting(): number {
    return this.#drains.size;
  }

  /** The reader has caught up. */
  drain(): void {
    this.congested = false;
    for (const callback of this.#drains) callback();
  }
}
